"""Protocols over columns of the same people: what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.parties.open_protocols import (
    VerticalKMeans,
    VerticalNaiveBayes,
    VerticalRidge,
    VerticalStatistics,
    VerticalTree,
)

from discreet.core.errors import InputError, ParameterError
from discreet.parties import PartyError, simulate


def test_different_numbers_of_rows_stop_all_parties() -> None:
    protocol = VerticalStatistics(columns={"p0": ("a",), "p1": ("b",)}, ranges={"a": (0, 1), "b": (0, 1)})
    with pytest.raises(PartyError, match="different numbers of rows"):
        simulate(protocol, {"p0": {"a": [0.5]}, "p1": {"b": [0.5, 0.5]}}, timeout=5)
    with pytest.raises(InputError, match="no rows"):
        simulate(protocol, {"p0": {"a": np.zeros(0)}, "p1": {"b": np.zeros(0)}}, timeout=5)
    with pytest.raises(InputError, match="beyond its range") as error:
        simulate(protocol, {"p0": {"a": [4711.5]}, "p1": {"b": [0.5]}}, timeout=5)
    assert "4711" not in str(error.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: VerticalStatistics(columns={"x": ("a",), "y": ("a",)}, ranges={"a": (0, 1)}),
            "different names",
        ),
        (
            lambda: VerticalStatistics(columns={"x": ("a",), "y": ("b",)}, ranges={"a": (0, 1)}),
            "range of 'b'",
        ),
        (lambda: VerticalRidge(columns={"x": ("a",)}, target="b", ranges={"a": (0, 1)}), "'target'"),
        (lambda: VerticalKMeans(columns={"x": ("a",)}, k=0, ranges={"a": (0, 1)}), "'k'"),
        (
            lambda: VerticalKMeans(columns={"x": ("a",)}, k=2, init="given", ranges={"a": (0, 1)}),
            "'seeds'",
        ),
        (
            lambda: VerticalNaiveBayes(columns={"x": ("a",)}, target="t", holder="z", classes=(0, 1)),
            "'holder'",
        ),
        (lambda: VerticalTree(columns={"x": ("a",)}, target="t", holder="z", classes=(0, 1)), "'holder'"),
    ],
)
def test_parameters_are_checked_by_name(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()


def test_a_session_must_name_every_party() -> None:
    protocol = VerticalStatistics(columns={"p0": ("a",), "p1": ("b",)}, ranges={"a": (0, 1), "b": (0, 1)})
    with pytest.raises(ParameterError, match="every party"):
        simulate(protocol, {"p0": {"a": [0.5]}, "p2": {"b": [0.5]}})
