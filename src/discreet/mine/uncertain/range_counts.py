"""Expected range counts: how many uncertain records lie in a box, by their distributions (Aggarwal 2008)."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import InstanceOf, require
from discreet.core.records.uncertain_points import UncertainPoints

_PART = 64


@public
def expected_range_counts(records: UncertainPoints, low: Any, high: Any) -> FloatArray:
    """Return the expected number of records in each box: Σ over records of Π over columns of the probability inside.

    The distributions are centered at noisy values, so that a box is blurred twice, by the noise and by the spread:
    counts in boxes narrower than the spreads come out too even.

    Parameters
    ----------
    records
        The published distributions.
    low, high
        The ends of each box: a row for each box, or one box; infinite where a column is not restricted.

    Examples
    --------
    >>> import numpy as np
    >>> ages = UncertainPoints(("age",), np.array([[40.0], [44.0], [60.0]]), np.full((3, 1), 2.0))
    >>> expected_range_counts(ages, [[30], [44]], [[50], [np.inf]]).round(2).tolist()
    [2.0, 1.52]
    """
    require("expected_range_counts", "records", records, InstanceOf((UncertainPoints,), "UncertainPoints"))
    try:
        ends = [np.atleast_2d(np.asarray(end, np.float64)) for end in (low, high)]
    except (TypeError, ValueError):
        raise InputError("The ends of boxes must be numbers, one for each column.") from None
    width = len(records.names)
    if ends[0].shape != ends[1].shape or ends[0].ndim != 2 or ends[0].shape[1] != width:
        raise InputError(f"Boxes need a low and a high end for each of the {width} columns.")
    if not (ends[0] <= ends[1]).all():
        raise InputError("The low end of a box must not be above its high end.")
    # A few boxes at a time: the chances are a matrix of boxes and records.
    parts = np.array_split(np.arange(len(ends[0])), -(-len(ends[0]) // _PART))
    return np.concatenate([records.chances(ends[0][part], ends[1][part]).sum(axis=1) for part in parts])
