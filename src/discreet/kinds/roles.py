"""Roles of columns, as a job names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from discreet.core.errors import SchemaError
from discreet.core.params import InstanceOf, require
from discreet.core.schema import (
    DROPPED,
    Column,
    Role,
    Schema,
    drop,
    identifier,
    other,
    person,
    quasi,
    sensitive,
)
from discreet.kinds.hierarchies import hierarchy_from, key_from
from discreet.kinds.wording import nearest_name, quoted_list, refuse_unknown

_KEYS = {
    Role.IDENTIFIER: ("pseudonym",),
    Role.PERSON: ("pseudonym",),
    Role.QUASI: ("hierarchy", "weight", "ordered", "allow_unique"),
    Role.SENSITIVE: ("hierarchy", "ordered"),
    Role.OTHER: ("allow_unique",),
    Role.DROP: (),
}


class MissingRoleError(SchemaError):
    """Columns without a role; ``names`` holds them, so that a caller can say how to give them one."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        verb = "has" if len(names) == 1 else "have"
        super().__init__(f"Every column needs a role; {quoted_list(names)} {verb} none.")


def column_from(name: str, entry: object, folder: Path) -> Column:
    """Read one column's role and how it may be published."""
    where = f"[columns.{name}]"
    if not isinstance(entry, Mapping) or "role" not in entry:
        raise SchemaError(
            f'{where} needs a role: role = "identifier", "person", "quasi", "sensitive", "other" or "drop".'
        )
    roles = [role.value for role in Role]
    if entry["role"] not in roles:
        raise SchemaError(f"{where} has an unknown role{nearest_name(entry['role'], roles)}")
    role = Role(entry["role"])
    refuse_unknown(where, entry, ("role", *_KEYS[role]))
    hierarchy = entry.get("hierarchy")
    spec = None if hierarchy is None else hierarchy_from(hierarchy, column=name, folder=folder)
    ordered = entry.get("ordered")
    require(where, "ordered", ordered, InstanceOf((list, tuple, type(None)), "a list of the column's values"))
    if role is Role.DROP:
        return drop()
    if role in DROPPED:
        key = entry.get("pseudonym")
        dropped = identifier if role is Role.IDENTIFIER else person
        return dropped(pseudonym=None if key is None else key_from(key, column=name, folder=folder))
    unique = entry.get("allow_unique", False)
    require(where, "allow_unique", unique, InstanceOf((bool,), "true or false"))
    if role is Role.QUASI:
        return quasi(spec, weight=entry.get("weight", 1.0), ordered=ordered, allow_unique=unique)
    return other(allow_unique=unique) if role is Role.OTHER else sensitive(spec, ordered=ordered)


def _hint(name: str, columns: Iterable[str], names: Sequence[str]) -> str:
    """End a sentence with the column that may have been meant; names are listed only if some were right.

    Where none is, the first line may be a record, which must not be shown.
    """
    hint = nearest_name(name, names)
    if "did you mean" in hint or any(column in names for column in columns):
        return hint
    return ", nor any other column that was named. Does its first line hold the names of the columns?"


def complete(columns: Mapping[str, Column], names: Sequence[str], *, rest: Role | None) -> Schema:
    """Put roles on all columns of a table; the ones not named get the role ``rest``, or are refused."""
    for name in columns:
        if name not in names:
            raise SchemaError(
                f"A role is given for '{name}', which the table does not have{_hint(name, columns, names)}"
            )
    bare = [name for name in names if name not in columns]
    if bare and rest is None:
        raise MissingRoleError(bare)
    return Schema({**columns, **{name: Column(rest) for name in bare if rest is not None}})
