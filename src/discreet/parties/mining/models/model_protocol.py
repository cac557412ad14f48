"""What protocols that learn a model or statistics have in common: their output, and how a party's rows are read."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.params import IntIn, require
from discreet.mine.saved_models import model_to_dict
from discreet.parties.mining.models.columns import read_columns, require_names
from discreet.parties.protocol import Protocol
from discreet.parties.shares.coarse_tables import CoarseTable, n_joined

MOST_LEAST = 1 << 20
"""The largest ``min_count``."""
VALUE_COUNTS = (
    "The number of rows, the mean and the variance show counts of a column with few distinct values, however small: "
    "how many ones a column of zeros and ones has, how many rows have each of three values, and often of more where "
    "these are whole numbers, also where a histogram joins them. A covariance shows how many rows have two ones."
)
"""What sums of values and of their products show; ``min_count`` cannot prevent it, as models are made of these sums."""
_FEW_VALUES = 10
"""As many distinct values are few. Three sums are three equations for the counts of values, so they determine those of
three; counts are whole and not negative, so that in practice they determine those of several more."""
_ROWS_TO_JUDGE, _ALIKE = 10, 0.99
"""The fewest rows of which two columns are compared, and the rank correlation from which on one may follow."""


def least_rows(n_columns: int) -> int:
    """Return how many rows of columns do not follow from the sums of the columns and of products of two.

    These are d + d(d + 1)/2 whole numbers. A product has twice the bits of a value, so they have the bits of d(d + 2)
    values, which d + 2 rows have as well; of two rows of a column the sum and the sum of squares are two equations.

    >>> least_rows(1), least_rows(3)
    (4, 6)
    """
    return n_columns + 3


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

    def joined_leaks(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return what counts of several columns show whose places are joined; empty where counts are not joined."""
        dependent = (
            "Columns are counted apart from each other. Where one follows from another, as age and year of birth do, "
            f"and their places are joined differently, the differences of their counts may be below {self.min_count}."
        )
        return (dependent,) if self.holds_back and len(columns) > 1 else ()

    def dependent_caution(self, values: NDArray[Any], names: Sequence[str]) -> str:
        """Return which columns order the party's own rows nearly alike, so that one may follow from another."""
        if not self.holds_back or len(names) < 2 or len(values) < _ROWS_TO_JUDGE:
            return ""
        # Ranks, so that any increasing or decreasing dependence shows and not a linear one alone.
        ranks = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in values.T]
        with np.errstate(invalid="ignore", divide="ignore"):
            alike = np.abs(np.corrcoef(ranks)) >= _ALIKE
        pairs = [f"'{names[i]}' and '{names[j]}'" for i, j in np.argwhere(np.triu(alike, 1))]
        return (
            f"Columns order this party's rows nearly alike ({', '.join(pairs)}); the differences of their counts may "
            f"show counts below {self.min_count}. Agree on one of them."
            if pairs
            else ""
        )

    def few_values_caution(
        self, values: NDArray[Any], names: Sequence[str], *, opened: str = "Means and variances"
    ) -> str:
        """Return which columns of the party's own rows have few distinct values, whose sums show counts.

        What the other parties have stays unknown, so each party is cautioned by its own rows alone.
        """
        few = [
            f"'{name}'"
            for name, column in zip(names, values.T, strict=True)
            # Where no value occurs twice there is no count to be hidden.
            if 0 < np.unique(column).size <= min(_FEW_VALUES, len(column) - 1)
        ]
        return (
            f"{opened} of columns with few distinct values were opened ({', '.join(few)}); they can show "
            f"how many rows have a value, also where these are fewer than {self.min_count}."
            if few
            else ""
        )

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
