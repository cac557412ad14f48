"""Roles: which column identifies, which is quasi-identifying, which is sensitive, and how each may be published."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import BOOL, POSITIVE, InstanceOf, require

if TYPE_CHECKING:
    from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec

SHORTEST_KEY = 16
"""The bytes that a secret key must have at least, so that nobody guesses it."""


class Role(enum.Enum):
    """What a column could do to a person."""

    IDENTIFIER = "identifier"
    """Names a person: dropped, or replaced by keyed pseudonyms."""
    PERSON = "person"
    """Whose row it is, where a person, a household or a site has several: classes count these, not rows."""
    QUASI = "quasi"
    """Known to others, and identifying in combination: generalized."""
    SENSITIVE = "sensitive"
    """What must not be learned about a person: published exactly, inside a class."""
    OTHER = "other"
    """Neither: published as it is."""
    DROP = "drop"
    """Not needed: dropped, whatever it is."""


DROPPED = (Role.IDENTIFIER, Role.PERSON, Role.DROP)
"""The roles of columns that are published as keyed pseudonyms or not at all."""


@public
@dataclass(frozen=True)
class Column:
    """A column's role and how it may be published; made by `quasi`, `sensitive`, `identifier` and so on."""

    role: Role
    hierarchy: HierarchySpec | Hierarchy | None = None
    weight: float = 1.0
    ordered: tuple[object, ...] | None = field(default=None, repr=False)
    key: bytes | None = field(default=None, repr=False)
    allow_unique: bool = False


@public
def identifier(*, pseudonym: bytes | str | None = None) -> Column:
    """Mark a column that names a person: dropped, or replaced by an HMAC-SHA-256 pseudonym under the given key."""
    return Column(Role.IDENTIFIER, key=_key("identifier", pseudonym))


@public
def drop() -> Column:
    """Mark a column that nobody needs: dropped, whatever it is."""
    return Column(Role.DROP)


@public
def person(*, pseudonym: bytes | str | None = None) -> Column:
    """Mark the column that says whose row it is: a person, a household, a site, any unit with several rows.

    Guarantees and risks then count distinct units instead of rows, and a unit counts once for each sensitive value it
    has in a class. The column is dropped, or replaced by an HMAC-SHA-256 pseudonym under the given key. A missing value
    counts as one unit for all rows that miss it, the safe reading.
    """
    return Column(Role.PERSON, key=_key("person", pseudonym))


@public
def quasi(
    hierarchy: HierarchySpec | Hierarchy | None = None,
    *,
    weight: float = 1.0,
    ordered: Sequence[object] | None = None,
    allow_unique: bool = False,
) -> Column:
    """Mark a quasi-identifier, with its generalization tree, its weight in the loss, or the order of its categories.

    ``allow_unique`` lets condensation draw from values that nearly every row has for itself.
    """
    require("quasi", "weight", weight, POSITIVE)
    require("quasi", "allow_unique", allow_unique, BOOL)
    if hierarchy is not None and ordered is not None:
        raise SchemaError("A quasi-identifier takes a hierarchy or an order, not both.")
    order = None if ordered is None else tuple(ordered)
    return Column(Role.QUASI, hierarchy, float(weight), order, allow_unique=allow_unique)


@public
def sensitive(
    hierarchy: HierarchySpec | Hierarchy | None = None, *, ordered: Sequence[object] | None = None
) -> Column:
    """Mark a sensitive column; the tree or the order serves the distances of t-closeness."""
    return Column(Role.SENSITIVE, hierarchy, ordered=None if ordered is None else tuple(ordered))


@public
def other(*, allow_unique: bool = False) -> Column:
    """Mark a column that is published as it is.

    A release is refused where such columns, alone or together, single out many rows; ``allow_unique`` publishes the
    column all the same, and leaves it out of that judgment.
    """
    require("other", "allow_unique", allow_unique, BOOL)
    return Column(Role.OTHER, allow_unique=allow_unique)


