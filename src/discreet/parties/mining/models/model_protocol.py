"""What protocols that learn a model or statistics have in common: their output, and how a party's rows are read."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.boundary import public
from discreet.core.params import IntIn, require
from discreet.mine.saved_models import model_to_dict
from discreet.parties.mining.models.columns import read_columns, require_names
from discreet.parties.protocol import Protocol
from discreet.parties.shares.coarse_tables import CoarseTable, n_joined

MOST_LEAST = 1 << 20
"""The largest ``min_count``."""


@public
@dataclass(frozen=True)
class Fitted:
    """The output of a party: the model or the statistics, and the parties whose rows are in it.

    ``late`` are the parties without which the others went on because they did not answer in time. ``cautions`` say what
    to consider before the model is used or passed on.

    >>> Fitted({"x": [4.0]}, ("a", "b", "c")).parties
    ('a', 'b', 'c')
    """

    model: Any
    parties: tuple[str, ...]
    late: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ModelProtocol(Protocol):
    """A protocol whose output is :class:`Fitted`, and which opens no count between 1 and ``min_count``.

    Parameters
    ----------
    min_count : int
        Smaller counts than this one are not opened, but for zero; 1 opens all of them.
    """

    min_count: int = 5

    @property
    def holds_back(self) -> bool:
        """Whether counts are held back because they are small."""
        return self.min_count > 1

    def class_caution(self, counts: Sequence[float]) -> str:
        """Return how many classes are left out, because no row or too few rows have them; empty if none is."""
        n = sum(count <= 0 for count in counts)
        few = f"{n} of {len(counts)} classes have no row or fewer than {self.min_count}, and were left out."
        return few if n and self.holds_back else ""

    def joined_caution(self, tables: Sequence[CoarseTable], of: str) -> str:
        """Return how many places were joined with others; empty if none was."""
        n = n_joined(tables)
        return f"{n} {of} were joined with others, as counts of them are below {self.min_count}." if n else ""

    def count_cautions(self, *held_back: str) -> tuple[str, ...]:
        """Return what was held back because its counts are small, or that nothing was."""
        if self.min_count == 1:
            return (
                "Counts of one and more were opened, as min_count = 1 admits; a count of one points to a person.",
            )
        return tuple(sentence for sentence in held_back if sentence)

    def result_files(self, output: Fitted) -> dict[str, Any]:
        """Return the model as plain data, and the labels of the party's own rows where the model has them."""
        labels = getattr(output.model, "labels_", None)
        files: dict[str, Any] = {"model.json": model_to_dict(output.model)}
        return files if labels is None else {**files, "labels.csv": {"cluster": labels}}


@dataclass(frozen=True, kw_only=True)
class RowsProtocol(ModelProtocol):
    """A protocol over rows that are split between parties.

    Parameters
    ----------
    columns : tuple of str
        The columns that every party has.
    """

    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        require(self, "min_count", self.min_count, IntIn(1, MOST_LEAST))
        require_names(self, "columns", self.columns)
        if self.names_read != self.columns:
            require_names(self, "target", self.names_read)

    @property
    def names_read(self) -> tuple[str, ...]:
        """The columns that are read: those named, and the target where there is one."""
        target = getattr(self, "target", None)
        return self.columns if target is None else (*self.columns, target)

    @abstractmethod
    def read(self, data: Any) -> Any:
        """Return a party's rows as the protocol uses them; refuse what the session does not admit."""

    def checked(self, data: Any, names: Sequence[str], name: str) -> Any:
        """Return a party's rows as the protocol uses them."""
        del names, name
        return self.read(data)

    def read_input(self, path: str | os.PathLike[str]) -> Any:
        """Read the columns from a file."""
        return read_columns(path, self.names_read)
