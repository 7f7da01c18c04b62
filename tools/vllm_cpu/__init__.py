"""Real vLLM 0.11.2 on a CPU: an installer, and what that release needs to serve this architecture without a GPU."""
