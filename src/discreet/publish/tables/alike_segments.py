"""Segments that read alike: groups with the same labels are one class, which must keep the guarantee as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.tables.source import Replacement
from discreet.kernels.tables.grouping import distinct, pack
from discreet.publish.tables.boxes import Segments

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
