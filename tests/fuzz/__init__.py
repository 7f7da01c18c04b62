"""Readers of what others wrote, against made-up input: a named error or a right answer, never a traceback, hang or pass.

``FUZZ_CASES`` says how many inputs each test is given (default 200); ``tox -e fuzz`` asks for 20,000.
"""
