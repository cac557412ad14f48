"""Global recoding by definition: every cut of small trees, tried one by one.

A tree is a list of labels above each value, the root last. A cut is a level for each value (0: the value itself), such
that all values under a node stand at its level. Null hangs under the root alone.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Tree = Mapping[Any, Sequence[str]]
Cut = dict[Any, int]
Keeps = Callable[[list[Any], list[Any]], bool]
"""Whether a class with some sensitive values keeps a guarantee, beside those of all rows that are published."""


def height(tree: Tree) -> int:
    return len(next(iter(tree.values())))


def cuts(tree: Tree) -> Iterator[Cut]:
    """Every cut of a tree."""
    for cut in _below(tree, list(tree), height(tree)):
        at_root = set(cut.values()) == {height(tree)}
        yield cut | {None: height(tree) if at_root else 0}


def _below(tree: Tree, values: list[Any], level: int) -> Iterator[Cut]:
    yield dict.fromkeys(values, level)
    if level:
        parts = [list(_below(tree, part, level - 1)) for part in _children(tree, values, level)]
        for chosen in itertools.product(*parts):
            yield {value: at for part in chosen for value, at in part.items()}


def _children(tree: Tree, values: Sequence[Any], level: int) -> list[list[Any]]:
    parts: dict[Any, list[Any]] = defaultdict(list)
    for value in values:
        parts[value if level == 1 else tree[value][level - 2]].append(value)
    return list(parts.values())


def full_domain(trees: Sequence[Tree]) -> Iterator[list[Cut]]:
    """Every way to take whole columns to one level each."""
    for levels in itertools.product(*(range(height(tree) + 1) for tree in trees)):
        yield [
            dict.fromkeys(tree, level) | {None: level if level == height(tree) else 0}
            for tree, level in zip(trees, levels, strict=True)
        ]


def opened(tree: Tree, cut: Cut) -> Iterator[Cut]:
    """Every cut that replaces one node by its children."""
    for nodes in {tuple(sorted(_under(tree, cut, value))) for value in tree}:
        level = cut[nodes[0]]
        if level:
            yield cut | dict.fromkeys(nodes, level - 1) | {None: 0}


def _under(tree: Tree, cut: Cut, value: Any) -> list[Any]:
    level = cut[value]
    if level == 0:
        return [value]
    return [other for other in tree if tree[other][level - 1] == tree[value][level - 1]]


def cell(tree: Tree, cut: Cut, value: Any) -> str | None:
    if cut[value] == 0:
        return None if value is None else str(value)
    return tree[next(iter(tree)) if value is None else value][cut[value] - 1]


def published(
    rows: Sequence[tuple[Any, ...]], trees: Sequence[Tree], chosen: Sequence[Cut], keeps: Keeps
) -> list[bool]:
    """Which rows are published: the last entry of a row is sensitive, and failing classes go until none fails."""
    shown = [tuple(cell(*column) for column in zip(trees, chosen, row[:-1], strict=True)) for row in rows]
    stays = [True] * len(rows)
    while True:
        classes: dict[Any, list[int]] = defaultdict(list)
        for at, written in enumerate(shown):
            if stays[at]:
                classes[written].append(at)
        everyone = [row[-1] for row, stay in zip(rows, stays, strict=True) if stay]
        failing = [at for members in classes.values() for at in members
                   if not keeps([rows[one][-1] for one in members], everyone)]  # fmt: skip
        if not failing:
            return stays
        for at in failing:
            stays[at] = False


def loss(
    rows: Sequence[tuple[Any, ...]], trees: Sequence[Tree], chosen: Sequence[Cut], stays: Sequence[bool]
) -> float:
    """The mean over rows and columns of (leaves - 1)/(all leaves - 1); a row left out counts 1."""
    total = 0.0
    for row, stay in zip(rows, stays, strict=True):
        for tree, cut, value in zip(trees, chosen, row[:-1], strict=True):
            under = (
                len(tree)
                if cut[value] == height(tree)
                else len(_under(tree, cut, value))
                if value is not None
                else 1
            )
            total += (under - 1) / max(len(tree) - 1, 1) if stay else 1
    return total / (len(rows) * len(trees))


def best_loss(
    rows: Sequence[tuple[Any, ...]], trees: Sequence[Tree], keeps: Keeps, limit: int, every: Iterator[Any]
) -> float | None:
    """The least loss of some choices of cuts with at most so many rows left out, None where none will do."""
    losses = []
    for chosen in every:
        stays = published(rows, trees, chosen, keeps)
        if stays.count(False) <= limit and any(stays):
            losses.append(loss(rows, trees, chosen, stays))
    return min(losses, default=None)
