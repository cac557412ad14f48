"""Whom earlier m-invariant releases held, by keyed digests, and the values of their groups; the owner's alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.core.pseudonym import pseudonym
from discreet.core.release import Release
from discreet.core.schema import Role
from discreet.core.tables.labels import texts
from discreet.core.tables.table import Table
from discreet.engines.folders import RECORD, described_file, read_json
from discreet.guarantees import MInvariance
from discreet.publish.recipes.recipe import private_part

Value: TypeAlias = str | None
Signature: TypeAlias = tuple[Value, ...]
"""The sensitive values of a group, in order."""
STATE = "m_invariance"
NOBODY = -1
"""The place of a counterfeit among the rows."""


@dataclass(frozen=True, repr=False)
class ReleasedGroups:
    """Whom earlier releases held, by keyed digests, and the values of their groups."""

    key: bytes
    signatures: Mapping[str, Signature]
    n_releases: int
    follows: str | None = None
    """The digest of the release.json of the release before, where it was written."""

    @classmethod
    def of(
        cls, previous: Any, table: Table, guarantee: MInvariance, rng: np.random.Generator
    ) -> ReleasedGroups:
        """Return the state after the release before, which must be one of the same columns."""
        if previous is None:
            return cls(rng.bytes(32), {}, 0)
        if isinstance(previous, Release):
            return cls._read(previous.private.get(STATE), previous.recipe, table, guarantee)
        if isinstance(previous, Mapping):
            key = rng.bytes(32)
            signatures = {
                pseudonym(str(who), key): tuple(sorted(set(each), key=null_first))
                for who, each in previous.items()
            }
            if any(len(each) < guarantee.m for each in signatures.values()):
                raise ParameterError(f"Somebody's earlier group had fewer than m={guarantee.m} values.")
            return cls(key, signatures, 1)
        record = Path(previous) / RECORD
        try:
            public, private = read_json(record), private_part(record)
        except (OSError, ValueError, RecursionError):
            raise InputError(f"{previous} is no release that can be read.") from None
        if not isinstance(public, dict) or not isinstance(private, dict):
            raise InputError(
                f"{previous} has no private folder beside it, which says who was in which group: bring it back."
            )
        state = cls._read(private.get(STATE), public, table, guarantee)
        return replace(state, follows=str(described_file(record)["sha256"]))

    @classmethod
    def _read(
        cls, state: Any, recipe: Mapping[str, Any], table: Table, guarantee: MInvariance
    ) -> ReleasedGroups:
        try:
            key, n_releases, m = bytes.fromhex(state["key"]), int(state["releases"]), int(state["m"])
            known = [tuple(each) for each in state["signatures"]]
            signatures = {who: known[number] for who, number in state["people"].items()}
            columns = {each["name"]: each["role"] for each in recipe["columns"]}
            trees = dict(state["trees"])
        except (TypeError, KeyError, ValueError, IndexError, AttributeError):
            raise InputError(
                "The release before is none with m-invariance, or its private folder is damaged."
            ) from None
        if m != guarantee.m:
            raise ParameterError(
                f"The release before was made with m={m}, and this one with m={guarantee.m}: use one m."
            )
        judged = {
            name: role.role.value
            for name, role in table.schema.items()
            if role.role in (Role.QUASI, Role.SENSITIVE)
        }
        if judged != {name: role for name, role in columns.items() if role in ("quasi", "sensitive")}:
            raise SchemaError(
                "The release before has other quasi-identifiers or another sensitive column: use the same roles."
            )
        for name, tree in trees_of(table).items():
            if tree != trees.get(name):
                raise SchemaError(
                    f"The release before generalized '{name}' by another hierarchy: use the same one."
                )
        return cls(key, signatures, n_releases)

    def digests(self, table: Table) -> list[str]:
        """Return the digest of the person of each row."""
        whose = str(table.schema.person)
        keys = texts(table.encoded[whose].values).to_pylist()
        return [pseudonym(keys[code - 1], self.key) for code in table.codes(whose).tolist()]

    def refuse_changed(self, people: list[str], value: list[Value]) -> None:
        """Refuse people whose sensitive value is none of those that their earlier groups had."""
        pairs = zip(people, value, strict=True)
        changed = sum(each not in self.signatures.get(who, (each,)) for who, each in pairs)
        if changed:
            raise InputError(
                f"{changed:,} people have another sensitive value than when they were released before: m-invariance is "
                "about values that never change, so leave them out, or keep the value that was released."
            )

    def grown(
        self,
        people: list[str],
        groups: list[dict[Value, int]],
        guarantee: MInvariance,
        trees: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return the state after one more release, as plain data; it keeps everybody who was ever released."""
        signatures = dict(self.signatures)
        for group in groups:
            signature = tuple(sorted(group, key=null_first))
            signatures |= {people[member]: signature for member in group.values() if member != NOBODY}
        known = sorted(set(signatures.values()), key=signature_order)
        number = {signature: at for at, signature in enumerate(known)}
        return {
            "key": self.key.hex(),
            "m": guarantee.m,
            "releases": self.n_releases + 1,
            "trees": trees,
            "signatures": [list(each) for each in known],
            "people": {who: number[signatures[who]] for who in sorted(signatures)},
        }


def null_first(value: Value) -> tuple[bool, str]:
    """Return what puts values in order, null first."""
    return value is not None, value or ""


def signature_order(signature: Signature) -> tuple[int, list[tuple[bool, str]]]:
    """Return what puts signatures in order, short ones first."""
    return len(signature), [null_first(value) for value in signature]


def trees_of(table: Table) -> dict[str, Any]:
    """Return the hierarchy of each quasi-identifier as plain data, as JSON gives it back."""
    specs = {name: table.schema[name].hierarchy for name in table.schema.quasi}
    return {
        name: None if spec is None else json.loads(json.dumps(spec.to_dict())) for name, spec in specs.items()
    }
