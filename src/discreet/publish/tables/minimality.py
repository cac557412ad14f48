"""Minimality: whether sensitive values decided how rows were grouped, which the groups then reveal (Wong et al. 2007).

A publisher that makes groups as fine as a guarantee about sensitive values allows reveals something by each group that
it did not make finer. Where it would have made the same groups by their sizes alone, every assignment of sensitive
values to people that agrees with the groups has the same release, so that a person has a value with the probability
that the group shows, and no other.

R. Wong, A. Fu, K. Wang, J. Pei: Minimality attack in privacy preserving data publishing. VLDB 2007.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.errors import InfeasibleError
from discreet.core.guarantee import AllOf
from discreet.core.tables.source import Replacement
from discreet.guarantees import Guarantee, KAnonymity
from discreet.kernels.tables.grouping import distinct, pack
from discreet.publish.tables.boxes import Segments

MINIMALITY = "minimality"
"""The detail of the evidence that says whether sensitive values decided."""

Chooser = TypeVar("Chooser")
Choice = TypeVar("Choice")


def blind(guarantee: Guarantee, sensitive: Sequence[str]) -> Guarantee:
    """Return what a guarantee demands of classes whatever their sensitive values are.

    >>> from discreet.guarantees import AlphaKAnonymity, KAnonymity
    >>> blind(KAnonymity(2) & AlphaKAnonymity(0.5, 3), ["disease"])
    KAnonymity(k=2) & KAnonymity(k=3)
    """
    parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
    unseeing = [part for part in parts if not part.judged_values(sensitive)]
    return AllOf((*unseeing, KAnonymity(max(guarantee.smallest, 1))))


def decided_by_values(
    chooser: Chooser, sensitive: Sequence[str], choice: Choice, choose: Callable[[Chooser], Choice]
) -> bool:
    """Return whether a chooser with a guarantee would choose otherwise if it did not look at sensitive values."""
    guarantee: Guarantee = chooser.guarantee  # type: ignore[attr-defined]
    if not guarantee.judged_values(sensitive):
        return False
    twin = copy.copy(chooser)
    twin.guarantee = blind(guarantee, sensitive)  # type: ignore[attr-defined]
    try:
        return choose(twin) != choice
    except InfeasibleError:
        return True


Judge = Callable[[Segments], BoolArray]
"""Returns which segments keep the guarantee."""
Labels = Callable[[Segments], Sequence[Replacement]]
"""Returns what segments show in each column."""


def rejoined(
    segments: Segments, cuts: Sequence[tuple[int, int]], labels_of: Labels, judge: Judge
) -> Segments:
    """Take back the last cuts of segments that break the guarantee together with those that read alike.

    A guarantee may hold for two groups and not for their union. ``cuts`` are the ranges that were cut; the whole table
    is one of them, so that there is an end.
    """
    # By size, so that the first that is larger than a segment around it is the one it was cut from.
    ranges = np.array(sorted(cuts, key=lambda cut: cut[1] - cut[0]), np.int64).reshape(-1, 2)
    while segments.low.size > 1:
        class_of = alike_classes(labels_of(segments))
        failing = ~judge(_as_classes(segments, class_of))[class_of]
        if not failing.any():
            break
        segments = _without_last_cuts(segments, np.flatnonzero(failing), ranges)
    return segments


def alike_classes(labels: Sequence[Replacement]) -> IntArray:
    """Return the class of each segment: those with the same labels in all columns are one."""
    columns = []
    for column in labels:
        # Null is a label like any other.
        encoded = column.labels.dictionary_encode(null_encoding="encode")
        columns.append(np.asarray(encoded.indices, np.int64)[column.index])
    _, class_of, _ = distinct(pack(columns, [int(column.max()) + 1 for column in columns]))
    return class_of.astype(np.int64)


def _as_classes(segments: Segments, class_of: IntArray) -> Segments:
    """Return the classes as segments: the rows are put in the order of their classes."""
    of_rows = np.repeat(class_of, segments.high - segments.low)
    order = np.argsort(of_rows, kind="stable")
    low = np.flatnonzero(np.diff(of_rows[order], prepend=-1)).astype(np.int32)
    high = np.append(low[1:], np.int32(of_rows.size))
    return Segments(segments.codes[order], segments.weights[order], low, high)


def _without_last_cuts(segments: Segments, failing: IntArray, ranges: IntArray) -> Segments:
    """Join the segments of each range that the failing ones were last cut from."""
    keep = np.ones(segments.low.size, np.bool_)
    for at in failing.tolist():
        low, high = int(segments.low[at]), int(segments.high[at])
        around = (ranges[:, 0] <= low) & (ranges[:, 1] >= high) & (ranges[:, 1] - ranges[:, 0] > high - low)
        first, last = ranges[int(np.flatnonzero(around)[0])].tolist()
        keep[(segments.low > first) & (segments.low < last)] = False
    low_: CodeArray = segments.low[keep]
    return Segments(segments.codes, segments.weights, low_, np.append(low_[1:], segments.high[-1]))
