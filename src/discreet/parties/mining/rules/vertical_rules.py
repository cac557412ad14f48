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
from discreet.parties.mining.matching.people import matched_rows
from discreet.parties.mining.matching.people_matching import arrow_table, keys_of, matching_leaks, read_keyed
from discreet.parties.mining.models.vertical import require_every_party
from discreet.parties.mining.rules.joint_rules import JointRules, RulesProtocol, require_thresholds
from discreet.parties.mining.rules.vertical import Vertical, vertical_frames
from discreet.parties.protocol import Facts, Party
from discreet.parties.sets.two_sets import MAX_SIZE
from discreet.parties.transcript import FrameShape


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
        if not all(isinstance(held, list | tuple) for held in self.columns.values()):
            raise ParameterError(
                "The 'columns' parameter of VerticalRules must have a list of items for each party."
            )
        listed = [item for held in self.columns.values() for item in held]
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

    def run(self, party: Party, data: Any) -> JointRules:
        """Mine with a party's table: any frame, or a mapping of columns."""
        self.check_parties(party.names)
        keys, bits = self._checked(data, party.name)
        with party.step("matching"):
            rows = matched_rows(party.within("matching"), keys, max_people=self.max_people)
        return Vertical(self, party, {item: column[rows] for item, column in bits.items()}, len(rows)).mine()

    def check_input(self, data: Any, names: Sequence[str], name: str) -> None:
        """Raise an InputError unless the party could run with this table."""
        self.check_parties(names)
        self._checked(data, name)

    def read_input(self, path: str | os.PathLike[str]) -> pa.Table:
        """Read the table; the key is read as text."""
        return read_keyed(path, self.key)

    def result_files(self, output: JointRules) -> dict[str, Any]:
        """Return the itemsets and the rules as files."""
        return output.files()

    def items(self, names: Sequence[str]) -> tuple[list[str], list[int]]:
        """Return all items in order, and the place of the party of each."""
        owner = {item: place for place, name in enumerate(names) for item in self.columns[name]}
        listed = sorted(owner)
        return listed, [owner[item] for item in listed]

    def _checked(self, data: Any, name: str) -> tuple[dict[bytes, int], dict[str, NDArray[np.bool_]]]:
        table = arrow_table(data)
        keys = keys_of(table, self.key, max_people=self.max_people)
        return keys, {item: _bits(table, item) for item in self.columns[name]}


def _bits(table: pa.Table, item: str) -> NDArray[np.bool_]:
    if item not in table.column_names:
        raise InputError(f"The data has no column '{item}', which the session names as an item.")
    column = table.column(item)
    known = pa.types.is_integer(column.type) or pa.types.is_boolean(column.type) or len(column) == 0
    values = column.to_numpy() if known and not column.null_count else None
    if values is None or not np.isin(values, (0, 1)).all():
        raise InputError(f"The column '{item}' must hold 0 and 1, or false and true, and no missing value.")
    return np.asarray(values, np.bool_)
