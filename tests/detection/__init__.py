"""The suite qualifies itself: every fault through a whole rehearsal, legal worlds, and signals at random moments."""
