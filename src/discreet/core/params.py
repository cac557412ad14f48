"""Parameter constraints, and the one template every parameter error is written in."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Protocol

from discreet.core.errors import ParameterError

_SHOWN = 40


class Constraint(Protocol):
    """What a parameter must be: a test and its wording."""

    def admits(self, value: object) -> bool:
        """Return whether the value is allowed."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class IntIn:
    """An int in [low, high]; a missing end is open."""

    low: int | None = None
    high: int | None = None

    def admits(self, value: object) -> bool:
        """Return whether the value is an int (no bool) between the ends."""
        if isinstance(value, bool) or not isinstance(value, Integral):
            return False
        return (self.low is None or int(value) >= self.low) and (self.high is None or int(value) <= self.high)

    def __str__(self) -> str:
        low = "(-inf" if self.low is None else f"[{self.low}"
        high = "inf)" if self.high is None else f"{self.high}]"
        return f"an int in {low}, {high}"


@dataclass(frozen=True)
class FloatIn:
    """A finite number between two ends, each open or closed."""

    low: float = -math.inf
    high: float = math.inf
    closed: Literal["both", "left", "right", "neither"] = "both"

    def admits(self, value: object) -> bool:
        """Return whether the value is a finite number between the ends."""
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        if not math.isfinite(number):
            return False
        above = number >= self.low if self.closed in ("both", "left") else number > self.low
        below = number <= self.high if self.closed in ("both", "right") else number < self.high
        return above and below

    def __str__(self) -> str:
        opening = "[" if self.closed in ("both", "left") and math.isfinite(self.low) else "("
        closing = "]" if self.closed in ("both", "right") and math.isfinite(self.high) else ")"
        return f"a number in {opening}{self.low:g}, {self.high:g}{closing}"


@dataclass(frozen=True)
class OneOf:
    """One of a few words."""

    options: tuple[object, ...]

    def admits(self, value: object) -> bool:
        """Return whether the value is one of the options."""
        return any(type(value) is type(option) and value == option for option in self.options)

    def __str__(self) -> str:
        if len(self.options) == 1:
            return repr(self.options[0])
        return "one of " + ", ".join(repr(option) for option in self.options)


@dataclass(frozen=True)
class InstanceOf:
    """An instance of a type, said in words."""

    types: tuple[type, ...]
    wording: str

    def admits(self, value: object) -> bool:
        """Return whether the value is of one of the types."""
        return isinstance(value, self.types)

    def __str__(self) -> str:
        return self.wording


@dataclass(frozen=True)
class EachOf:
    """A list or tuple whose entries all meet a constraint."""

    one: Constraint
    wording: str

    def admits(self, value: object) -> bool:
        """Return whether the value is a list or tuple of allowed entries, and not empty."""
        return isinstance(value, list | tuple) and len(value) > 0 and all(map(self.one.admits, value))

    def __str__(self) -> str:
        return self.wording


@dataclass(frozen=True)
class MappingOf:
    """A mapping whose values all meet a constraint."""

    one: Constraint
    wording: str

    def admits(self, value: object) -> bool:
        """Return whether the value is a mapping of allowed values; it may be empty."""
        return isinstance(value, Mapping) and all(map(self.one.admits, value.values()))

    def __str__(self) -> str:
        return self.wording


NONE = OneOf((None,))
"""The parameter may be left out."""
BOOL = InstanceOf((bool,), "a bool")
POSITIVE = FloatIn(0, closed="neither")
BY_COLUMN = InstanceOf((Mapping, type(None)), "None or a mapping from columns")

Constraints = Mapping[str, Constraint | tuple[Constraint, ...]]
"""What each parameter must be, by name; of several constraints one must hold."""


class Constrained(Protocol):
    """An object whose class declares what its parameters must be."""

    constraints: ClassVar[Constraints]


