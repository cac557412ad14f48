"""Auditors from plain data, as vaults keep them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.params import unknown
from discreet.core.registry import AUDITORS
from discreet.output.audit.auditor import Auditor


def auditor_from_dict(record: Mapping[str, Any]) -> Auditor:
    """Return the auditor that ``to_dict`` wrote.

    >>> auditor_from_dict({"auditor": "sum", "group": 3, "low": 0})
    SumAuditor(group=3, minimum_set_size=5, max_overlap=None, low=0, high=None, step=None)
    """
    name = record.get("auditor")
    if name not in AUDITORS:
        raise unknown("auditor_from_dict", "auditor", name, AUDITORS)
    kind: type[Auditor] = AUDITORS[name].load()
    return kind(**{key: value for key, value in record.items() if key != "auditor"})
