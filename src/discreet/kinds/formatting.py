"""Numbers as text."""

from __future__ import annotations

import math

_RELATIONS = {">=": "at least", "<=": "at most", "<": "below", ">": "above"}


def number(value: float) -> str:
    """Format a number for reading.

    >>> number(20000), number(2.51234), number(float("nan"))
    ('20,000', '2.512', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.4g}"


def required(relation: str, bound: float) -> str:
    """Format the bound of a measure.

    >>> required(">=", 5)
    'at least 5'
    """
    return f"{_RELATIONS.get(relation, relation)} {number(bound)}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun.

    >>> counted(1, "row"), counted(2000, "class", "classes")
    ('1 row', '2,000 classes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"
