"""Answers and denials as plain data for JSON."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

from discreet.output.audit.auditor import Answer, Bound, Denied


def plain_result(found: Answer | Denied) -> dict[str, Any]:
    """Return an answer or a denial as plain data.

    >>> plain_result(Denied("too few"))
    {'denied': True, 'reason': 'too few'}
    """
    if isinstance(found, Denied):
        return {"denied": True, "reason": found.reason}
    plain: dict[str, Any] = {
        "denied": False,
        "columns": list(found.columns),
        "rows": [[_cell(one) for one in row] for row in found.rows],
    }
    return plain if found.epsilon_left is None else plain | {"epsilon_left": found.epsilon_left}


def _cell(value: Any) -> Any:
    if isinstance(value, Bound):
        return value.to_dict()
    if isinstance(value, dt.date | dt.datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):  # JSON has no such numbers
        return "Infinity" if value > 0 else "-Infinity"
    return value
