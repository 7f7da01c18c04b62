"""The judgements: one file for each stage, one test for each requirement, no I/O. Run with ``pytest -m qualify``."""
