"""Association rules over columns that several parties hold of the same people (Vaidya & Clifton 2002)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import InstanceOf, IntIn, require
from discreet.parties.mining.models.vertical import require_every_party
from discreet.parties.mining.people_matching import (
    keys_of,
    matched_rows,
    matched_table,
    matching_frames,
    matching_leaks,
    read_keyed,
)
from discreet.parties.mining.rules.column_products import ColumnProducts, Group, ProductFrames, grouped
from discreet.parties.mining.rules.joint_rules import (
    JointRules,
    RulesProtocol,
    Sets,
    joint_rules,
    longer_candidates,
    require_thresholds,
)
from discreet.parties.protocol import Facts, Party
from discreet.parties.sets.private_sets import MAX_SIZE
from discreet.parties.transcript import FrameShape

KeyedBits = tuple[dict[bytes, int], dict[str, NDArray[np.bool_]]]
"""The row of each person by key, and the columns of items."""
_COUNTS = "counts"


@public
@dataclass(frozen=True)
class VerticalRules(RulesProtocol):
    """The frequent itemsets and rules over columns that the parties hold of the same people.

    First the people are matched, as by :class:`PeopleMatching`; only those whom all parties hold take part. Each party
    has columns of truth values, the items. The sets are found level by level. The count of a set over the columns of
    several parties is a scalar product of their bits, which comes out in shares; it is compared with the threshold
    without being opened, and opened if it is frequent. A party counts the sets over its own columns alone.

    Parameters
    ----------
    columns : mapping of str to list of str
        The items of each party, by its name: columns of its data that hold 0 and 1, or false and true. No two parties
        may use the same name.
    key : str
        The column that names the person; every person has one row.
    max_people : int
        The most people that a party may hold; a party can put in as many keys that it guessed.
    min_support : int or float
        The least support: a number of people, or a share of those who take part.
    min_threshold : float
        The least value of the metric for a rule to be kept.
    metric : str
        The metric of rules, as for :func:`discreet.mine.rules`.
    max_length : int
        The most items of a set; 0 stands for any.
    min_count : int
        A set that fewer people have is not frequent, whatever ``min_support`` is, and its count is not opened.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> clinic = {"id": ["a", "b", "c", "d"], "asthma": [1, 1, 0, 1], "obesity": [0, 1, 1, 0]}
    >>> insurer = {"id": ["D", "C", "B", "A"], "inhaler": [1, 0, 1, 1]}
    >>> protocol = VerticalRules(
    ...     columns={"clinic": ["asthma", "obesity"], "insurer": ["inhaler"]}, key="id", max_people=10, min_support=3,
    ...     min_count=3)
    >>> run = simulate(protocol, {"clinic": clinic, "insurer": insurer})
    >>> list(run.outputs["insurer"].itemsets)
    [(('asthma',), 3), (('inhaler',), 3), (('asthma', 'inhaler'), 3)]

    References
    ----------
    J. Vaidya, C. Clifton. Privacy preserving association rule mining in vertically partitioned data. KDD 2002.
    """

    columns: Mapping[str, Any]
    key: str
    max_people: int
    min_support: float
    min_threshold: float = 0.8
    metric: str = "confidence"
    max_length: int = 0

    name: ClassVar[str] = "vertical-rules"

    def __post_init__(self) -> None:
        require_thresholds(self)
        require(self, "key", self.key, InstanceOf((str,), "the name of a column"))
        require(self, "max_people", self.max_people, IntIn(1, MAX_SIZE))
        require(self, "columns", self.columns, InstanceOf((Mapping,), "a list of items for each party"))
        if not all(isinstance(names, list | tuple) for names in self.columns.values()):
            raise ParameterError(
                "The 'columns' parameter of VerticalRules must have a list of items for each party."
            )
        listed = [item for names in self.columns.values() for item in names]
        if not all(isinstance(item, str) for item in listed) or len(set(listed)) < len(listed):
            raise ParameterError("The 'columns' parameter of VerticalRules must have texts, each once.")
        if self.key in listed:
            raise ParameterError("The 'columns' parameter of VerticalRules must not name the key.")

    @property
    def leaks(self) -> tuple[str, ...]:
        """What each party learns beyond the itemsets, their counts and the number of people who take part."""
        return (
            *matching_leaks(self.max_people),
            "A party whose item few people have learns from a frequent set how many of them have the other items.",
            (
                "Of a set over the columns of several parties, two of them together learn the count, also if it is not "
                "frequent."
            ),
            *self.count_leaks,
        )

    def check_parties(self, names: Sequence[str]) -> None:
        """Raise a ParameterError unless every party is named with its items."""
        super().check_parties(names)
        require_every_party(self, names)

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run; ``revealed`` holds the number of people and the frequent sets, its output."""
        return vertical_frames(self, names, revealed or {})

    def _run(self, party: Party, data: KeyedBits) -> JointRules:
        keys, bits = data
        with party.step("matching"):
            rows = matched_rows(party.within("matching"), keys, max_people=self.max_people)
        return _Half(self, party, {item: column[rows] for item, column in bits.items()}, len(rows)).mine()

    def checked(self, data: Any, names: Sequence[str], name: str) -> KeyedBits:
        """Return the row of each key, and the columns of items, from any frame or a mapping of columns."""
        self.check_parties(names)
        table = matched_table(data)
        keys = keys_of(table, self.key, max_people=self.max_people)
        return keys, {item: _bits(table, item) for item in self.columns[name]}

    def read_input(self, path: str | os.PathLike[str]) -> pa.Table:
        """Read the table; the key is read as text."""
        return read_keyed(path, self.key)

    def items(self, names: Sequence[str]) -> tuple[list[str], list[int]]:
        """Return all items in order, and the place of the party of each."""
        owner = {item: at for at, name in enumerate(names) for item in self.columns[name]}
        listed = sorted(owner)
        return listed, [owner[item] for item in listed]


