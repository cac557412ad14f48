"""Constraints: what they admit, how they read, and that a class's declarations are checked in one place."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.params import (
    BOOL,
    NONE,
    POSITIVE,
    Constraint,
    Constraints,
    EachOf,
    FloatIn,
    InstanceOf,
    IntIn,
    OneOf,
    check_parameters,
)


@pytest.mark.parametrize(
    ("constraint", "admitted", "refused", "words"),
    [
        (IntIn(1, 3), [1, 3, np.int64(2)], [0, 4, True, 1.0, "1", None], "an int in [1, 3]"),
        (IntIn(), [-5, 10**30], [0.5], "an int in (-inf, inf)"),
        (
            FloatIn(0, 1),
            [0, 1, 0.5, np.float32(0.5)],
            [-0.1, 1.1, np.nan, np.inf, True, "0"],
            "a number in [0, 1]",
        ),
        (FloatIn(0, 1, closed="left"), [0, 0.99], [1], "a number in [0, 1)"),
        (POSITIVE, [1e-300], [0, -1, 10**400], "a number in (0, inf)"),
        (OneOf(("a", 1)), ["a", 1], ["b", 1.0, True], "one of 'a', 1"),
        (NONE, [None], [0, ""], "None"),
        (BOOL, [True, False], [1, 0, None], "a bool"),
        (InstanceOf((str,), "a text"), ["", "x"], [b"x"], "a text"),
        (EachOf(IntIn(1), "ints"), [[1], (1, 2)], [[], [0], 1, "1"], "ints"),
    ],
)
def test_constraints(constraint: Constraint, admitted: list[Any], refused: list[Any], words: str) -> None:
    assert all(constraint.admits(value) for value in admitted)
    assert not any(constraint.admits(value) for value in refused)
    assert str(constraint) == words


class Base:
    constraints: ClassVar[Constraints] = {"k": IntIn(1)}

    def __init__(self, k: Any, label: Any = None) -> None:
        self.k, self.label = k, label


class Derived(Base):
    constraints: ClassVar[Constraints] = {**Base.constraints, "label": (NONE, InstanceOf((str,), "a name"))}


def test_a_class_is_checked_by_what_it_declares() -> None:
    check_parameters(Base(1, label=3))
    check_parameters(Derived(1, label="x"))
    with pytest.raises(
        ParameterError, match=r"The 'label' parameter of Derived must be None or a name\. Got 3 instead\."
    ):
        check_parameters(Derived(1, label=3))
    check_parameters(Derived(0, label="x"), "label")
    with pytest.raises(ParameterError, match="'k' parameter of Derived"):
        check_parameters(Derived(0, label=3))


def test_long_values_and_other_objects_are_not_shown() -> None:
    with pytest.raises(ParameterError, match="Got an instance of str instead"):
        check_parameters(Base("planted" * 20))
    with pytest.raises(ParameterError, match="Got an instance of list instead"):
        check_parameters(Base(["planted"]))
