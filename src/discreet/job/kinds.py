"""Kinds of data: how a job describes each, how it is read, and what a method needs to know of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.core.params import Constraint, InstanceOf, IntIn, OneOf, require
from discreet.core.registry import Data, Method
from discreet.core.schema import (
    DROPPED,
    SHORTEST_KEY,
    Column,
    Role,
    Schema,
    identifier,
    other,
    person,
    quasi,
    sensitive,
)
from discreet.core.tables.spreadsheet import defused_text
from discreet.engines.formats import WRITTEN, output_format
from discreet.guarantees import Guarantee, RulesHidden
from discreet.job.hierarchies import hierarchy_from, key_from
from discreet.job.wording import listed, nearest, refuse_unknown

if TYPE_CHECKING:
    from discreet.job.model import Job

TEXT = InstanceOf((str,), "a text")
TEXTS = InstanceOf((list, tuple), "a list of texts")
_COLUMN = {
    Role.IDENTIFIER: ("pseudonym",),
    Role.PERSON: ("pseudonym",),
    Role.QUASI: ("hierarchy", "weight", "ordered", "allow_unique"),
    Role.SENSITIVE: ("hierarchy", "ordered"),
    Role.OTHER: ("allow_unique",),
}


class MissingRoleError(SchemaError):
    """Columns without a role; ``names`` holds them, so that a caller can say how to give them one."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        verb = "has" if len(names) == 1 else "have"
        super().__init__(f"Every column needs a role; {listed(names)} {verb} none.")


@public
@dataclass(frozen=True)
class BasketSection:
    """What a job says of baskets.

    Parameters
    ----------
    sensitive
        The names of the sensitive items, for a privacy degree.
    hierarchy
        The tree over the items, for k^m-anonymity; None joins neighboring items.
    """

    sensitive: Sequence[Any] = ()
    hierarchy: Any = None


@public
@dataclass(frozen=True)
class SketchSection:
    """What a job says of sketches.

    Parameters
    ----------
    key
        The secret key, as bytes or text; of at least 16 bytes, since a release confirms a key that is guessed.
    components
        The longest sketch.
    """

    key: bytes | str = field(repr=False)
    components: int = 128

    def __post_init__(self) -> None:
        """Refuse a key that can be guessed."""
        if isinstance(self.key, bytes | str) and 0 < len(self.key) < SHORTEST_KEY:
            raise InputError(
                f"The key of sketches needs at least {SHORTEST_KEY} bytes, or it can be guessed."
            )


class Kind(ABC):
    """One kind of data in jobs."""

    takes: ClassVar[Data]
    """The kind of data as the registry of methods names it."""
    section: ClassVar[str]
    """The table of a job file, and the field of a job, that describes the data."""
    noun: ClassVar[str]
    """The data in an error message."""
    formats: ClassVar[tuple[str, ...]]
    """The formats in which releases can be written."""
    reading: ClassVar[Mapping[str, Constraint]]
    """How a file is read: the keys of [input] beside its path."""

    @abstractmethod
    def parse(self, given: Mapping[str, Any], folder: Path) -> Any:
        """Read the kind's section of a job file."""

    def check(self, job: Job, method: Method) -> None:
        """Refuse a job that does not fit together; by default anything fits."""
        del job, method

    def promise(self, job: Job) -> Guarantee | None:
        """Return the guarantee about the data as it is read: by default the one that the job names."""
        return job.guarantee

    @abstractmethod
    def read(self, job: Job) -> Any:
        """Read the data as publishers take it."""

    def arguments(self, job: Job, method: Method) -> dict[str, Any]:
        """Return the arguments of a method that the section supplies."""
        del job, method
        return {}

    def output_format(self, job: Job) -> str | None:
        """Return the format of the written data; None where there is but one."""
        return job.format or "csv"


