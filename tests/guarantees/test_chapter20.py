"""Tables 20.1 and 20.3 of Aggarwal's Data Mining: 3-anonymous, yet everyone in one class has HIV."""

from __future__ import annotations

import pytest
from tests.guarantees.small_tables import groups_of

from discreet.guarantees import (
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)

ORIGINAL = [
    {"age": 24, "zip": "10598", "disease": "HIV"},
    {"age": 37, "zip": "90210", "disease": "Hepatitis C"},
    {"age": 26, "zip": "10547", "disease": "HIV"},
    {"age": 38, "zip": "90345", "disease": "Hepatitis C"},
    {"age": 36, "zip": "89119", "disease": "Diabetes"},
    {"age": 25, "zip": "02139", "disease": "HIV"},
]
EAST, WEST = ("[20, 30]", "Northeastern US"), ("[30, 40]", "Western US")
RELEASED = [
    dict(zip(("age", "zip"), place, strict=True)) | {"disease": row["disease"]}
    for place, row in zip((EAST, WEST, EAST, WEST, WEST, EAST), ORIGINAL, strict=True)
]


def test_original_is_one_anonymous() -> None:
    groups = groups_of(ORIGINAL, quasi=["age", "zip"], sensitive=["disease"])
    assert KAnonymity(2).check(groups).worst == 1


def test_released_is_three_anonymous_but_not_two_diverse() -> None:
    groups = groups_of(RELEASED, quasi=["age", "zip"], sensitive=["disease"])
    assert KAnonymity(3).check(groups)
    assert not KAnonymity(4).check(groups)
    for diversity in (DistinctDiversity(2), EntropyDiversity(2), RecursiveDiversity(3, 2)):
        verdict = diversity.check(groups)
        assert not verdict
        assert diversity.holds(groups)[0] == False  # noqa: E712  # the class where everyone has HIV
    assert DistinctDiversity(2).check(groups).failing_rows == 3
    assert not (KAnonymity(3) & DistinctDiversity(2)).check(groups)


def test_released_distance_by_hand() -> None:
    """HIV is 1/2 of the whole and all of the eastern class."""
    groups = groups_of(RELEASED, quasi=["age", "zip"], sensitive=["disease"])
    assert TCloseness(0.4).measure(groups) == pytest.approx([0.5, 0.5])
