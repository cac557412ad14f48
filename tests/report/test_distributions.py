from __future__ import annotations

import datetime as dt
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.releases import released

from discreet import Table, intervals, masked, quasi, sensitive
from discreet.guarantees import KAnonymity
from discreet.kinds.bins import cut, ends_of, line_of
from discreet.kinds.distributions import (
    HIDDEN,
    MISSING,
    OTHER,
    compared_bars,
    released_shares,
    sensitive_bars,
)
from discreet.publish import Generalization

_DAYS = st.dates(dt.date(1900, 1, 1), dt.date(2030, 1, 1))
_NUMBERS = st.integers(-1000, 1000) | st.integers(-10, 10)


@given(
    st.lists(_NUMBERS, min_size=1, max_size=150) | st.lists(_DAYS, min_size=1, max_size=150),
    st.integers(1, 12),
)
def test_no_bin_holds_few_people(values: list[int] | list[dt.date], fewest: int) -> None:
    distinct = pa.array(sorted(set(values)))  # type: ignore[type-var]
    counts = np.array([Counter(values)[one] for one in distinct.to_pylist()])
    bins = cut(distinct, counts, fewest)
    if bins is None:
        assert len(values) < fewest
        return
    line = line_of(distinct)
    assert line is not None
    held = np.bincount(bins.of(line), weights=counts, minlength=len(bins.labels))
    assert held.sum() == len(values)
    assert bool(np.all((held == 0) | (held >= fewest))) or len(bins.labels) == 1
    assert len(bins.labels) == bins.edges.size + 1 <= 25
    assert len(set(bins.labels)) == len(bins.labels)


@given(st.lists(_NUMBERS, min_size=10, max_size=150))
def test_intervals_spread_evenly(values: list[int]) -> None:
    distinct = pa.array(sorted(set(values)))
    bins = cut(distinct, np.array([Counter(values)[one] for one in distinct.to_pylist()]), 1)
    assert bins is not None
    low, high = min(values), max(values)
    ends = ends_of([f"[{low}, {high}]", str(low)], bins, dates=False)
    assert ends is not None
    spread = bins.spread(ends[0][:1], ends[1][:1], np.array([high - low + 1]))
    whole = np.arange(low, high + 1, dtype=np.float64)
    if low < high:
        np.testing.assert_allclose(spread, np.bincount(bins.of(whole), minlength=len(bins.labels)), atol=1e-6)
    assert bins.spread(ends[0][1:], ends[1][1:], np.array([3])).sum() == pytest.approx(3)


def test_labels_that_are_no_stretch_of_the_line_are_not_read_so() -> None:
    bins = cut(pa.array(list(range(50))), np.ones(50, np.int64), 1)
    assert bins is not None
    assert ends_of(["02***"], bins, dates=False) is None
    assert ends_of(["red"], bins, dates=False) is None
    low, high = ends_of(["< 20", ">= 40", "(3, 5]", "[3, 5)"], bins, dates=False) or (None, None)
    assert list(low) == [-np.inf, 40, 4, 3]
    assert list(high) == [20, np.inf, 6, 5]


@given(
    st.lists(st.sampled_from(["a", "b", "c", "d", "rare", None]), min_size=20, max_size=120),
    st.integers(2, 15),
)
def test_bars_count_people_and_pool_the_few(values: list[str | None], fewest: int) -> None:
    frame = pa.table({"town": pa.array(values, pa.string()), "age": list(range(len(values)))})
    release = released(frame, {"town": quasi(), "age": quasi()})
    bars = compared_bars(release, "town", fewest)
    assert bars is not None
    counts = Counter(MISSING if value is None else value for value in values)
    for label, share in zip(bars.labels, bars.before, strict=True):
        if label not in (OTHER, HIDDEN):
            assert counts[label] >= fewest
            assert share == pytest.approx(counts[label] / len(values))
        elif label == OTHER:
            assert share * len(values) >= fewest - 1e-9
    few = sum(count for count in counts.values() if count < fewest)
    assert bars.undrawn == (0 < few < fewest)
    assert bars.before.sum() == pytest.approx(1 - few / len(values) if bars.undrawn else 1)
    assert bars.after.sum() <= 1 + 1e-9
    assert 0 <= bars.overlap <= 1 + 1e-9


def test_masks_nodes_and_sets_are_spread_over_what_they_cover() -> None:
    zips = [f"{district}{ending}" for district in ("011", "012", "021") for ending in ("01", "02")] * 10
    table = Table(pa.table({"zip": zips}), {"zip": quasi(masked())})
    release = Generalization(KAnonymity(5), levels={"zip": 2}).release(table)
    assert set(release.frame["zip"].to_pylist()) == {"011**", "012**", "021**"}
    bars = compared_bars(release, "zip", 5)
    assert bars is not None
    assert set(bars.labels) == set(zips)
    np.testing.assert_allclose(bars.after, bars.before)


def test_values_written_like_marks_keep_their_own_bar() -> None:
    frame = pa.table({"town": [MISSING] * 20 + [None] * 20})
    bars = compared_bars(released(frame, {"town": quasi()}), "town", 10)
    assert bars is not None
    assert len(set(bars.labels)) == 2


def test_a_sensitive_value_shows_its_largest_share_in_a_class() -> None:
    frame = pa.table({
        "age": [1] * 10 + [2] * 10,
        "disease": ["flu"] * 8 + ["gout"] * 2 + ["flu"] * 2 + ["gout"] * 8,
        "pay": list(range(20)),
    })  # fmt: skip
    columns = {"age": quasi(), "disease": sensitive(), "pay": sensitive()}
    release = released(frame, columns, KAnonymity(10))  # type: ignore[arg-type]
    bars = sensitive_bars(release, "disease", 10)
    assert bars is not None
    assert dict(zip(bars.labels, bars.before, strict=True)) == {"flu": 0.5, "gout": 0.5}
    np.testing.assert_allclose(bars.after, 0.8)
    pay = sensitive_bars(release, "pay", 10)
    assert pay is not None
    assert pay.before.sum() == pytest.approx(1)


def test_released_intervals_are_in_the_order_of_their_bounds() -> None:
    ages = [20] * 10 + [35] * 40 + [70] * 30
    table = Table(pa.table({"age": ages}), {"age": quasi(intervals(10, 20))})
    release = Generalization(KAnonymity(5), levels={"age": 1}).release(table)
    labels, shares = released_shares(release, "age", 5)
    assert labels == ("[20, 29]", "[30, 39]", "[70, 79]")
    assert shares.tolist() == [0.125, 0.5, 0.375]


def test_weeks_begin_on_mondays() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=number) for number in range(60)]
    bins = cut(pa.array(days), np.full(60, 10), 5)
    assert bins is not None
    starts = [dt.date(1970, 1, 1) + dt.timedelta(days=int(edge)) for edge in bins.edges]
    assert {start.weekday() for start in starts} == {0}
    assert bins.labels[1] == "2024-01-08 – 2024-01-14"