class TableKind(Kind):
    """Tables: every column has a role."""

    takes = "table"
    section = "columns"
    noun = "tables"
    formats = WRITTEN
    reading: ClassVar[Mapping[str, Constraint]] = {
        "delimiter": TEXT,
        "encoding": TEXT,
        "quote": TEXT,
        "header": InstanceOf((bool,), "true or false"),
        "decimal": TEXT,
        "thousands": TEXT,
        "nulls": TEXTS,
        "dates": TEXT,
        "text": TEXTS,
        "sheet": InstanceOf((str, int), "a name or a number"),
        "labels": InstanceOf((bool,), "true or false"),
    }

    def parse(self, given: Mapping[str, Any], folder: Path) -> dict[str, Column]:
        """Read the roles of the columns."""
        return {str(name): column_from(name, one, folder) for name, one in given.items()}

    def read(self, job: Job) -> Any:
        """Read the table, with a role for every column."""
        from discreet.core.tables.source import source_of
        from discreet.core.tables.table import Table
        from discreet.engines.files import read

        frame = read(job.data, **job.reading) if job.is_file else job.data
        source = source_of(frame)
        roles = complete(job.columns or {}, source.names, rest=job.rest)
        return Table(source, roles, spreadsheet_safe=job.spreadsheet_safe)

    def output_format(self, job: Job) -> str | None:
        """Return the format of the written data: the input's by default."""
        return job.format or (output_format(Path(job.data)) if job.is_file else "csv")


class BasketKind(Kind):
    """Baskets: some items are sensitive, or a tree joins them."""

    takes = "baskets"
    section = "baskets"
    noun = "baskets"
    formats = ("csv", "tsv", "parquet", "arrow")
    reading: ClassVar[Mapping[str, Constraint]] = dict.fromkeys(
        ("format", "basket", "item", "delimiter"), TEXT
    )

    def parse(self, given: Mapping[str, Any], folder: Path) -> BasketSection:
        """Read the sensitive items and the tree over the items."""
        refuse_unknown("[baskets]", given, ("sensitive", "hierarchy"))
        named = given.get("sensitive", [])
        require("baskets", "sensitive", named, InstanceOf((list, tuple), "a list of items"))
        tree = given.get("hierarchy")
        spec = None if tree is None else hierarchy_from(tree, column="item", folder=folder)
        return BasketSection(list(named), spec)

    def check(self, job: Job, method: Method) -> None:
        """Refuse sensitive items or a hierarchy that the method has no use for."""
        about = job.baskets or BasketSection()
        if job.spreadsheet_safe and about.hierarchy is not None:
            raise ParameterError(
                "Items under a hierarchy are not renamed. Rename those that start as a formula does in the baskets and "
                "in the hierarchy, and leave spreadsheet_safe out."
            )
        if method.role == "hider":
            if about.sensitive or about.hierarchy is not None:
                raise ParameterError(
                    "The sensitive rules stand in the guarantee; [baskets] names no items and no hierarchy for them."
                )
        elif "sensitive" in method.supplied:
            if not about.sensitive:
                raise ParameterError("A privacy degree needs sensitive items, and the job names none.")
            if about.hierarchy is not None:
                raise ParameterError(
                    "A hierarchy of items belongs to km-anonymity; a privacy degree has no use for it."
                )
        elif about.sensitive:
            raise ParameterError("For km-anonymity no item is sensitive, or all are; name none.")

    def promise(self, job: Job) -> Guarantee | None:
        """Return the guarantee; its rules name the items as those of the baskets are renamed."""
        if job.spreadsheet_safe and isinstance(job.guarantee, RulesHidden):
            return job.guarantee.renamed(defused_text)
        return job.guarantee

    def read(self, job: Job) -> Any:
        """Read the baskets."""
        from discreet.core.baskets.baskets import Baskets
        from discreet.engines.baskets.files import read_baskets

        if job.is_file:
            baskets = read_baskets(job.data, **job.reading)
        else:
            require(job, "data", job.data, InstanceOf((Baskets,), "the path of a file, or Baskets"))
            baskets = job.data
        return baskets.spreadsheet_safe() if job.spreadsheet_safe else baskets

    def arguments(self, job: Job, method: Method) -> dict[str, Any]:
        """Return the sensitive items or the tree over the items, whichever the method takes."""
        about = job.baskets or BasketSection()
        named = [defused_text(name) for name in about.sensitive] if job.spreadsheet_safe else about.sensitive
        known = {"sensitive": list(named), "hierarchy": about.hierarchy}
        return {name: value for name, value in known.items() if name in method.supplied}


