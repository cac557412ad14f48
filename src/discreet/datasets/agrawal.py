"""Agrawal's people: nine attributes and a class by one of ten rules (Agrawal, Imielinski & Swami, TKDE 1993)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.boundary import public
from discreet.core.params import IntIn, OneOf, require
from discreet.core.rng import RandomState, generator

RANGES: dict[str, tuple[float, float]] = {
    "salary": (20_000, 150_000),
    "commission": (0, 75_000),
    "age": (20, 80),
    "elevel": (0, 4),
    "car": (1, 20),
    "zipcode": (1, 9),
    "hvalue": (0, 1_350_000),
    "hyears": (1, 30),
    "loan": (0, 500_000),
}
"""The public range of each attribute."""

People = dict[str, FloatArray]


@public
def agrawal(function: str = "F1", *, n: int = 100_000, random_state: RandomState = None) -> pa.Table:
    """Draw people with a class, ``A`` where the function says so and ``B`` otherwise.

    Parameters
    ----------
    function
        ``F1`` to ``F10`` of the paper of 1993; or ``P1`` to ``P5``, the five of "Privacy-preserving data mining"
        (Agrawal & Srikant, SIGMOD 2000), of which the first two are the same.
    n
        The number of people.
    random_state
        The seed.

    Examples
    --------
    >>> people = agrawal("F1", n=1000, random_state=7)
    >>> people.column_names
    ['salary', 'commission', 'age', 'elevel', 'car', 'zipcode', 'hvalue', 'hyears', 'loan', 'class']
    >>> ages = people["age"].to_numpy()
    >>> bool(((people["class"].to_numpy() == "A") == ((ages < 40) | (ages >= 60))).all())
    True
    """
    require("agrawal", "function", function, OneOf(tuple(FUNCTIONS)))
    require("agrawal", "n", n, IntIn(1))
    people = _people(n, generator(random_state, owner="agrawal"))
    is_a = FUNCTIONS[function](people)
    labels = pa.DictionaryArray.from_arrays(pa.array((~is_a).astype(np.int32)), pa.array(["A", "B"]))
    return pa.table({**people, "class": labels.dictionary_decode()})


def _people(n: int, rng: np.random.Generator) -> dict[str, Any]:
    salary = rng.uniform(20_000, 150_000, n)
    zipcode = rng.integers(1, 10, n)
    return {
        "salary": salary,
        "commission": np.where(salary >= 75_000, 0.0, rng.uniform(10_000, 75_000, n)),
        "age": rng.uniform(20, 80, n),
        "elevel": rng.integers(0, 5, n),
        "car": rng.integers(1, 21, n),
        "zipcode": zipcode,
        "hvalue": rng.uniform(0.5, 1.5, n) * zipcode * 100_000,
        "hyears": rng.uniform(1, 30, n),
        "loan": rng.uniform(0, 500_000, n),
    }


def _by_age(people: People, young: BoolArray, middle: BoolArray, old: BoolArray) -> BoolArray:
    """Choose by age: below 40, below 60, and from 60 on."""
    age = people["age"]
    return np.where(age < 40, young, np.where(age < 60, middle, old))


def _between(values: FloatArray, low: float, high: float) -> BoolArray:
    """Return which values are between two numbers of thousands."""
    return np.asarray((values >= low * 1000) & (values <= high * 1000))


def _levels(people: People, low: int, high: int) -> BoolArray:
    return np.asarray((people["elevel"] >= low) & (people["elevel"] <= high))


def _f1(people: People) -> BoolArray:
    return np.asarray((people["age"] < 40) | (people["age"] >= 60))


def _f2(people: People) -> BoolArray:
    salary = people["salary"]
    return _by_age(people, _between(salary, 50, 100), _between(salary, 75, 125), _between(salary, 25, 75))


def _f3(people: People) -> BoolArray:
    return _by_age(people, _levels(people, 0, 1), _levels(people, 1, 3), _levels(people, 2, 4))


def _f4(people: People) -> BoolArray:
    salary = people["salary"]
    low, middle, high = (_between(salary, *ends) for ends in ((25, 75), (50, 100), (75, 125)))
    return _by_age(
        people,
        np.where(_levels(people, 0, 1), low, middle),
        np.where(_levels(people, 1, 3), middle, high),
        np.where(_levels(people, 2, 4), middle, low),
    )


def _f5(people: People) -> BoolArray:
    salary, loan = people["salary"], people["loan"]
    small, fair, large = (_between(loan, *ends) for ends in ((100, 300), (200, 400), (300, 500)))
    return _by_age(
        people,
        np.where(_between(salary, 50, 100), small, fair),
        np.where(_between(salary, 75, 125), fair, large),
        np.where(_between(salary, 25, 75), large, small),
    )


def _f6(people: People) -> BoolArray:
    earned = _earned(people)
    return _by_age(people, _between(earned, 50, 100), _between(earned, 75, 125), _between(earned, 25, 75))


def _earned(people: People) -> FloatArray:
    return np.asarray(people["salary"] + people["commission"])


def _equity(people: People) -> FloatArray:
    return np.asarray(0.1 * people["hvalue"] * np.maximum(people["hyears"] - 20, 0))


def _left(
    people: People, *, elevel: float = 0, loan: float = 0, equity: float = 0, fixed: float = 10_000
) -> BoolArray:
    """Whether something is left of two thirds of what a person earns."""
    spent = elevel * people["elevel"] + loan * people["loan"] - equity * _equity(people) + fixed
    return np.asarray(0.67 * _earned(people) - spent > 0)


def _p3(people: People) -> BoolArray:
    salary = people["salary"]
    low, middle, high = (_between(salary, *ends) for ends in ((25, 75), (50, 100), (75, 125)))
    return _by_age(
        people,
        (_levels(people, 0, 1) & low) | (_levels(people, 2, 3) & middle),
        (_levels(people, 1, 3) & middle) | (_levels(people, 4, 4) & high),
        (_levels(people, 2, 4) & middle) | (_levels(people, 1, 1) & low),
    )


FUNCTIONS: dict[str, Callable[[People], BoolArray]] = {
    "F1": _f1,
    "F2": _f2,
    "F3": _f3,
    "F4": _f4,
    "F5": _f5,
    "F6": _f6,
    "F7": lambda people: _left(people, loan=0.2, fixed=20_000),
    "F8": lambda people: _left(people, elevel=5_000, fixed=20_000),
    "F9": lambda people: _left(people, elevel=5_000, loan=0.2),
    "F10": lambda people: _left(people, elevel=5_000, equity=0.2),
    "P1": _f1,
    "P2": _f2,
    "P3": _p3,
    "P4": lambda people: _left(people, loan=0.2),
    "P5": lambda people: _left(people, loan=0.2, equity=0.2),
}
