"""Mutation tests: the code that decides, changed in one place at a time; some test must notice."""