def _bits(table: pa.Table, item: str) -> NDArray[np.bool_]:
    if item not in table.column_names:
        raise InputError(f"The data has no column '{item}', which the session names as an item.")
    column = table.column(item)
    integers = pa.types.is_integer(column.type) or pa.types.is_boolean(column.type) or len(column) == 0
    values = column.to_numpy() if integers and not column.null_count else None
    if values is None or not np.isin(values, (0, 1)).all():
        raise InputError(f"The column '{item}' must hold 0 and 1, or false and true, and no missing value.")
    return np.asarray(values, np.bool_)


class _Half:
    """One party's half of mining, once the people are matched."""

    def __init__(
        self, protocol: VerticalRules, party: Party, bits: Mapping[str, NDArray[np.bool_]], n: int
    ) -> None:
        self._protocol, self._party, self._n = protocol, party, n
        self._items, self._owners = protocol.items(party.names)
        numbers = {item: number for number, item in enumerate(self._items)}
        self._products = ColumnProducts(party, {numbers[item]: column for item, column in bits.items()}, n)
        self._least = protocol.least(n)

    def mine(self) -> JointRules:
        """Return the rules."""
        self._party.reveal("people", self._n)
        levels: list[Sets] = []
        counts = [np.zeros(0, np.int64)]
        candidates = first_candidates(self._items, self._n)
        while len(candidates):
            counted = self._counted(candidates)
            # Zero stands for a set that is not frequent, as ``min_count`` is at least 1.
            levels.append(candidates[counted > 0])
            counts.append(counted[counted > 0])
            self._party.reveal(f"frequent of {candidates.shape[1]}", levels[-1].tolist())
            candidates = longer_candidates(levels[-1], max_length=self._protocol.max_length)
        levels = [level for level in levels if len(level)]
        names = self._party.names
        return joint_rules(self._protocol, levels, np.concatenate(counts), self._n, self._items, names)

    def _counted(self, candidates: Sets) -> NDArray[np.int64]:
        """Return the counts of the frequent candidates, and zero for the others, at all parties."""
        counts = np.zeros(len(candidates), np.int64)
        for group in grouped(candidates, self._owners):
            with self._party.step(f"sets of {candidates.shape[1]}"):
                counts[group.rows] = self._spread(group, self._known(group))
        return counts

    def _known(self, group: Group) -> NDArray[np.int64] | None:
        """Return the counts of a group at the parties that compute them."""
        if len(group.parties) > 1:
            return self._products.counts(group, self._least)
        if self._party.index != group.parties[0]:
            return None
        sizes = [np.count_nonzero(self._products.part(parts[0])) for parts in group.parts]
        return np.array([size if size >= self._least else 0 for size in sizes], np.int64)

    def _spread(self, group: Group, counts: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Return what the first party that knows the counts sends to those who do not."""
        names = self._party.names
        source, others = _receivers(group, len(names))
        if self._party.index == source and counts is not None:
            for other in others:
                self._party.send(names[other], _COUNTS, counts.view(np.uint8).data)
        if counts is not None:
            return counts
        return np.frombuffer(self._party.recv(names[source], _COUNTS, 8 * len(group.parts)), np.int64)


def vertical_frames(
    protocol: VerticalRules, names: Sequence[str], revealed: Mapping[str, Any]
) -> Iterator[FrameShape]:
    """Return the frames of a run from its output: the number of people and the frequent sets of each length."""
    n = revealed["people"]
    items, owners = protocol.items(names)
    least = protocol.least(n)
    products = ProductFrames(tuple(names), n)
    yield from matching_frames(names, protocol.max_people)
    candidates = first_candidates(items, n)
    while len(candidates):
        listed = revealed[f"frequent of {candidates.shape[1]}"]
        frequent: Sets = np.array(listed, np.int32).reshape(len(listed), candidates.shape[1])
        is_frequent = {tuple(items) for items in listed}
        for group in grouped(candidates, owners):
            if len(group.parties) > 1:
                n_frequent = sum(tuple(row) in is_frequent for row in candidates[group.rows].tolist())
                yield from products.counts(group, least, n_frequent)
            source, others = _receivers(group, len(names))
            size = 8 * len(group.parts)
            yield from (FrameShape(names[source], names[other], _COUNTS, size) for other in others)
        candidates = longer_candidates(frequent, max_length=protocol.max_length)


def first_candidates(items: Sequence[str], n: int) -> Sets:
    """Return the sets of one item; none where nobody takes part."""
    return np.arange(len(items) if n else 0, dtype=np.int32)[:, None]


def _receivers(group: Group, n_parties: int) -> tuple[int, list[int]]:
    """Return the party that sends the counts of a group, and those that receive them."""
    knowing = group.keepers if len(group.parties) > 1 else group.parties
    return knowing[0], [at for at in range(n_parties) if at not in knowing]
