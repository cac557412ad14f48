"""Hierarchy files that people edit: made from a column, and checked against one."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.engine import engine_of
from discreet.core.errors import HierarchyError, InputError, OutputError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.hierarchy.ranges import Intervals
from discreet.core.hierarchy.trees import Masked, Rows, flat, read_hierarchy
from discreet.core.schema import Role
from discreet.core.tables.labels import SetOf, parse_label, texts
from discreet.engines.atomic import atomic_file
from discreet.job.nearby import HIERARCHIES
from discreet.job.proposals import generalized
from discreet.job.roles import Proposal, role_of

FEW = 10
"""A value that fewer rows have is rare."""
_LONGEST_LINE = 200
"""How many characters of labels on a level stand in a job file; more stand in a file of their own."""
_UNSAFE = re.compile(r"[^\w.-]+")
_WIDEST_FILLED = 1_000
_MOST_LEAVES = 200_000


@dataclass(frozen=True)
class HierarchyCheck:
    """What a hierarchy file holds, and how it fits a column: counts only, no value.

    ``nodes`` gives the number of nodes on each level, the values first. ``n_values``, ``n_uncovered`` and
    ``n_rows_uncovered`` are about the column's values, ``n_unused`` about leaves that it does not show;
    ``n_naming_rare`` counts labels of several values that name one which few rows have. They are None without data.
    """

    nodes: tuple[int, ...]
    n_values: int | None = None
    n_uncovered: int | None = None
    n_rows_uncovered: int | None = None
    n_unused: int | None = None
    n_naming_rare: int | None = None

    @property
    def ok(self) -> bool:
        """Whether every value of the column, if there is one, is covered."""
        return not self.n_uncovered


def suggest_hierarchy(relation: Any, column: str, spec: HierarchySpec | None = None) -> tuple[Hierarchy, str]:
    """Bind a hierarchy to the values of a column, the proposed one unless another is given; gives the reason too."""
    _require_column(relation, column)
    engine = engine_of(relation)
    facts = engine.facts(engine.select(relation, [column]))[0]
    if not facts.n_distinct:
        raise InputError(f"Column '{column}' has no values.")
    if facts.n_distinct > _MOST_LEAVES:
        raise InputError(
            f"Column '{column}' has {facts.n_distinct:,} different values, too many for a file; "
            "name a rule instead, such as intervals or a mask."
        )
    values, counts = engine.value_counts(relation, column)
    reason = "as asked for"
    if spec is None:
        proposal = generalized(
            replace(role_of(facts), role=Role.QUASI, reason="", cautious=False), values, counts
        )
        spec, reason = (
            proposal.hierarchy or flat(),
            proposal.reason.removeprefix("; ") or "by the values' kind",
        )
    fixed = spec.fixed(values) if isinstance(spec, Masked) else spec
    return fixed.bind(_filled(values, fixed), column=column), reason


def with_files(proposals: Sequence[Proposal], folder: Path) -> list[Proposal]:
    """Write long hierarchies into files of their own, to be edited, and return the proposals that name them."""
    written = []
    for proposal in proposals:
        spec = proposal.hierarchy
        if not isinstance(spec, Rows) or max(len("".join(level)) for level in spec.columns) <= _LONGEST_LINE:
            written.append(proposal)
            continue
        path = folder / HIERARCHIES / f"{_UNSAFE.sub('_', proposal.name)}.csv"
        if path.exists():
            raise OutputError(
                f"{path} is there already, and a hierarchy is never overwritten; move it first."
            )
        path.parent.mkdir(exist_ok=True)
        with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, delimiter=";", lineterminator="\n").writerows(zip(*spec.columns, strict=True))
        written.append(replace(proposal, file=path, hierarchy=None, written=True))
    return written


def write_hierarchy(hierarchy: Hierarchy, path: Path) -> None:
    """Write a hierarchy in ARX's layout: a line for each value, with its label on every level."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=";", lineterminator="\n")
        for code in range(1, hierarchy.n_leaves + 1):
            pairs = zip(hierarchy.levels, hierarchy.labels, strict=True)
            writer.writerow([labels[int(level[code])] for level, labels in pairs])


def check_hierarchy(path: Path, relation: Any = None, column: str | None = None) -> HierarchyCheck:
    """Check that a file is a tree, and how it fits a column; what is no tree is an error that names no value."""
    spec = read_hierarchy(path)
    leaves = pa.array(spec.columns[0], pa.string())
    try:
        tree = spec.bind(leaves.unique(), column="")
    except HierarchyError as error:
        raise HierarchyError(f"{path}: {str(error).removeprefix('The column: ')}") from None
    nodes = tuple(len(set(level)) for level in spec.columns)
    if relation is None or column is None:
        return HierarchyCheck(nodes)
    _require_column(relation, column)
    values, counts = engine_of(relation).value_counts(relation, column)
    column_texts = texts(values).to_pylist()
    leaf_texts = set(spec.columns[0])
    covered = np.array([value in leaf_texts for value in column_texts], np.bool_)
    return HierarchyCheck(
        nodes,
        n_values=len(column_texts),
        n_uncovered=int((~covered).sum()),
        n_rows_uncovered=int(counts[~covered].sum()),
        n_unused=tree.n_leaves - int(covered.sum()),
        n_naming_rare=_naming_rare(spec, dict(zip(column_texts, counts.tolist(), strict=True))),
    )


def _naming_rare(spec: Rows, counts: dict[str, int]) -> int:
    """Count labels of several values that name a value which few rows have."""
    rare = {value for value, count in counts.items() if count < FEW}
    labels = set()
    for level in spec.columns[1:]:
        below: dict[str, int] = {}
        for label in level:
            below[label] = below.get(label, 0) + 1
        for label, n_leaves in below.items():
            read = parse_label(label)
            named = set(read.items) if isinstance(read, SetOf) else {label}
            if n_leaves > 1 and named & rare:
                labels.add(label)
    return len(labels)


def _filled(values: pa.Array, spec: HierarchySpec) -> pa.Array:
    """Return the values, with the whole numbers between them where intervals are to cover next month's too."""
    if not isinstance(spec, Intervals) or not pa.types.is_integer(values.type):
        return values
    low, high = values[0].as_py(), values[-1].as_py()
    return pa.array(range(low, high + 1), values.type) if high - low <= _WIDEST_FILLED else values


def _require_column(relation: Any, column: str) -> None:
    names = list(engine_of(relation).value_types(relation))
    if column not in names:
        from discreet.kinds.wording import nearest_name

        raise InputError(f"There is no column '{column}'{nearest_name(column, names)}")
