"""Tools beside the suite: the tiny model, and real vLLM servers that it runs on."""
