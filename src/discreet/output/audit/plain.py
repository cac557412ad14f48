"""Answers and denials as plain data for JSON."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

from discreet.output.audit.auditor import Answer, Bound, Denied


def plain_result(result: Answer | Denied) -> dict[str, Any]:
    """Return an answer or a denial as plain data.

    >>> plain_result(Denied("too few"))
    {'denied': True, 'reason': 'too few'}
    """
    if isinstance(result, Denied):
        return {"denied": True, "reason": result.reason}
    record: dict[str, Any] = {
        "denied": False,
        "columns": list(result.columns),
        "rows": [[_cell(value) for value in row] for row in result.rows],
    }
    return record if result.epsilon_left is None else record | {"epsilon_left": result.epsilon_left}


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
