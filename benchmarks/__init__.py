"""Speed as ratios to other tools, in one run: ``python -m benchmarks.verify`` and ``python -m benchmarks.fetch``."""
