"""Query auditing: data that answers aggregate queries until an answer could disclose a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazily import lazily

if TYPE_CHECKING:
    from discreet.output.audit.auditor import Answer, Auditor, Bound, Denied
    from discreet.output.audit.boolean import BooleanAuditor
    from discreet.output.audit.errors import DataChangedError, LogError, QueryError, VaultInUseError
    from discreet.output.audit.extrema import ExtremaAuditor
    from discreet.output.audit.interval import IntervalAuditor
    from discreet.output.audit.private import PrivateAnswers
    from discreet.output.audit.sums import SumAuditor
    from discreet.output.audit.vault import Vault

_HOMES = {
    "Answer": "auditor",
    "Auditor": "auditor",
    "BooleanAuditor": "boolean",
    "Bound": "auditor",
    "DataChangedError": "errors",
    "Denied": "auditor",
    "ExtremaAuditor": "extrema",
    "IntervalAuditor": "interval",
    "LogError": "errors",
    "PrivateAnswers": "private",
    "QueryError": "errors",
    "SumAuditor": "sums",
    "Vault": "vault",
    "VaultInUseError": "errors",
}
__all__ = [
    "Answer",
    "Auditor",
    "BooleanAuditor",
    "Bound",
    "DataChangedError",
    "Denied",
    "ExtremaAuditor",
    "IntervalAuditor",
    "LogError",
    "PrivateAnswers",
    "QueryError",
    "SumAuditor",
    "Vault",
    "VaultInUseError",
]
__getattr__ = lazily(__name__, _HOMES)