class SketchKind(Kind):
    """Records that are published as sketches: texts or baskets."""

    takes = "records"
    section = "sketches"
    noun = "sketches"
    formats = ()
    reading: ClassVar[Mapping[str, Constraint]] = {
        **TableKind.reading,
        **BasketKind.reading,
        "column": TEXT,
        "weights": OneOf(("tf-idf", "counts")),
        "min_texts": IntIn(1),
    }

    def parse(self, given: Mapping[str, Any], folder: Path) -> SketchSection:
        """Read where the key is, and the longest sketch."""
        refuse_unknown("[sketches]", given, ("key", "components"))
        if "key" not in given:
            raise InputError('[sketches] needs a key: key = "env:NAME" or "file:PATH" says where it is.')
        key = key_from(given["key"], column="sketches", folder=folder)
        return SketchSection(key, given.get("components", 128))

    def read(self, job: Job) -> Any:
        """Read the records; those that hold nothing are left out."""
        return read_records(Path(job.data), **job.reading)[0] if job.is_file else job.data

    def arguments(self, job: Job, method: Method) -> dict[str, Any]:
        """Return the family that makes the sketches."""
        del method
        from discreet.publish.sketches.family import SketchFamily

        about = job.sketches
        if about is None:
            raise ParameterError("A job for sketches needs a key.")
        return {"family": SketchFamily(about.key, about.components)}

    def output_format(self, job: Job) -> str | None:
        """Return None: sketches are written in one format."""
        return None


KINDS: tuple[Kind, ...] = (TableKind(), BasketKind(), SketchKind())
"""Every kind of data that a job can be about; a job file without any of their sections is about a table."""


def read_records(path: Path, **options: Any) -> tuple[Any, int]:
    """Read records to be sketched, and count the empty ones that were left out.

    A folder holds texts, a ``column`` of a table does, and any other file holds baskets.
    """
    import numpy as np

    from discreet.core.sparse_rows import SparseRows
    from discreet.engines.baskets.files import read_baskets
    from discreet.engines.files import read
    from discreet.engines.texts import text_rows

    column = options.pop("column", None)
    words = {name: options.pop(name) for name in ("weights", "min_texts") if name in options}
    if path.is_dir():
        texts = text_rows(path, **words, **options)
    elif column is not None:
        options["text"] = [*options.get("text", ()), column]
        texts = text_rows(read(path, **options), column=column, **words)
    else:
        baskets = read_baskets(path, **options, **words)
        held = np.flatnonzero(baskets.lengths)
        if not held.size:
            raise InputError(f"{path} holds no items, so there is nothing to sketch.")
        return baskets.take(held), len(baskets) - held.size
    return SparseRows.of(texts.filled().rows, names=texts.names), int(texts.empty.sum())


def column_from(name: str, given: object, folder: Path) -> Column:
    """Read one column's role and how it may be published."""
    where = f"[columns.{name}]"
    if not isinstance(given, Mapping) or "role" not in given:
        raise SchemaError(
            f'{where} needs a role: role = "identifier", "person", "quasi", "sensitive" or "other".'
        )
    roles = [role.value for role in Role]
    if given["role"] not in roles:
        raise SchemaError(f"{where} has an unknown role{nearest(given['role'], roles)}")
    role = Role(given["role"])
    refuse_unknown(where, given, ("role", *_COLUMN[role]))
    hierarchy = given.get("hierarchy")
    spec = None if hierarchy is None else hierarchy_from(hierarchy, column=name, folder=folder)
    ordered = given.get("ordered")
    require(where, "ordered", ordered, InstanceOf((list, tuple, type(None)), "a list of the column's values"))
    if role in DROPPED:
        place = given.get("pseudonym")
        made = identifier if role is Role.IDENTIFIER else person
        return made(pseudonym=None if place is None else key_from(place, column=name, folder=folder))
    unique = given.get("allow_unique", False)
    require(where, "allow_unique", unique, InstanceOf((bool,), "true or false"))
    if role is Role.QUASI:
        return quasi(spec, weight=given.get("weight", 1.0), ordered=ordered, allow_unique=unique)
    return other(allow_unique=unique) if role is Role.OTHER else sensitive(spec, ordered=ordered)


def _hint(name: str, columns: Iterable[str], names: Sequence[str]) -> str:
    """End a sentence with the column that may have been meant; names are listed only if some were right.

    Where none is, the first line may be a record, which must not be shown.
    """
    hint = nearest(name, names)
    if "did you mean" in hint or any(one in names for one in columns):
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
