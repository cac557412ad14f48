"""The registry of auditors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.params import unknown
from discreet.output.audit.auditor import Auditor
from discreet.output.audit.boolean import BooleanAuditor
from discreet.output.audit.extrema import ExtremaAuditor
from discreet.output.audit.interval import IntervalAuditor
from discreet.output.audit.private import PrivateAnswers
from discreet.output.audit.sums import SumAuditor

AUDITORS: dict[str, type[Auditor]] = {
    kind.name: kind for kind in (SumAuditor, ExtremaAuditor, BooleanAuditor, IntervalAuditor, PrivateAnswers)
}
"""Every auditor by its name on the command line."""


def auditor_from_dict(plain: Mapping[str, Any]) -> Auditor:
    """Return the auditor that ``to_dict`` wrote.

    >>> auditor_from_dict({"auditor": "sum", "group": 3, "low": 0})
    SumAuditor(group=3, minimum_set_size=5, max_overlap=None, low=0, high=None, step=None)
    """
    name = plain.get("auditor")
    if name not in AUDITORS:
        raise unknown("auditor_from_dict", "auditor", name, AUDITORS)
    return AUDITORS[name](**{key: value for key, value in plain.items() if key != "auditor"})
