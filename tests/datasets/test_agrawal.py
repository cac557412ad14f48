"""The generator of people: ranges, ties between attributes, and every rule recounted person by person."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.datasets.agrawal import FUNCTIONS, RANGES, agrawal

Person = dict[str, float]


def in_thousands(value: float, low: float, high: float) -> bool:
    return low * 1000 <= value <= high * 1000


def rule(function: str, x: Person) -> bool:
    """Describe the class of one person, rule by rule, as the papers write them."""
    young, old = x["age"] < 40, x["age"] >= 60
    salary, level, loan = x["salary"], x["elevel"], x["loan"]
    earned = salary + x["commission"]
    equity = 0.1 * x["hvalue"] * max(x["hyears"] - 20, 0)
    if function in ("F1", "P1"):
        return young or old
    if function in ("F2", "P2", "F6"):
        money = earned if function == "F6" else salary
        return in_thousands(money, *((50, 100) if young else (25, 75) if old else (75, 125)))
    if function == "F3":
        return level in ((0, 1) if young else (2, 3, 4) if old else (1, 2, 3))
    if function == "F4":
        if young:
            return in_thousands(salary, *((25, 75) if level in (0, 1) else (50, 100)))
        if old:
            return in_thousands(salary, *((50, 100) if level in (2, 3, 4) else (25, 75)))
        return in_thousands(salary, *((50, 100) if level in (1, 2, 3) else (75, 125)))
    if function == "F5":
        if young:
            return in_thousands(loan, *((100, 300) if in_thousands(salary, 50, 100) else (200, 400)))
        if old:
            return in_thousands(loan, *((300, 500) if in_thousands(salary, 25, 75) else (100, 300)))
        return in_thousands(loan, *((200, 400) if in_thousands(salary, 75, 125) else (300, 500)))
    if function == "P3":
        if young:
            return (level in (0, 1) and in_thousands(salary, 25, 75)) or (
                level in (2, 3) and in_thousands(salary, 50, 100)
            )
        if old:
            return (level in (2, 3, 4) and in_thousands(salary, 50, 100)) or (
                level == 1 and in_thousands(salary, 25, 75)
            )
        return (level in (1, 2, 3) and in_thousands(salary, 50, 100)) or (
            level == 4 and in_thousands(salary, 75, 125)
        )
    left = {
        "F7": -0.2 * loan - 20_000,
        "F8": -5000 * level - 20_000,
        "F9": -5000 * level - 0.2 * loan - 10_000,
        "F10": -5000 * level + 0.2 * equity - 10_000,
        "P4": -0.2 * loan - 10_000,
        "P5": -0.2 * loan + 0.2 * equity - 10_000,
    }[function]
    return 0.67 * earned + left > 0


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_class_is_what_the_rule_says(function: str) -> None:
    rows = agrawal(function, n=2000, random_state=3).to_pylist()
    assert [row["class"] == "A" for row in rows] == [rule(function, row) for row in rows]
    assert {row["class"] for row in rows} == {"A", "B"}


def test_attributes_lie_in_their_ranges_and_hang_together() -> None:
    table = agrawal(n=20_000, random_state=1)
    people = {name: table[name].to_numpy() for name in table.column_names}
    for name, (low, high) in RANGES.items():
        assert people[name].min() >= low
        assert people[name].max() <= high
    assert ((people["commission"] == 0) == (people["salary"] >= 75_000)).all()
    assert (people["hvalue"] >= 50_000 * people["zipcode"]).all()
    assert (people["hvalue"] <= 150_000 * people["zipcode"]).all()
    assert abs(people["age"].mean() - 50) < 6 * 17.4 / np.sqrt(20_000)


def test_a_seed_gives_the_same_people() -> None:
    assert agrawal(n=50, random_state=9).equals(agrawal(n=50, random_state=9))
    assert not agrawal(n=50, random_state=9).equals(agrawal(n=50, random_state=8))


def test_unknown_functions_are_refused() -> None:
    with pytest.raises(ParameterError, match="The 'function' parameter of agrawal"):
        agrawal("F11")
    with pytest.raises(ParameterError, match="The 'n' parameter of agrawal"):
        agrawal(n=0)