def check_parameters(owner: Any, *names: str) -> None:
    """Raise a ParameterError unless the parameters of an object meet the constraints its class declares.

    Parameters
    ----------
    owner
        The object; ``constraints`` of its class are checked in order.
    names
        The parameters to check; all by default.

    Examples
    --------
    >>> class Publisher:
    ...     constraints = {"k": IntIn(1), "label": (NONE, InstanceOf((str,), "the name of a column"))}
    ...     def __init__(self, k, label=None):
    ...         self.k, self.label = k, label
    >>> check_parameters(Publisher(2))
    >>> check_parameters(Publisher(2, label=3))
    Traceback (most recent call last):
    discreet.core.errors.ParameterError: The 'label' parameter of Publisher must be None or the name of a column.
    Got 3 instead.
    """
    for name, allowed in type(owner).constraints.items():
        if not names or name in names:
            require(owner, name, getattr(owner, name), *listed(allowed))


def listed(allowed: Constraint | tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    """Return the constraints of one parameter as a tuple."""
    return allowed if isinstance(allowed, tuple) else (allowed,)


def require(
    owner: str | object, name: str, value: object, *constraints: Constraint, secret: bool = False
) -> None:
    """Raise a ParameterError unless one of the constraints admits the value; of a secret only the type is shown.

    >>> require("Mondrian", "k", 0, IntIn(1, 30162))
    Traceback (most recent call last):
    discreet.core.errors.ParameterError: The 'k' parameter of Mondrian must be an int in [1, 30162].
    Got 0 instead.
    """
    if any(constraint.admits(value) for constraint in constraints):
        return
    wording = " or ".join(str(constraint) for constraint in constraints)
    words = [
        option for constraint in constraints if isinstance(constraint, OneOf) for option in constraint.options
    ]
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    astray = is_number and not any(_takes_numbers(constraint) for constraint in constraints)
    got = _kind(value) if secret or astray else shown(value, words)
    raise ParameterError(f"The '{name}' parameter of {_called(owner)} must be {wording}. Got {got} instead.")


def check_fields(owner: str, kind: Any, names: Iterable[str]) -> None:
    """Raise a ParameterError unless names are parameters of a dataclass, with all that have no default among them."""
    parameters = {field.name: field for field in fields(kind) if field.init}
    for name in names:
        if name not in parameters:
            raise ParameterError(f"{owner} has no parameter {name!r}. It has: {', '.join(parameters)}.")
    for name, field in parameters.items():
        if name not in names and field.default is MISSING and field.default_factory is MISSING:
            raise ParameterError(f"The '{name}' parameter of {owner} is missing.")


def unknown(owner: str | object, name: str, value: object, names: Iterable[str]) -> ParameterError:
    """Make the error for a name that is none of the known ones."""
    names = list(names)
    options = ", ".join(sorted(names))
    return ParameterError(
        f"The '{name}' parameter of {_called(owner)} must be one of {options}. Got {shown(value, names)} instead."
    )


def shown(value: object, words: Iterable[object] = ()) -> str:
    """Show a parameter's value if it is a short number, or a word that resembles an allowed one; else only its type.

    A text that resembles none may be a cell that went astray.

    >>> shown("strickt", ["strict"]), shown("Miller", ["strict"])
    ("'strickt'", 'an instance of str')
    """
    if isinstance(value, str):
        near = difflib.get_close_matches(value, [str(word) for word in words], n=1)
        return repr(value) if near and len(value) <= _SHOWN else _kind(value)
    if value is None or isinstance(value, bool | int | float):
        text = repr(value)
        if len(text) <= _SHOWN:
            return text
    return _kind(value)


def _takes_numbers(constraint: Constraint) -> bool:
    """Return whether a number, shown, may help: where numbers, words or bools are expected."""
    if isinstance(constraint, InstanceOf):
        return bool in constraint.types
    return isinstance(constraint, IntIn | FloatIn | OneOf)


def _kind(value: object) -> str:
    return f"an instance of {type(value).__name__}"


def _called(owner: str | object) -> str:
    return owner if isinstance(owner, str) else type(owner).__name__
