"""The configuration of a vault: its columns and its auditor, in a file beside the log, and read from there."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.core.errors import InputError, SchemaError
from discreet.core.params import OneOf, require, unknown
from discreet.core.registry import AUDITORS
from discreet.output.audit.auditor import Auditor
from discreet.output.audit.bounds import decimal
from discreet.output.audit.gate.columns import Nulls

CONFIG = "vault.json"
_FORMAT = 1


@dataclass(frozen=True)
class Config:
    """What a vault was made with."""

    public: tuple[str, ...]
    sensitive: tuple[str, ...]
    auditor: dict[str, Any]
    nulls: Nulls = "refuse"
    pooled: bool = True
    key: str | None = None
    table: str | None = None
    timeout: float = 30.0
    format: int = _FORMAT

    @classmethod
    def of(
        cls,
        sensitive: Sequence[str],
        public: Sequence[str],
        auditor: Auditor,
        nulls: Nulls,
        pooled: bool,
        key: str | None = None,
        table: str | None = None,
    ) -> Config:
        """Return the configuration of a new vault; columns that contradict each other are refused."""
        require("Vault", "nulls", nulls, OneOf(("refuse", "public")))
        require("Vault", "pooled", pooled, OneOf((True, False)))
        names = [*public, *sensitive]
        if not sensitive or isinstance(sensitive, str) or isinstance(public, str):
            raise SchemaError(
                "Name the sensitive and the public columns as lists; at least one is sensitive."
            )
        if len({name.lower() for name in names}) < len(names):
            raise SchemaError("A column is named twice, or two differ by case alone.")
        if key is not None and key in sensitive:
            raise SchemaError("The key column must not be sensitive.")
        return cls(tuple(public), tuple(sensitive), auditor.to_dict(), nulls, pooled, key, table)

    @classmethod
    def read(cls, folder: Path) -> Config:
        """Read the configuration from a vault's folder."""
        try:
            record = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
            config = cls(
                **{**record, "public": tuple(record["public"]), "sensitive": tuple(record["sensitive"])}
            )
            auditor = auditor_from_dict(config.auditor)
        except FileNotFoundError:
            raise InputError(f"{folder} is not a vault: it has no {CONFIG}.") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(f"{folder / CONFIG} cannot be read as that of a vault.") from None
        if config.format != _FORMAT:
            raise InputError(f"{folder} was made by another version of Discreet.")
        missing = auditor.to_dict().keys() - config.auditor.keys()
        if missing:
            # Defaults would judge the log by knowledge that its decisions did not take into account.
            raise InputError(
                f"{folder} was made by an earlier version of Discreet, whose auditor did not know "
                f"{' and '.join(sorted(missing))} of a column. "
                "Its answers may disclose values, and it answers nothing more."
            )
        return config

    def write(self, folder: Path) -> None:
        """Write the configuration into a new vault's folder, readable by its owner alone."""
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"
        descriptor = os.open(folder / CONFIG, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    @property
    def step(self) -> Fraction | None:
        """The step that sensitive values are rounded to; None takes them as they are."""
        return decimal(self.auditor.get("step"))

    @property
    def columns(self) -> list[str]:
        """All columns that are read from the data, each once."""
        return list(dict.fromkeys([*self.public, *self.sensitive, *([self.key] if self.key else [])]))

    @property
    def digest(self) -> str:
        """The digest by which the log recognizes the configuration it was begun with."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


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
