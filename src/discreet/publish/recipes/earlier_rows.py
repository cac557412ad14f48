"""Earlier rows: keyed digests of who was released, so that the owner learns when new rows were released before.

The digests are of people where a column says whose rows they are, else of rows that are unlike any other in their
quasi-identifiers and sensitive values. They stay in the private folder with their key.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.errors import InputError
from discreet.core.tables.labels import texts
from discreet.core.tables.table import Table

MOST = 1 << 17
"""At most so many digests are kept, the smallest: with more rows they are a sample."""
_KEY, _SIZE = 32, 8
_HEAD = b"discreet rows 1\n"


@dataclass(frozen=True, repr=False)
class EarlierRows:
    """Digests of the people, or of the rows, of a release; the smallest of them where there are many.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import quasi
    >>> def table(*ages): return Table(pa.table({"age": list(ages)}), {"age": quasi()})
    >>> earlier = EarlierRows.of(table(30, 41, 52, 52))
    >>> earlier.overlap(table(41, 60, 52, 30))
    (2, 4)
    """

    key: bytes
    digests: np.ndarray[tuple[int], np.dtype[np.uint64]]
    is_sample: bool

    @classmethod
    def of(cls, table: Table) -> EarlierRows:
        """Return the digests of a table, under a new key."""
        key = secrets.token_bytes(_KEY)
        digests, counts = _digests(table, key)
        if table.schema.person is None:
            digests = digests[counts == 1]
        # The distinct ones by sorting: NumPy hashes whole numbers, which takes a hundred times as long.
        ascending = np.sort(digests)
        distinct = ascending[
            np.concatenate([ascending[:1] == ascending[:1], ascending[1:] != ascending[:-1]])
        ]
        return cls(key, distinct[:MOST], len(distinct) > MOST)

    def overlap(self, table: Table) -> tuple[int, int]:
        """Return how many rows of a table were released before, as far as their digests are kept, and of how many."""
        digests, counts = _digests(table, self.key)
        # Of a sample only digests up to its largest could have been in it.
        covered = digests <= self.digests[-1] if self.is_sample else np.ones(len(digests), np.bool_)
        known = np.isin(digests, self.digests) & covered
        return int(counts[known].sum()), int(counts[covered].sum())

    def to_bytes(self) -> bytes:
        """Return the key and the digests as one file."""
        return b"".join((_HEAD, self.key, bytes([self.is_sample]), self.digests.astype("<u8").tobytes()))

    @classmethod
    def from_bytes(cls, content: bytes) -> EarlierRows:
        """Read the key and the digests back."""
        start = len(_HEAD) + _KEY + 1
        if not content.startswith(_HEAD) or len(content) < start or (len(content) - start) % _SIZE:
            raise InputError(
                "The digests of earlier rows in the private folder are damaged; bring the file back."
            )
        digests = np.frombuffer(content, "<u8", offset=start).astype(np.uint64)
        is_sample = bool(content[start - 1]) and digests.size > 0
        return cls(content[len(_HEAD) : start - 1], digests, is_sample)


def _digests(table: Table, key: bytes) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint64]], IntArray]:
    """Return the digest of each distinct tuple, and how many rows have it.

    The digest of a tuple is the sum of keyed digests of its cells, each with the name of its column: as good as one of
    the whole tuple for 64 bits, and made once for every distinct value.
    """
    person = table.schema.person
    names = (*table.schema.quasi, *table.schema.sensitive) if person is None else (person,)
    tuples = table.tuples
    total = np.zeros(len(tuples.counts), np.uint64)
    for name in names:
        cells = ["", *texts(table.encoded[name].values).to_pylist()]
        total += _of_cells(name, cells, key)[table.codes(name)]
    return total, tuples.counts


def _of_cells(
    name: str, cells: Iterable[str | None], key: bytes
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    column = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), key=key, digest_size=16).digest()
    # The leading byte tells null from an empty text, and the salt equal texts of two columns from one
    # another.
    made = b"".join(
        hashlib.blake2b(
            bytes([at > 0]) + (cell or "").encode("utf-8", "surrogatepass"),
            key=key,
            salt=column,
            digest_size=_SIZE,
        ).digest()
        for at, cell in enumerate(cells)
    )
    return np.frombuffer(made, "<u8").astype(np.uint64)
