"""Histograms: batches add up to one pass, coarser bins hold the same values, and damaged ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.collect import Histogram
from discreet.core.errors import DiscreetError


@given(
    st.lists(st.lists(st.floats(-50, 50), min_size=1, max_size=30), min_size=1, max_size=6),
    st.floats(0.01, 7),
)
def test_merging_histograms_equals_one_pass(batches, width: float) -> None:
    merged = Histogram.of(batches[0], width=width)
    for batch in batches[1:]:
        merged = merged + Histogram.of(batch, width=width)
    whole = Histogram.of([value for batch in batches for value in batch], width=width)
    streamed = Histogram.of((np.array(batch) for batch in batches), width=width)
    listed = Histogram.of([np.array(batch) for batch in batches], width=width)
    for other in (whole, streamed, listed, Histogram.from_dict(whole.to_dict())):
        assert merged.first == other.first
        assert np.array_equal(merged.counts, other.counts)


@given(st.integers(1, 9), st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(-50, 50))
def test_coarser_bins_hold_the_same_values(factor: int, counts, first: int) -> None:
    fine = Histogram(0.5, first, np.array(counts))
    coarse = fine.coarser(factor)
    assert coarse.n == fine.n
    at = first + np.arange(len(counts))
    for place, count in enumerate(coarse.counts):
        assert count == np.array(counts)[at // factor == coarse.first + place].sum()


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"width": 1.0, "first": 0},
        {"width": 0.0, "first": 0, "counts": [1]},
        {"width": 1.0, "first": "0", "counts": [1]},
        {"width": 1.0, "first": 0.5, "counts": [1]},
        {"width": 1.0, "first": 10**30, "counts": [1]},
        {"width": 1.0, "first": 0, "counts": [1.5]},
        {"width": 1.0, "first": 0, "counts": [-1]},
        {"width": 1.0, "first": 0, "counts": []},
        {"width": 1.0, "first": 0, "counts": [[1], [2]]},
        {"width": 1.0, "first": 0, "counts": [[1], [2, 3]]},
        {"width": 1.0, "first": 0, "counts": [2**62, 2**62]},
        {"width": 1.0, "first": 0, "counts": [2**63 + 1]},
        {"width": 1.0, "first": 0, "counts": "many"},
    ],
)
def test_damaged_histograms_are_refused(plain) -> None:
    with pytest.raises(DiscreetError):
        Histogram.from_dict(plain)
