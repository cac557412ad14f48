"""Which labels of several releases overlap: what they cover, written as values that stand for all there can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray
from discreet.core.errors import InputError, SchemaError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.tables.encoding import Codebook, ColumnType
from discreet.core.tables.label_coverage import described_values
from discreet.core.tables.labels import Interval, MaskLabel, SetOf, parse_label, texts
from discreet.core.tables.table import Table

_ABSENT = "\x00"
"""A character that no code has: it stands for what a mask hides, and for values that no label names."""


@dataclass(frozen=True, repr=False)
class LabelOverlaps:
    """What the labels of each common quasi-identifier cover: for each release a matrix of labels by values.

    The values stand for all there can be: the ends of intervals and what lies between them, the named values, and for a
    mask a code that shows no more than it does. Two labels overlap exactly if one of these values is covered by both.
    """

    names: tuple[str, ...]
    covers: tuple[tuple[BoolArray, ...], ...]

    @classmethod
    def of(
        cls, releases: Sequence[Table], names: tuple[str, ...], trees: Mapping[str, HierarchySpec | Hierarchy]
    ) -> LabelOverlaps:
        """Return what the labels of common quasi-identifiers cover, with the hierarchies of named groups."""
        covers = [_covers([release.encoded[name] for release in releases], trees.get(name)) for name in names]
        return cls(names, tuple(zip(*covers, strict=True)))


def _covers(books: list[Codebook], tree: HierarchySpec | Hierarchy | None) -> list[BoolArray]:
    written = [texts(book.values) for book in books]
    labels = pa.chunked_array(written).unique().to_pylist()
    leaves, bound = _standing_for(labels), None
    if tree is not None:
        own = getattr(tree, "columns", None) or [getattr(tree, "leaves", None)]
        leaves = pa.array(own[0], pa.string()) if not isinstance(own[0], pa.Array) else texts(own[0])
        bound = tree.bind(leaves, column=books[0].name)
        leaves = texts(bound.leaves)
    domain = Codebook("", ColumnType.CATEGORY, leaves.type, leaves, bound)
    return [
        described_values(Codebook("", ColumnType.CATEGORY, pa.string(), each), domain) for each in written
    ]


def _standing_for(labels: list[str]) -> pa.Array:
    """Return values of which two labels share one exactly if they overlap; none of a label's own wording is needed."""
    meanings = [parse_label(label) for label in labels]
    bounds = {end for each in meanings if isinstance(each, Interval) for end in (each.low, each.high) if end}
    if bounds:
        exact = {each.raw for each in meanings if not isinstance(each, Interval) and set(each.raw) != {"*"}}
        return _along([*bounds, *exact])
    named: set[str] = {_ABSENT}
    for each in meanings:
        match each:
            case SetOf():
                named.update(each.items)
            case MaskLabel():
                hidden = _ABSENT * (len(each.raw) - len(each.visible))
                named.add(each.visible + hidden if each.from_ == "right" else hidden + each.visible)
            case _:
                named.add(each.raw)
    return pa.array(sorted(named - {"*"}), pa.string())


def _along(ends: list[str]) -> pa.Array:
    """Return numbers, or moments, at the ends, between them, and beyond both sides."""
    try:
        points = np.unique(np.array(ends, np.float64))
        finite = points[np.isfinite(points)]
        outside = [finite[0] - 1, finite[-1] + 1]
        return pa.array(np.unique(np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, outside])))
    except ValueError:
        pass
    try:
        moments = np.unique(np.array(ends, "datetime64[us]")).astype(np.int64)
    except ValueError:
        raise InputError(
            "A column has intervals and other labels, which cannot be compared between releases."
        ) from None
    middle = moments[:-1] + np.diff(moments) // 2
    every = np.unique(np.concatenate([moments, middle, [moments[0] - 1, moments[-1] + 1]]))
    return pa.array(every.astype("datetime64[us]"))


def named_groups(spec: object) -> bool:
    """Return whether a hierarchy, as a recipe writes it down, has labels that do not say themselves what they cover."""
    if spec is None or not isinstance(spec, Mapping):
        return spec is True
    return spec.get("kind") not in ("intervals", "cuts", "masked", "flat")


def common_tree(name: str, specs: Sequence[Any]) -> Any:
    """Return the one hierarchy by which releases name groups of a column; None where labels speak for themselves.

    Refuses hierarchies that differ, that are not at hand, or that do not list what their groups cover.
    """
    if not any(map(named_groups, specs)):
        return None
    if any(spec is True for spec in specs):
        raise InputError(
            f"What the groups of '{name}' cover is in the private folders of the releases, and one is not here: bring "
            "it back beside its release."
        )
    if any(spec != specs[0] for spec in specs[1:]):
        raise SchemaError(
            f"The releases generalize '{name}' by different hierarchies, so nobody can say which of their groups "
            "overlap: release both by one hierarchy."
        )
    if specs[0].get("kind") != "rows" and "leaves" not in specs[0]:
        raise SchemaError(
            f"The groups of '{name}' are named by a code system, which releases are not compared by; list it as a file "
            "of a hierarchy."
        )
    return specs[0]
