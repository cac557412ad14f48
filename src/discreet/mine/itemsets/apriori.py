"""Apriori: itemsets level by level, the same pass over the bit columns whether counts are true or distorted.

R. Agrawal, R. Srikant: Fast algorithms for mining association rules. VLDB 1994.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.bits import ItemBits
from discreet.core.baskets.cluster_baskets import ClusterBaskets, SetCounter
from discreet.core.errors import InfeasibleError
from discreet.kernels import ragged

_STRIP = 1 << 22
"""The pair counters of each thread at a time."""
_MOST_SETS = 1 << 24
"""The most sets of one length."""

State = TypeVar("State")
MinedBaskets: TypeAlias = Baskets | ItemBits | ClusterBaskets
"""What is mined level by level."""


@dataclass(frozen=True)
class Level(Generic[State]):
    """The sets kept at one level, one a row, with their counts and what the judge remembers about them."""

    sets: CodeArray
    counts: IntArray
    state: State


class Judge(Protocol[State]):
    """Decides which sets are kept."""

    def nothing(self, n: int) -> State:
        """Return what to remember about the empty set."""
        ...

    def judge(self, counts: IntArray, subsets: NDArray[np.int32], below: State) -> tuple[IntArray, State]:
        """Return the rows of the sets to keep, and what to remember about them.

        ``subsets`` holds, for each set, the rows of its subsets in the level below.
        """
        ...

    def joined(self, parts: list[State]) -> State:
        """Join what is remembered about the parts of a level."""
        ...


def levels(
    data: MinedBaskets,
    judge: Judge[State],
    *,
    items: CodeArray,
    counts: IntArray,
    max_length: int | None,
) -> Iterator[Level[State]]:
    """Return the levels, the sets of one item first: those of the given items, whose counts are known."""
    rows, state = judge.judge(counts, np.zeros((items.size, 1), np.int32), judge.nothing(len(data)))
    codes = items[rows]
    level = Level(np.arange(codes.size, dtype=np.int32)[:, None], counts[rows], state)
    if not codes.size:
        return
    yield Level(codes[:, None], level.counts, level.state)
    # Before any bit column is packed, which is not needed for single items.
    if max_length == 1 or codes.size < 2:
        return
    counter = (
        data.counter(codes) if isinstance(data, ClusterBaskets) else _BlockCounter(blocks_of(data, codes))
    )
    level = _pairs(counter, level, judge)
    while len(level.sets):
        yield Level(codes[level.sets], level.counts, level.state)
        if level.sets.shape[1] == max_length:
            return
        level = _longer(counter, level, judge)


def all_levels(search: Sequence[Level[State]]) -> tuple[IntArray, CodeArray, IntArray]:
    """Put the sets of all levels behind one another: CSR arrays and counts."""
    sizes, numbers = [level.sets.shape[1] for level in search], [len(level.sets) for level in search]
    lengths = np.repeat(np.array(sizes, np.int64), np.array(numbers, np.int64))
    return (
        ragged.bounds(lengths),
        np.concatenate([np.empty(0, np.int32), *(level.sets.ravel() for level in search)]),
        np.concatenate([np.empty(0, np.int64), *(level.counts for level in search)]),
    )


def blocks_of(data: Baskets | ItemBits, codes: CodeArray) -> NDArray[np.uint64]:
    """Return the bit columns of some items; those of packed data are copied only where some are left out."""
    if isinstance(data, Baskets):
        return data.bits(items=codes).blocks
    if np.array_equal(codes, np.arange(data.n_items)):
        return data.blocks
    return np.take(data.blocks, codes, axis=1)


class _BlockCounter:
    """Counts sets over bit columns."""

    def __init__(self, blocks: NDArray[np.uint64]) -> None:
        self._blocks = blocks

    @property
    def n_items(self) -> int:
        return int(self._blocks.shape[1])

    def pair_counts(self, start: int, stop: int) -> NDArray[np.int32]:
        from discreet.kernels.itemsets.counting import pair_counts

        return pair_counts(self._blocks, start, stop)

    def set_counts(self, sets: CodeArray) -> NDArray[np.int32]:
        from discreet.kernels.itemsets.counting import set_counts

        return set_counts(self._blocks, sets)


def _pairs(counter: SetCounter, below: Level[State], judge: Judge[State]) -> Level[State]:
    """Count all pairs, a strip of the triangle at a time, so that many items do not exhaust the memory."""
    n_items = counter.n_items
    height = max(_STRIP // n_items, 1)
    numbers = np.arange(n_items, dtype=np.int32)
    parts = []
    for start in range(0, n_items - 1, height):
        stop = min(start + height, n_items - 1)
        counts = counter.pair_counts(start, stop)
        first, second = np.nonzero(numbers > numbers[start:stop, None])
        pairs = np.stack([first + start, second], axis=1).astype(np.int32)
        in_both = counts[first, second].astype(np.int64)
        rows, state = judge.judge(in_both, pairs, below.state)
        # Judged strip by strip, so that only pairs that are kept stay in memory.
        parts.append(Level(pairs[rows], in_both[rows], state))
        _require_room(sum(len(part.sets) for part in parts), 2)
    return Level(
        np.concatenate([part.sets for part in parts]),
        np.concatenate([part.counts for part in parts]),
        judge.joined([part.state for part in parts]),
    )


def _longer(counter: SetCounter, below: Level[State], judge: Judge[State]) -> Level[State]:
    from discreet.kernels.itemsets.candidates import join

    candidates, subsets = join(below.sets, most=_MOST_SETS)
    _require_room(len(candidates), candidates.shape[1])
    counts = counter.set_counts(candidates).astype(np.int64)
    rows, state = judge.judge(counts, subsets, below.state)
    return Level(candidates[rows], counts[rows], state)


def _require_room(n: int, length: int) -> None:
    if n > _MOST_SETS:
        raise InfeasibleError(
            f"More than {_MOST_SETS:,} sets of {length} items may be frequent, too many to keep; raise 'min_support', "
            "lower 'margin', or bound 'max_length'."
        )
