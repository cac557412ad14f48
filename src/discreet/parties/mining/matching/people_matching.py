"""Matching people of several parties by private set intersection on normalized keys."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import InstanceOf, IntIn, require
from discreet.parties.mining.matching.keys import normalized_keys
from discreet.parties.mining.matching.people import matched_rows, matching_frames
from discreet.parties.protocol import Party, Protocol
from discreet.parties.sets.two_sets import MAX_SIZE
from discreet.parties.transcript import FrameShape


@public
@dataclass(frozen=True)
class PeopleMatching(Protocol):
    """A party's own rows of the people that all parties hold, in an order that is the same at every party.

    Tables of the same people, matched in this way, can be mined together. Keys are compared in one spelling: without
    case, with single spaces, and with equal characters written in one way (NFKC). Every party learns which of its
    people all the others hold as well. Of the others it learns nothing, not even how many there are: every set
    travels at the size ``max_people``.

    Parameters
    ----------
    key : str
        The column that names the person; every person has one row.
    max_people : int
        The most people a party may hold; a party can put in as many keys that it guessed, and learns which of them
        all others hold. Agree on little more than the largest true number.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> clinic = {"name": ["Ada Byron", "Bob Ray", "Eve Day"], "asthma": [1, 0, 1]}
    >>> insurer = {"name": ["EVE  DAY", "ada byron"], "claims": [3, 1]}
    >>> matching = PeopleMatching(key="name", max_people=10)
    >>> run = simulate(matching, {"clinic": clinic, "insurer": insurer}, coins=b"fixed")
    >>> run.outputs["clinic"].to_pydict(), run.outputs["insurer"]["claims"].to_pylist()
    ({'name': ['Eve Day', 'Ada Byron'], 'asthma': [1, 1]}, [3, 1])
    """

    key: str
    max_people: int

    name: ClassVar[str] = "matching"

    def __post_init__(self) -> None:
        require(self, "key", self.key, InstanceOf((str,), "the name of a column"))
        require(self, "max_people", self.max_people, IntIn(1, MAX_SIZE))

    @property
    def leaks(self) -> tuple[str, ...]:
        """What each party learns beyond its matched rows."""
        return matching_leaks(self.max_people)

    def frames(self, names: Sequence[str]) -> Iterator[FrameShape]:
        """Return the frames of a run."""
        return matching_frames(names, self.max_people)

    def run(self, party: Party, data: Any) -> pa.Table:
        """Match the rows of a party's table: any frame, or a mapping of columns."""
        table, keys = self._checked(data)
        return table.take(matched_rows(party, keys, max_people=self.max_people))

    def check_input(self, data: Any, names: Sequence[str], name: str) -> None:
        """Raise an InputError unless the party could run with this table."""
        del names, name
        self._checked(data)

    def read_input(self, path: str | os.PathLike[str]) -> pa.Table:
        """Read the table; the key is read as text."""
        return read_keyed(path, self.key)

    def result_files(self, output: pa.Table) -> dict[str, Any]:
        """Return the matched rows, in the agreed order."""
        return {"matched.csv": output}

    def _checked(self, data: Any) -> tuple[pa.Table, dict[bytes, int]]:
        table = arrow_table(data)
        return table, keys_of(table, self.key, max_people=self.max_people)


def matching_leaks(max_people: int) -> tuple[str, ...]:
    """Return what matching reveals beyond its output."""
    return (
        "Every party learns which of its people all the other parties hold.",
        (
            "Of three and more parties the first learns which of its people the second one holds, which of those the "
            "third one holds, and so on."
        ),
        (
            f"A party can put in {max_people:,} keys that it guessed, as many as 'max_people' admits, and learns "
            "which of them all the other parties hold."
        ),
    )


def arrow_table(data: Any) -> pa.Table:
    """Return any frame, or a mapping of columns, as an Arrow table."""
    import narwhals as nw

    if isinstance(data, pa.Table):
        return data
    try:
        if isinstance(data, dict):
            return pa.table(data)
        return pa.table(nw.from_native(data, eager_only=True).to_arrow())
    except (TypeError, ValueError, pa.ArrowException):
        raise InputError("The data of a party must be a table: a frame, or a mapping of columns.") from None


def keys_of(table: pa.Table, key: str, *, max_people: int) -> dict[bytes, int]:
    """Return the row of each key of a table."""
    if key not in table.column_names:
        raise InputError(f"The data has no column '{key}', which the session names as the key.")
    return normalized_keys(table.column(key).to_pylist(), max_people=max_people)


def read_keyed(path: str | os.PathLike[str], key: str) -> pa.Table:
    """Read a table whose key is text as it is written, leading zeros included."""
    from discreet.core import engine
    from discreet.core.tables.encoding import require_flat
    from discreet.engines.files import read

    text = (key,) if key in read(path).columns else ()
    return require_flat(engine.arrow_table(read(path, text=text)))