@public
@dataclass(frozen=True)
class Schema(Mapping[str, Column]):
    """The roles of a table's columns, by name.

    >>> schema = Schema({"age": quasi(), "disease": sensitive()})
    >>> schema.quasi, schema.sensitive
    (('age',), ('disease',))
    """

    columns: Mapping[str, Column]

    def __post_init__(self) -> None:
        wrong = [name for name, column in self.columns.items() if not isinstance(column, Column)]
        if wrong:
            raise SchemaError(
                f"Roles are given with identifier(), person(), quasi(), sensitive() or other(): {_listed(wrong)}."
            )
        object.__setattr__(self, "columns", dict(self.columns))

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def named(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with a role, in order."""
        return tuple(name for name, column in self.columns.items() if column.role is role)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.named(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return self.named(Role.SENSITIVE)

    @property
    def person(self) -> str | None:
        """The column that says whose row it is; None where every row is somebody else's."""
        return next(iter(self.named(Role.PERSON)), None)

    def fitted(self, names: Sequence[str]) -> Schema:
        """Check the roles against a frame's columns, and put them in the frame's order."""
        twice = sorted({name for name in names if list(names).count(name) > 1})
        if twice:
            raise SchemaError(f"The table has several columns of the same name ({len(twice)} such names).")
        absent = [name for name in self.columns if name not in names]
        if absent:
            raise SchemaError(f"A role is given for {_listed(absent)}, which the table does not have.")
        bare = [name for name in names if name not in self.columns]
        if bare and not self.columns:
            raise SchemaError(
                "Every column needs a role, and none has one: identifier, quasi, sensitive or other."
            )
        if bare:
            raise SchemaError(
                f"Every column needs a role; {_listed(bare)} has none. Mark it identifier, quasi, sensitive or other."
            )
        if len(self.named(Role.PERSON)) > 1:
            raise SchemaError(
                f"Only one column can say whose row it is; {_listed(self.named(Role.PERSON))} do."
            )
        if not self.quasi:
            raise SchemaError("The table has no quasi-identifier: mark at least one column quasi.")
        return Schema({name: self.columns[name] for name in names})

    def released(self) -> Schema:
        """Return the roles of a released table: quasi-identifiers hold opaque labels, pseudonyms are plain columns."""
        columns: dict[str, Column] = {}
        for name, column in self.columns.items():
            if column.role is Role.QUASI:
                columns[name] = Column(Role.QUASI)
            elif column.role in DROPPED:
                if column.key is not None:
                    columns[name] = Column(Role.OTHER if column.role is Role.IDENTIFIER else Role.PERSON)
            else:
                columns[name] = replace(column, weight=1.0)
        return Schema(columns)


def quasi_weights(schema: Schema, factors: Mapping[str, float] | None, *, owner: object) -> list[float]:
    """Return the weight of each quasi-identifier: its own, times the parameter ``weights`` of the owner."""
    factors = factors or {}
    for name, factor in factors.items():
        if name not in schema.quasi:
            raise SchemaError(f"A weight is given for '{name}', which is no quasi-identifier.")
        require(owner, "weights", factor, POSITIVE)
    return [schema[name].weight * factors.get(name, 1.0) for name in schema.quasi]


def _key(role: str, pseudonym: bytes | str | None) -> bytes | None:
    """Return the key of pseudonyms as bytes; one that can be guessed is refused."""
    require(role, "pseudonym", pseudonym, InstanceOf((bytes, str, type(None)), "None or a secret key"))
    key = pseudonym.encode() if isinstance(pseudonym, str) else pseudonym
    if key is not None and len(key) < SHORTEST_KEY:
        raise SchemaError(
            f"A pseudonym key needs at least {SHORTEST_KEY} bytes, or pseudonyms can be guessed."
        )
    return key


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(f"'{name}'" for name in names[:5])
    return listed if len(names) <= 5 else f"{listed} and {len(names) - 5} more"
