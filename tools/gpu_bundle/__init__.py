"""Real vLLM for a GPU machine without a network: one archive, and the script that runs a qualification there."""
