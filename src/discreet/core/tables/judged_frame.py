"""Frames that are judged as they are: roles for the columns that are named, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.core.errors import ParameterError
from discreet.core.params import InstanceOf, require
from discreet.core.schema import Column, Role
from discreet.core.tables.source import source_of
from discreet.core.tables.table import Table

_NAMES = InstanceOf((list, tuple), "a list of names of columns")


def as_table(
    owner: Any,
    frame: Any,
    quasi: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    person: str | None,
    identifier: Sequence[str] = (),
) -> Table:
    """Return a frame as a table with roles for the named columns; all others are published or judged as they are."""
    source = source_of(frame)
    if quasi is None:
        raise ParameterError(
            f"{type(owner).__name__} needs the columns of a frame that others may know: quasi=[...], with "
            "sensitive=[...] where the guarantee is about values."
        )
    for name, columns in (("quasi", quasi), ("sensitive", sensitive or ()), ("identifier", identifier)):
        require(owner, name, columns, _NAMES)
    require(owner, "person", person, InstanceOf((str, type(None)), "None or the name of a column"))
    roles = dict.fromkeys(source.names, Column(Role.OTHER))
    roles |= dict.fromkeys(identifier, Column(Role.IDENTIFIER))
    roles |= dict.fromkeys(sensitive or (), Column(Role.SENSITIVE))
    roles |= dict.fromkeys(quasi, Column(Role.QUASI))
    if person is not None:
        roles[person] = Column(Role.PERSON)
    return Table(source, roles)
