"""Protocols over rows: what is refused, and no rows at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.parties.mining.models.pooled import XY
from tests.parties.open_protocols import (
    HorizontalKMeans,
    HorizontalLogistic,
    HorizontalNaiveBayes,
    HorizontalQuantiles,
    HorizontalRidge,
    HorizontalStatistics,
    HorizontalTree,
)

from discreet.core.errors import InputError, ParameterError
from discreet.parties import simulate


@pytest.mark.parametrize(
    ("protocol", "columns"),
    [
        (HorizontalStatistics(columns=("x",)), ("x",)),
        (HorizontalRidge(columns=("x",), target="y"), XY),
        (HorizontalQuantiles(columns=("x",), ranges={"x": (0, 1)}, bits=2), ("x",)),
        (HorizontalNaiveBayes(columns=("x",), target="y", classes=(0, 1)), XY),
        (HorizontalTree(columns=("x",), target="y", classes=(0, 1), ranges={"x": (0, 1)}), XY),
        (HorizontalLogistic(columns=("x",), target="y", classes=(0, 1)), XY),
    ],
)
def test_no_rows_anywhere_is_one_clear_error(protocol: Any, columns: Any) -> None:
    empty = {name: np.zeros(0, np.int64) for name in columns}
    with pytest.raises(InputError, match=r"nothing|no quantiles|fewer than two"):
        simulate(protocol, {"a": empty, "b": empty, "c": empty})


CANARY = 918273645.5


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"x": [1.0]}, "no column 'y'"),
        ({"x": [1.0, 2.0], "y": [1.0]}, "differ in length"),
        ({"x": [float("nan")], "y": [1.0]}, "missing"),
        ({"x": [None], "y": [1.0]}, "missing"),
        ({"x": ["one"], "y": [1.0]}, "must hold numbers"),
        ({"x": [CANARY], "y": [1.0]}, "beyond"),
        ({"x": [[1.0]], "y": [1.0]}, "one value for each row"),
        ([1.0], "frame"),
    ],
)
def test_bad_rows_are_refused_without_a_value(data: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        simulate(HorizontalRidge(columns=("x",), target="y"), {"a": data, "b": data}, timeout=5)
    assert str(CANARY) not in str(error.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: HorizontalKMeans(columns=(), k=2), "columns"),
        (lambda: HorizontalKMeans(columns=("x", "x"), k=2), "different names"),
        (lambda: HorizontalKMeans(columns=("x",), k=0), "'k'"),
        (lambda: HorizontalKMeans(columns=("x",), k=2, init="given", centers=((1,),)), "'centers'"),
        (lambda: HorizontalKMeans(columns=("x",), k=2, init="ranges"), "public range of 'x'"),
        (lambda: HorizontalKMeans(columns=("x",), k=2, epsilon=1.0, ranges={"x": (0, 1)}), "seeds"),
        (lambda: HorizontalKMeans(columns=("x",), k=2, ranges={"x": (1, 1)}), "low < high"),
        (lambda: HorizontalKMeans(columns=("x",), k=2, ranges={"z": (0, 1)}), "no column"),
        (lambda: HorizontalNaiveBayes(columns=("x",), target="x", classes=(0, 1)), "'target'"),
        (lambda: HorizontalNaiveBayes(columns=("x",), target="y", classes=(0,)), "'classes'"),
        (lambda: HorizontalNaiveBayes(columns=("x",), target="y", classes=(0, "1")), "'classes'"),
        (lambda: HorizontalTree(columns=("x",), target="y", classes=(0, 1)), "range of 'x'"),
        (lambda: HorizontalLogistic(columns=("x",), target="y", classes=(0, 1), epsilon=1.0), "no noise"),
        (lambda: HorizontalQuantiles(columns=("x",), q=(2.0,), ranges={"x": (0, 1)}), "'q'"),
    ],
)
def test_parameters_are_checked_by_name(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()
