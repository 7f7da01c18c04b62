"""Which mutants there are: cosmic-ray's operators over the code that decides, without those that can change nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from reports.suite import ROOT

# Equality for identity, and back, is the same for what Python keeps once: small numbers, literals, enumerations. The
# replacer of exceptions of cosmic-ray 8.7 breaks on dotted names.
LEFT_OUT = re.compile(r"core/(ReplaceComparisonOperator_(Eq_Is|NotEq_IsNot|Is_Eq|IsNot_NotEq)|ExceptionReplacer)$")
VERDICT = (
    "conditions", "document", "files", "items", "ledger", "outcomes", "verdict", "verifying", "waivers",
)  # fmt: skip
PATHS = (
    *sorted((ROOT / "recipe").glob("*.py")),
    *sorted((ROOT / "qualification").glob("test_*.py")),
    *(ROOT / "reports" / f"{name}.py" for name in VERDICT),
)


class Mutant(msgspec.Struct, frozen=True):
    """One change: the ``occurrence``-th place of a file where an operator applies. Lines count from 1."""

    path: str
    line: int
    operator: str
    occurrence: int
    was: str
    becomes: str

    @property
    def name(self) -> str:
        """File, changed line and what it becomes; the same as long as that line is."""
        return f"{self.path}: {self.was} → {self.becomes}"


def mutants(path: Path) -> Iterator[tuple[Mutant, str]]:
    """Yield each mutant of a file with the whole text of the mutated file; of equal texts one."""
    text, tree = path.read_text(encoding="utf-8"), get_ast_from_path(path)
    unread, seen = _annotated(text), {text}
    for name in operator_names():
        kind = get_operator(name)
        if kind.arguments() or LEFT_OUT.match(name):
            continue
        operator = kind()
        places = [start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node)]
        for occurrence, (line, column) in enumerate(places):
            if any(begin <= (line, column) < end for begin, end in unread):
                continue
            mutated = mutate_code(text, operator, occurrence)
            if mutated is None or mutated in seen:
                continue
            seen.add(mutated)
            was, becomes = _difference(text, mutated)
            if was.replace("*, ", "/, ", 1) == becomes:
                continue  # the mark between positions and names is no product
            yield Mutant(str(path.relative_to(ROOT)), line, name.partition("/")[2], occurrence, was, becomes), mutated


def _annotated(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where the annotations of functions and their variables stand, which nothing evaluates."""
    found: list[ast.expr] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            found += [entry.annotation for entry in arguments if entry.annotation]
            found += [node.returns] if node.returns else []
            found += [inner.annotation for inner in ast.walk(node) if isinstance(inner, ast.AnnAssign)]
    return [((n.lineno, n.col_offset), (n.end_lineno or 0, n.end_col_offset or 0)) for n in found]


def _difference(text: str, mutated: str) -> tuple[str, str]:
    """Return the first line that differs, as it was and as it becomes."""
    before, after = text.splitlines(), mutated.splitlines()
    at = next((n for n, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), len(after))
    lost = len(before) - len(after)
    return before[at].strip(), "" if lost else after[at].strip()
