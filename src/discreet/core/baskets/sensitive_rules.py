"""SensitiveRule: a rule or an itemset that its owner wants hidden, by the names of its items."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from discreet.core.baskets.names import WHOLE
from discreet.core.boundary import public
from discreet.core.errors import ParameterError

_ARROW = re.compile(r'(?:=>|⇒)(?=(?:[^"]*"[^"]*")*[^"]*$)')
"""An arrow that does not stand between double quotes."""
_FORMS = "Write a rule as 'a, b => c', an itemset as 'a, b' or ['a', 'b']."


@public
@dataclass(frozen=True)
class SensitiveRule:
    """A rule ``lhs => rhs``, or the itemset ``lhs`` where there is no right-hand side.

    Examples
    --------
    >>> SensitiveRule.of("diapers, wipes => beer")
    SensitiveRule(lhs=('diapers', 'wipes'), rhs=('beer',))
    >>> SensitiveRule.of([3, 5]).is_rule
    False
    >>> SensitiveRule.of("beer => beer")
    Traceback (most recent call last):
    discreet.core.errors.ParameterError: The two sides of a sensitive rule overlap; an item stands on one side only.
    """

    lhs: tuple[Any, ...]
    rhs: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        for side in ("lhs", "rhs"):
            names = tuple(dict.fromkeys(getattr(self, side)))
            if any(isinstance(name, bool) or not isinstance(name, int | str) or name == "" for name in names):
                raise ParameterError(
                    f"The items of a sensitive rule are named by whole numbers or text. {_FORMS}"
                )
            object.__setattr__(self, side, names)
        if not self.lhs:
            raise ParameterError(f"A sensitive rule or itemset is empty. {_FORMS}")
        if set(map(str, self.lhs)) & set(map(str, self.rhs)):
            raise ParameterError(
                "The two sides of a sensitive rule overlap; an item stands on one side only."
            )

    @classmethod
    def of(cls, rule: Any) -> SensitiveRule:
        """Return a rule made of text, of a pair of sides (two lists), or of the names of an itemset."""
        if isinstance(rule, SensitiveRule):
            return rule
        if isinstance(rule, str):
            return cls._parsed(rule)
        if isinstance(rule, int) and not isinstance(rule, bool):
            return cls((rule,))
        if not isinstance(rule, Iterable) or isinstance(rule, bytes | Mapping):
            raise ParameterError(f"A sensitive rule must be text or a list of items. {_FORMS}")
        parts = list(rule)
        if len(parts) == 2 and all(isinstance(part, list | tuple | set | frozenset) for part in parts):
            if not parts[0] or not parts[1]:
                raise ParameterError(f"A sensitive rule lacks one of its sides. {_FORMS}")
            return cls(*(tuple(_ordered(part)) for part in parts))
        if any(isinstance(part, list | tuple | set | frozenset | Mapping) for part in parts):
            raise ParameterError(f"A sensitive rule must be text or a list of items. {_FORMS}")
        return cls(tuple(_ordered(parts)))

    @classmethod
    def _parsed(cls, text: str) -> SensitiveRule:
        sides = [_names(side) for side in _ARROW.split(text)]
        if len(sides) > 2:
            raise ParameterError(f"A sensitive rule has more than one arrow. {_FORMS}")
        if len(sides) == 2 and not (sides[0] and sides[1]):
            raise ParameterError(f"A sensitive rule lacks one of its sides. {_FORMS}")
        return cls(*(tuple(side) for side in sides))

    @property
    def items(self) -> tuple[Any, ...]:
        """The items of both sides."""
        return (*self.lhs, *self.rhs)

    @property
    def is_rule(self) -> bool:
        """Whether there is a right-hand side."""
        return bool(self.rhs)

    def __str__(self) -> str:
        left, right = (", ".join(map(str, side)) for side in (self.lhs, self.rhs))
        return f"{left} => {right}" if self.rhs else left


def sensitive_rules(stated: Any) -> tuple[SensitiveRule, ...]:
    """Return distinct rules, made of one text or of several rules in any form.

    Rules may come from a file that was taken for another, so errors name a rule by its number and never show its text.

    >>> [str(rule) for rule in sensitive_rules(["a => b", "c, d", "a => b"])]
    ['a => b', 'c, d']
    """
    if isinstance(stated, str | SensitiveRule):
        stated = [stated]
    if not isinstance(stated, Iterable) or isinstance(stated, bytes | Mapping):
        raise ParameterError(f"The sensitive rules must be a list. {_FORMS}")
    listed = list(stated)
    if not listed:
        raise ParameterError(f"No sensitive rule is named. {_FORMS}")
    rules: dict[SensitiveRule, None] = {}
    for rule in listed:
        try:
            rules[SensitiveRule.of(rule)] = None
        except ParameterError as error:
            raise ParameterError(f"Sensitive rule {len(rules) + 1}: {error}") from None
    return tuple(rules)


def codes_by_name(names: pa.Array) -> dict[Any, int]:
    """Return the code of each item by its name, for `code_of`."""
    return {name: code for code, name in enumerate(names.to_pylist())}


def code_of(codes: Mapping[Any, int], name: Any) -> int:
    """Return the code of an item that may be written as text or as a number; -1 where no item has the name."""
    if name in codes:
        return codes[name]
    if isinstance(name, str) and WHOLE.fullmatch(name):
        return codes.get(int(name), -1)
    return codes.get(str(name), -1) if isinstance(name, int) else -1


def _names(side: str) -> list[str]:
    """Split names at commas; a name that holds a comma or an arrow is put in double quotes."""
    cells = (cell for row in csv.reader([side.strip()], skipinitialspace=True) for cell in row)
    return [cell.strip() for cell in cells if cell.strip()]


def _ordered(names: Iterable[Any]) -> list[Any]:
    """Return names in a fixed order, whatever kind of collection they come in."""
    listed = list(names)
    return sorted(listed, key=str) if isinstance(names, set | frozenset) else listed
