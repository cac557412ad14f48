from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.guarantees.small_tables import groups_of, rows_of

from discreet.core.arrays import IntArray
from discreet.core.errors import ParameterError, SchemaError
from discreet.guarantees import KMap


class Population:
    """Stands for a population table; prints what must never be shown."""

    def __repr__(self) -> str:
        return "Joy M., Sue G."


class CountingCover:
    """Matches as many people as it was told."""

    def __init__(self, matching: list[int]) -> None:
        self.matching = matching
        self.asked: list[object] = []

    def matches(self, population: object) -> IntArray:
        self.asked.append(population)
        return np.array(self.matching)


def test_counts_the_population_not_the_class() -> None:
    people = Population()
    cover = CountingCover([5, 4])
    groups = replace(groups_of(rows_of({"u": "a", "v": "bcdefg"})), cover=cover)
    assert KMap(5, people).measure(groups).tolist() == [5, 4]
    assert KMap(5, people).holds(groups).tolist() == [True, False]
    assert KMap(4, people).check(groups)
    assert all(asked is people for asked in cover.asked)


def test_bare_classes_cannot_be_judged() -> None:
    with pytest.raises(SchemaError, match="KMap needs to know what the classes describe"):
        KMap(2, Population()).check(groups_of(rows_of({"u": "ab"})))


def test_never_shows_the_population() -> None:
    guarantee = KMap(5, Population())
    assert repr(guarantee) == "KMap(k=5, population=<Population>)"
    assert guarantee.to_dict() == {"guarantee": "KMap", "k": 5}
    assert guarantee.columns(["ward"]) == ()
    assert guarantee.smallest == 1


def test_errors_name_the_parameter() -> None:
    with pytest.raises(ParameterError, match="'k' parameter of KMap"):
        KMap(0, Population())
    with pytest.raises(ParameterError, match="'population' parameter of KMap"):
        KMap(2, None)
