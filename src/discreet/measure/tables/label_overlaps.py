"""Which labels of several releases overlap: what they cover, written as values that stand for all there can be."""

from __future__ import annotations

import re
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
from discreet.measure.spelling import spelling

_ABSENT = "\x00"
"""A character that no code has: it stands for what a mask hides, and for values that no label names."""
_MASK_PAIRS = 1 << 20
"""How many pairs of a mask of the beginning and one of the end are compared at most."""
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)
_DIGITS = re.compile(r"\d[\d*]*")
_TIME_OF_DAY = re.compile(r"(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d[^\s,)\]]*")


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
    covers, alike = _described(written, tree, books[0].name), written_alike(written)
    if all(map(pa.Array.equals, written, alike)):
        return covers
    # Labels overlap as they are written, or as they would be if all releases wrote values in one way.
    return [np.hstack(pair) for pair in zip(covers, _described(alike, None, ""), strict=True)]


def written_alike(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Return the labels of several releases as they would be if all wrote the same value in the same way.

    Types come from the values of each file: 30 in one is 30.0 in another, and 02130 is 2130. Letters differ in case.

    >>> first, second = written_alike([pa.array(["30", "NY", "02130"]), pa.array(["30.0", "ny ", "2130"])])
    >>> first.equals(second)
    True
    """
    labels = [label for label in pa.chunked_array(columns).unique().to_pylist() if label is not None]
    codes = [label for label in labels if _DIGITS.fullmatch(label)]
    width = max(map(len, codes)) if any(label[0] == "0" and len(label) > 1 for label in codes) else 0
    timed = [label for label in labels if _TIME_OF_DAY.search(label)]
    to_days = len(timed) < sum(re.search(r"\d{4}-\d\d-\d\d", label) is not None for label in labels)
    one_way = {label: _one_way(label, width, to_days=to_days) for label in labels}
    return [pa.array([one_way.get(label) for label in each.to_pylist()], pa.string()) for each in columns]


def _one_way(label: str, width: int, *, to_days: bool) -> str:
    if _NUMBER.fullmatch(label):
        number = float(label)
        text = str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
        return text.zfill(width) if text.isdigit() else text
    if width and _DIGITS.fullmatch(label):
        return label.zfill(width)
    days = _TIME_OF_DAY.sub(r"\1", label) if to_days else label
    if days != label:  # A part of a day is at most the whole day.
        return re.sub(r"^([<>])(?!=)", r"\1=", days).replace("(", "[").replace(")", "]")
    return label if isinstance(parse_label(label), Interval) else spelling(label)


def _described(written: list[pa.Array], tree: HierarchySpec | Hierarchy | None, name: str) -> list[BoolArray]:
    labels = pa.chunked_array(written).unique().to_pylist()
    leaves, bound = _standing_for(labels), None
    if tree is not None:
        own = getattr(tree, "columns", None) or [getattr(tree, "leaves", None)]
        leaves = pa.array(own[0], pa.string()) if not isinstance(own[0], pa.Array) else texts(own[0])
        bound = tree.bind(leaves, column=name)
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
    named: set[str] = {_ABSENT, *_between_masks([each for each in meanings if isinstance(each, MaskLabel)])}
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


def _between_masks(masks: list[MaskLabel]) -> set[str]:
    """Return a code for every mask of the beginning and one of the end that a code may have both of."""
    starts = {(each.visible, len(each.raw)) for each in masks if each.from_ == "right"}
    ends = {(each.visible, len(each.raw)) for each in masks if each.from_ == "left"}
    if len(starts) * len(ends) > _MASK_PAIRS:
        raise InputError("The releases overlap in too many ways to be compared; check fewer at a time.")
    codes = set()
    for start, longest in starts:
        for end, longest_of_end in ends:
            for n in range(min(longest, longest_of_end), max(len(start), len(end)) - 1, -1):
                code = start.ljust(n - len(end), _ABSENT)[: n - len(end)] + end
                if code.startswith(start):
                    codes.add(code)
                    break
    return codes


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
