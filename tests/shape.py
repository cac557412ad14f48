"""The shape of the code, counted: ``make shape`` prints it, and tests/test_shape.py holds it.

Lines and files are a cost, so they are counted; names are read more often than written, so words that say nothing of
the domain are counted too, and names with two meanings are listed.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import discreet
from tests.walks import walks

SOURCE = Path(discreet.__file__).parent
"""The package, as it is installed: in a clone or from a wheel."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DIALECT = _words(
    """one found held given kept place plain known made shown whole own told asked said taken seen wanted ours theirs"""
)
"""Words that name nothing of the domain."""

VERBS = _words(
    """release perturb reconstruct mine hide ask run measure holds check fit predict transform frames leaks
    read write read_back judge figures cautions blocks batches columns names show to_dict from_dict"""
)
"""Verbs of protocols, of engines and of kinds, which many modules share: the same name means the same everywhere."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Shape:
    """What is counted."""

    files: int
    lines: int
    comments: int
    bindings: int
    dialect: Counter[str]
    classes: dict[str, list[str]]
    functions: dict[str, list[str]]
    duckdb: list[str]

    @property
    def dialect_share(self) -> float:
        """The share of bindings that are words of the dialect."""
        return self.dialect.total() / self.bindings

    @property
    def comment_share(self) -> float:
        """The share of lines that are comments."""
        return self.comments / self.lines

    def __str__(self) -> str:
        words = ", ".join(f"{word} {count}" for word, count in self.dialect.most_common(6))
        rows = [
            ("files", f"{self.files:,}"),
            ("lines", f"{self.lines:,}"),
            ("comments", f"{self.comments:,} lines, {self.comment_share:.1%}"),
            ("bindings", f"{self.bindings:,}, of them {self.dialect_share:.2%} say nothing ({words})"),
            ("classes of one name", _listing(self.classes)),
            ("functions of one name", _listing(self.functions)),
            (
                "modules that import DuckDB",
                f"{len(self.duckdb)} outside engines/duckdb: {', '.join(self.duckdb)}",
            ),
        ]
        return "\n".join(f"{name:28}{value}" for name, value in rows)


def shape(source: Path = SOURCE) -> Shape:
    """Count the modules below a folder."""
    paths = sorted(path for path in source.rglob("*.py*") if path.suffix in (".py", ".pyi"))
    texts = {path.relative_to(source).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    trees = {name: ast.parse(text) for name, text in texts.items() if name.endswith(".py")}
    bound = Counter(word for tree in trees.values() for word in _bindings(tree))
    classes, functions = _public(trees)
    return Shape(
        files=len(texts),
        lines=sum(text.count("\n") for text in texts.values()),
        comments=sum(line.lstrip().startswith("#") for text in texts.values() for line in text.splitlines()),
        bindings=bound.total(),
        dialect=Counter({word: count for word, count in bound.items() if word in DIALECT}),
        classes={name: homes for name, homes in classes.items() if len(homes) > 1},
        functions={name: homes for name, homes in functions.items() if len(homes) > 1 and name not in VERBS},
        duckdb=[
            name for name, tree in trees.items() if "duckdb" in set(_imported(tree)) and not _is_engine(name)
        ],
    )


def _bindings(tree: ast.AST) -> Iterator[str]:
    """Iterate over the names that are bound: variables, loop variables and parameters; one for each place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def _public(trees: dict[str, ast.Module]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the modules of every public class and of every public function."""
    classes, functions = defaultdict(list), defaultdict(list)
    for name, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(name)
            elif isinstance(node, _SCOPES) and not node.name.startswith("_") and not _is_command(node):
                functions[node.name].append(name)
    return classes, functions


def _is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is a command, which is called as what it runs."""
    return any("command(" in ast.unparse(decorator) for decorator in node.decorator_list)


def _imported(tree: ast.AST) -> Iterator[str]:
    """Iterate over the top-level packages that are imported, late imports too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def _is_engine(name: str) -> bool:
    return name.startswith("engines/duckdb/")


def _listing(names: dict[str, list[str]]) -> str:
    words = ", ".join(
        f"{name} {len(homes)}" for name, homes in sorted(names.items(), key=lambda entry: -len(entry[1]))
    )
    return f"{len(names)}: {words}" if names else "none"


if __name__ == "__main__":
    sys.stdout.write(f"{shape()}\n")
    for data, walk in walks().items():
        sys.stdout.write(f"{'walk of ' + data:28}{walk}\n")
