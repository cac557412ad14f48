"""Matching people of several parties by private set intersection on normalized keys."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import InstanceOf, IntIn, require
from discreet.parties.protocol import Party, Protocol
from discreet.parties.sets.private_sets import MAX_SIZE
from discreet.parties.sets.set_intersection import SetIntersection
from discreet.parties.transcript import FrameShape


def normalized_key(key: Any) -> bytes:
    r"""Return the spelling of a key that parties compare, in UTF-8.

    Compatible characters become one (NFKC: full-width digits, ligatures, composed accents), letters lose their case
    (case folding: ß becomes ss), runs of white space become one space, and white space at both ends is left out.
    Punctuation, accents and leading zeros count. A whole number is its decimal digits.

    >>> normalized_key("  Müller,\tAda ") == normalized_key("MU\u0308LLER, ADA")
    True
    >>> normalized_key("007"), normalized_key(7)
    (b'007', b'7')
    """
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        return str(int(key)).encode()
    if not isinstance(key, str):
        raise InputError("The keys of people must be text or whole numbers; nulls are refused.")
    # Composed a second time, as folding the case can leave characters that are composed differently.
    composed = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", key).casefold())
    try:
        spelled = " ".join(composed.split()).encode()
    except UnicodeEncodeError:
        raise InputError("A key holds text that is not valid Unicode.") from None
    if not spelled:
        raise InputError("A key is empty; every row needs one.")
    return spelled


def normalized_keys(keys: Iterable[Any], *, max_people: int) -> dict[bytes, int]:
    """Return the row of each key; refuse keys that occur twice, and more than the session admits."""
    rows: dict[bytes, int] = {}
    n = 0
    for n, key in enumerate(keys, start=1):
        rows[normalized_key(key)] = n - 1
    if len(rows) < n:
        raise InputError(
            f"{n - len(rows)} of the {n} keys occur before, once case, spaces and equal characters are left aside; "
            "every person may have one row."
        )
    if n > max_people:
        raise InputError(f"The data has {n} people; the session admits {max_people}. Raise max_people.")
    return rows


def matched_rows(party: Party, rows: Mapping[bytes, int], *, max_people: int) -> NDArray[np.int64]:
    """Return the rows of the people that every party holds, in the same order at every party.

    The first party intersects its keys with those of the second one, what is left with those of the third, and so on.
    Then it intersects what is left in the end with the keys of those who do not know it yet. The order is that of
    hashes of the keys, keyed by the session: it depends on nothing but the keys that all parties share.
    """
    names = party.names
    common = set(rows)
    for label, peer, to_both in _meetings(names):
        if party.name not in (names[0], peer):
            continue
        pair = party.within(label, (names[0], peer))
        shared = intersection(max_people, to_both=to_both).run(pair, common)
        if shared is not None:
            common = set(shared)
    return np.array([rows[key] for key in sorted(common, key=_order(party))], np.int64)


def matching_frames(names: Sequence[str], max_people: int) -> Iterator[FrameShape]:
    """Return the frames of matching."""
    for _, peer, to_both in _meetings(names):
        yield from intersection(max_people, to_both=to_both).frames((names[0], peer))


def intersection(max_people: int, *, to_both: bool) -> SetIntersection:
    """Return the protocol by which two parties meet."""
    output = "both" if to_both else "first"
    return SetIntersection(max_first=max_people, max_second=max_people, output=output)  # type: ignore[arg-type]


def _meetings(names: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Return whom the first party meets, and whether the other one learns the people in common as well."""
    for peer in names[1:]:
        yield f"people of {peer}", peer, peer == names[-1]
    # The last party has met the first one when all sets were
    # intersected, so it learns the result in that meeting.
    for peer in names[1:-1]:
        yield f"people of all, for {peer}", peer, True


def _order(party: Party) -> Callable[[bytes], bytes]:
    """Return what keys are sorted by: their hashes under the session."""
    secret = hashlib.sha256(b"discreet order" + party.session).digest()
    return lambda key: hashlib.blake2b(key, key=secret, digest_size=32).digest()


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

    def checked(self, data: Any, names: Sequence[str], name: str) -> tuple[pa.Table, dict[bytes, int]]:
        """Return the party's table, from any frame or a mapping of columns, and the row of each key."""
        del names, name
        table = matched_table(data)
        return table, keys_of(table, self.key, max_people=self.max_people)

    def _run(self, party: Party, data: tuple[pa.Table, dict[bytes, int]]) -> pa.Table:
        table, keys = data
        return table.take(matched_rows(party, keys, max_people=self.max_people))

    def read_input(self, path: str | os.PathLike[str]) -> pa.Table:
        """Read the table; the key is read as text."""
        return read_keyed(path, self.key)

    def result_files(self, output: pa.Table) -> dict[str, Any]:
        """Return the matched rows, in the agreed order."""
        return {"matched.csv": output}


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


def matched_table(data: Any) -> pa.Table:
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
