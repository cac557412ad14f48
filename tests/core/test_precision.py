"""Decimals: as many as the numbers are written with, and no more on what is made from them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from discreet import Table, quasi
from discreet.core.records.vectors import decimals_of, rounded
from discreet.guarantees import KAnonymity
from discreet.publish import Condensation, Mondrian


def written(value: float) -> int:
    text = np.format_float_positional(value, trim="-")
    return len(text.partition(".")[2])


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=20), st.integers(0, 6))
def test_decimals_are_those_the_numbers_are_written_with(numbers: list[int], decimals: int) -> None:
    values = np.array([number / 10**decimals for number in numbers])
    assert decimals_of(values) == max(map(written, values.tolist()))


def test_odd_numbers() -> None:
    assert decimals_of(np.array([np.nan, np.inf, 1.25])) == 2
    assert decimals_of(np.array([28.1], np.float32)) == 1
    assert decimals_of(np.array([1e17, 3.0])) == 0
    assert decimals_of(np.array([1e17, 0.5, 2.0**53])) == 1
    assert decimals_of(np.array([1e17, 1 / 3])) is None
    assert decimals_of(np.array([1 / 3])) is None
    assert decimals_of(np.array([])) == 0
    assert rounded(np.array([1.26]), None)[0] == 1.26


def people(dtype: type = np.float64) -> Table:
    rng = np.random.default_rng(5)
    bmi = np.round(rng.normal(28, 6, 400), 1).astype(dtype)
    return Table(pa.table({"bmi": bmi, "age": rng.integers(20, 90, 400)}), {"bmi": quasi(), "age": quasi()})


def test_pseudo_values_have_the_decimals_of_the_input() -> None:
    for dtype in (np.float64, np.float32):
        released = Condensation(10, random_state=1).release(people(dtype)).frame
        values = released["bmi"].to_numpy()
        assert decimals_of(values) == 1
        assert len(np.unique(values)) > 20


def test_means_have_the_decimals_of_the_input() -> None:
    released = Mondrian(KAnonymity(7), summary="mean").release(people()).frame
    assert decimals_of(released["bmi"].to_numpy()) == 1
    assert decimals_of(released["age"].to_numpy()) == 1


def test_random_numbers_keep_their_precision() -> None:
    rng = np.random.default_rng(5)
    table = Table(
        pa.table({"x": rng.normal(size=200), "y": rng.normal(size=200)}), {"x": quasi(), "y": quasi()}
    )
    released = Condensation(10, random_state=1).release(table).frame
    assert decimals_of(released["x"].to_numpy()) is None
