"""The one exception that a broken recipe raises."""

from __future__ import annotations


class RecipeError(Exception):
    """A recipe file is missing, malformed or contradicts itself.

    The text is one line that names the file, the key in it, what is wrong and what to do.
    """

    def __init__(self, source: str, key: str, problem: str, remedy: str = "correct the file") -> None:
        self.source = source
        self.key = key
        self.problem = problem
        self.remedy = remedy
        where = f"{source}: {key}" if key else source
        # What is quoted may hold line ends of its own.
        super().__init__(" ".join(f"{where}: {problem}; {remedy}".splitlines()))
