"""Query auditing: data that answers aggregate queries until an answer could disclose a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazily import lazily

if TYPE_CHECKING:
    from discreet.output.audit.auditor import Answer, Auditor, Bound, Denied
    from discreet.output.audit.errors import DataChangedError, LogError, QueryError, VaultInUseError
    from discreet.output.audit.sums import SumAuditor
    from discreet.output.audit.vault import Vault

_HOMES = {
    "Answer": "auditor",
    "Auditor": "auditor",
    "Bound": "auditor",
    "DataChangedError": "errors",
    "Denied": "auditor",
    "LogError": "errors",
    "QueryError": "errors",
    "SumAuditor": "sums",
    "Vault": "vault",
    "VaultInUseError": "errors",
}
__all__ = [
    "Answer",
    "Auditor",
    "Bound",
    "DataChangedError",
    "Denied",
    "LogError",
    "QueryError",
    "SumAuditor",
    "Vault",
    "VaultInUseError",
]
__getattr__ = lazily(__name__, _HOMES)
