"""ClusterBaskets: transactions in a frame on a cluster, which are counted there and never fetched."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.boundary import is_on_cluster, public, takes_clusters
from discreet.core.engine import engine_of
from discreet.core.errors import InputError

Perturb: TypeAlias = Callable[[Baskets, Sequence[str]], tuple[Baskets, Any]]


class SetCounter(Protocol):
    """What counts the baskets that hold sets of some items, which go by their places among those."""

    @property
    def n_items(self) -> int:
        """The number of items."""
        ...

    def pair_counts(self, start: int, stop: int) -> Any:
        """Count the baskets that hold both items: ``[i - start, j]`` for i from start to stop and j > i."""
        ...

    def set_counts(self, sets: CodeArray) -> Any:
        """Count the baskets that hold all items of each set; the sets, one a row, are in lexicographic order."""
        ...


@public
class ClusterBaskets(ABC):
    """Transactions in a Spark frame. Miners count their candidates on the cluster; no basket is fetched.

    The workers count in Python, and need this package as well. What comes back are the items, and counts of sets.

    Examples
    --------
    Frames on this machine are for `Baskets`:

    >>> ClusterBaskets.from_lists(pa.table({"items": [["beer"], ["beer", "milk"]]}), column="items")
    Traceback (most recent call last):
    discreet.core.errors.InputError: The frame is on no cluster; make Baskets of it (Baskets.from_lists).
    """

    names: pa.Array
    """The items that occur, in order."""
    counts: IntArray
    """The number of baskets that hold each item."""
    distorted: tuple[float, float] | None = None
    """The probabilities p and q by which the baskets were distorted; None where nothing says so."""
    frame: Any
    """The baskets as a frame of lists, in the column ``items``."""

    @classmethod
    @takes_clusters
    def from_long(cls, frame: Any, *, basket: str, item: str) -> ClusterBaskets:
        """Make baskets of a frame with one row per entry: the basket's number or name, and the item."""
        _require_cluster(frame, "from_long")
        return engine_of(frame).baskets(frame, item=item, basket=basket)

    @classmethod
    @takes_clusters
    def from_lists(cls, frame: Any, *, column: str) -> ClusterBaskets:
        """Make baskets of a column of lists; a null list is an empty basket, a null item is refused."""
        _require_cluster(frame, "from_lists")
        return engine_of(frame).baskets(frame, item=column)

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.names)

    @abstractmethod
    def listed(self, names: Iterable[Any]) -> ClusterBaskets:
        """Return the baskets over a list of items; those in no basket stay in it, and one that it lacks is refused."""

    @abstractmethod
    def perturbed(self, perturb: Perturb, *, distorted: tuple[float, float]) -> ClusterBaskets:
        """Return baskets that the workers distort, in an order that means nothing.

        ``perturb`` takes some baskets, and a text that no other has, and returns the distorted ones and a
        secret number of each, by which they are put in order.
        """

    @abstractmethod
    def counter(self, codes: CodeArray) -> SetCounter:
        """Return what counts sets of some items."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of baskets."""

    def __repr__(self) -> str:
        return f"ClusterBaskets({len(self)} baskets, {self.n_items} items, {self.counts.sum()} entries)"


def _require_cluster(frame: Any, maker: str) -> None:
    if not is_on_cluster(frame):
        raise InputError(f"The frame is on no cluster; make Baskets of it (Baskets.{maker}).")
