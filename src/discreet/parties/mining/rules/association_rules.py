"""Association rules of baskets that several parties hold (Kantarcıoğlu & Clifton 2004; Tassa 2014)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.supports import is_count, least_count
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import InstanceOf, IntIn, OneOf, require
from discreet.engines.baskets.files import FORMATS
from discreet.parties.errors import LostPartyError, PartyError
from discreet.parties.mining.rules.joint_rules import (
    JointRules,
    RulesProtocol,
    Sets,
    joint_rules,
    longer_candidates,
    require_thresholds,
)
from discreet.parties.protocol import Facts, Party, own_rows_leak
from discreet.parties.sets.private_sets import UnitedItems
from discreet.parties.sets.set_union import SetUnion
from discreet.parties.shares.thresholds import require_agreed
from discreet.parties.sums.secure_sum import SecureSum
from discreet.parties.sums.shared_sums import SharedFrames, SharedSums
from discreet.parties.sums.sum_rounds import SumRounds
from discreet.parties.transcript import FrameShape

Counts = NDArray[np.int64]


@public
@dataclass(frozen=True)
class AssociationRules(RulesProtocol):
    """The frequent itemsets and rules of the baskets of all parties together, and no party's own.

    The sets are found level by level. The candidates of a length are the sets all of whose parts are frequent, so
    every party can list them. Their counts are summed under masks and stay shared between the first two parties, who
    compare them with the threshold without opening them. At the end the counts of the frequent sets are opened.

    Items that are not public are united first: each party puts in the items that are large in its own baskets, among
    fakes. An item that is frequent in all baskets is large in those of some party. With ``candidates="union"`` the
    longer candidates are united in the same way, which leaves fewer to compare and reveals which ones are large
    somewhere; with ``"all"`` every candidate is counted, and nothing about them shows but the result.

    A party that is lost before the first sum is opened does not stop the others: the rest count from the start, without
    it, as long as ``threshold`` parties remain. After that all stop, and nothing more is opened.

    Parameters
    ----------
    min_support : int or float
        The least support: a number of baskets, or a share of all of them.
    min_threshold : float
        The least value of the metric for a rule to be kept.
    metric : str
        The metric of rules, as for :func:`discreet.mine.rules`.
    max_length : int
        The most items of a set; 0 stands for any.
    items : tuple of str
        The public list of items; other items of the baskets are left out. Empty: items are united secretly.
    candidates : {"all", "union"}
        Which candidates of two and more items are counted.
    max_items : int
        For unions, the most items or sets that a party may put in; what travels has this size.
    max_item_bytes : int
        For unions, the most bytes of the name of an item.
    threshold : int
        How many parties must remain, as for :class:`SecureSum`; 0 stands for more than half, and at least 3.
    format : str
        How the files of the parties are written, as for :func:`discreet.read_baskets`; recognized by default.
    basket, item : str
        The columns of the data, where it is a table with a row for each entry.
    min_count : int
        A set in fewer baskets is not frequent, whatever ``min_support`` is, and its count is not opened.
    two_parties_see_each_other : bool
        Whether two parties may run it, each of whom learns the other's counts from the result.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> shops = {"north": [["beer", "bread"], ["bread", "milk"]], "south": [["beer", "bread"]], "west": [["milk"]]}
    >>> protocol = AssociationRules(min_support=0.5, items=("beer", "bread", "milk"), min_count=2)
    >>> run = simulate(protocol, shops)
    >>> list(run.outputs["west"].itemsets)
    [(('beer',), 2), (('bread',), 3), (('milk',), 2), (('beer', 'bread'), 2)]

    References
    ----------
    M. Kantarcıoğlu, C. Clifton. Privacy-preserving distributed mining of association rules on horizontally partitioned
    data. IEEE TKDE 16(9), 2004.
    T. Tassa. Secure mining of association rules in horizontally distributed databases. IEEE TKDE 26(4), 2014.
    """

    min_support: float
    min_threshold: float = 0.8
    metric: str = "confidence"
    max_length: int = 0
    items: tuple[str, ...] = ()
    candidates: str = "all"
    max_items: int = 1000
    max_item_bytes: int = 20
    threshold: int = 0
    format: str = ""
    basket: str = ""
    item: str = ""
    two_parties_see_each_other: bool = False

    name: ClassVar[str] = "rules"
    two_parties_reveal: ClassVar[bool] = True
    two_parties_learn: ClassVar[str] = (
        "Of two parties each learns the other's number of baskets and counts, which the result reveals."
    )

    def __post_init__(self) -> None:
        require_thresholds(self)
        require(self, "items", self.items, InstanceOf((tuple,), "a tuple of texts"))
        if not all(isinstance(item, str) for item in self.items) or len(set(self.items)) < len(self.items):
            raise ParameterError("The 'items' parameter of AssociationRules must be texts, each once.")
        require(self, "candidates", self.candidates, OneOf(("all", "union")))
        require(self, "threshold", self.threshold, IntIn(0))
        require(self, "format", self.format, OneOf(("", *FORMATS)))
        for key in ("basket", "item"):
            require(self, key, getattr(self, key), InstanceOf((str,), "the name of a column"))
        _ = SetUnion(max_items=self.max_items, max_item_bytes=self.max_item_bytes)

    @property
    def leaks(self) -> tuple[str, ...]:
        """What each party learns beyond the itemsets, their counts and the number of baskets."""
        return (
            *self._union_leaks(),
            "The first two parties together learn the counts of all candidates, also of those that are not frequent.",
            (
                "Every party learns which parties dropped out, and whether they were late. A run that stops "
                "leaves behind the number of baskets and which of the sets counted until then are frequent."
            ),
            *self.count_leaks,
            own_rows_leak(self.min_count, "baskets"),
            *self.consent_leaks,
        )

    def _union_leaks(self) -> Iterator[str]:
        if not self.items:
            yield (
                "Every party learns which items are large at one party or more; in few baskets "
                "an item of one is large."
            )
        if self.candidates == "union":
            yield "Every party learns which candidates are large at one party or more."
        if not self.items or self.candidates == "union":
            yield (
                "The first and the second party learn how many of these some of the other parties have in common. "
                "Where that is none, all, or these are few, it follows which ones, and at which party they are large."
            )

    def check_parties(self, names: Sequence[str]) -> None:
        """Raise a ParameterError unless the protocol can run among these parties."""
        super().check_parties(names)
        agreed = self.two_parties_see_each_other
        SecureSum(length=1, threshold=self.threshold, two_parties_see_each_other=agreed).check_parties(names)
        union = SetUnion(max_items=self.max_items, max_item_bytes=self.max_item_bytes)
        replace(union, two_parties_see_each_other=agreed).check_parties(names)

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run without drop-outs; ``revealed`` holds the sizes that the run makes known."""
        return horizontal_frames(self, names, revealed or {})

    def _run(self, party: Party, baskets: Baskets) -> JointRules:
        needed = SecureSum(length=1, threshold=self.threshold).needed(len(party.names))
        names, items = party.names, None
        while True:
            # The label differs from one attempt to the next,
            # since each has fewer parties: no key is used again.
            part = party.within(f"among {len(names)}", names)
            half = _Half(self, part, baskets, needed=needed, items=items)
            try:
                return half.mine(revealed=party)
            except LostPartyError as lost:
                # A sum that was opened covers the lost party.
                # Counting again without it would show what it had.
                if half.has_opened:
                    raise
                # Who hides the counts from whom was agreed on; nobody else takes the place of one of the two.
                if party.names[:2] != lost.remaining[:2]:
                    raise PartyError(
                        "One of the first two parties was lost, who hide the counts from each other, and nothing was "
                        "opened. Run again, or agree on a session with others in the first places."
                    ) from None
                names, items = lost.remaining, half.items

    def checked(self, data: Any, names: Sequence[str], name: str) -> Baskets:
        """Return baskets with text for names, from :class:`~discreet.Baskets` or lists of items."""
        import pyarrow as pa

        del name
        if data is None:
            raise InputError("The protocol 'rules' takes the baskets of every party.")
        baskets = data if isinstance(data, Baskets) else Baskets.from_lists(data)
        items, most = baskets.names.cast(pa.string()), self.max_item_bytes
        if not self.items and any(len(item.encode()) > most for item in items.to_pylist()):
            raise InputError(f"The name of an item has more than {most} bytes; raise max_item_bytes.")
        baskets = Baskets(baskets.indptr, baskets.items, items)
        if not self.items:
            large_items(self, baskets, len(names))
        return baskets

    def read_input(self, path: str | os.PathLike[str]) -> Baskets:
        """Read the baskets from a file, as ``discreet mine`` does."""
        from discreet.engines.baskets.files import read_baskets

        columns = {"basket": self.basket or None, "item": self.item or None}
        return read_baskets(path, format=self.format or None, **columns)


class _Half:
    """One party's half of mining among parties that are all there; a sum without one of them is not opened.

    ``items`` are those that were united before a party was lost. Nothing is united again then: a second union would
    show what only the lost party had. ``has_opened`` says that a sum was opened; the others must not count again then,
    as the difference of both results would show what the lost party had.
    """

    def __init__(
        self,
        protocol: AssociationRules,
        party: Party,
        baskets: Baskets,
        *,
        needed: int,
        items: list[str] | None = None,
    ) -> None:
        self._protocol, self._party, self._baskets = protocol, party, baskets
        self.items, self.has_opened = items, False
        self._unites = items is None and protocol.candidates == "union"
        rounds = SumRounds(party, label="shared sums", threshold=needed, required=party.names)
        self._sums = SharedSums(party, rounds)
        self._largest = 0

    def mine(self, *, revealed: Party) -> JointRules:
        """Return the rules; what the frames depend on is noted as revealed once the run is through."""
        facts: dict[str, Any] = {}
        if self.items is None:
            self.items = self._first_items()
        names = self.items
        baskets = _among(self._baskets, names)
        candidates: Sets = np.arange(len(names), dtype=np.int32)[:, None]
        levels: list[Sets] = []
        shares: list[NDArray[np.uint64]] = []
        while not levels or len(candidates):
            length = candidates.shape[1]
            facts[f"candidates of {length}"] = len(candidates)
            local = _counts(baskets, candidates)
            if length > 1 and self._unites:
                united = self._united(local, length, len(baskets))
                candidates, local = candidates[united], local[united]
                facts[f"large candidates of {length}"] = len(candidates)
            share, frequent = self._judged(local, first=length == 1, n=len(baskets))
            levels.append(candidates[frequent])
            shares.append(share[frequent])
            facts[f"frequent of {length}"] = len(levels[-1])
            candidates = longer_candidates(levels[-1], max_length=self._protocol.max_length)
        counts = self._sums.opened(np.concatenate(shares))
        require_agreed(counts, self._protocol.least(self._largest))
        facts["baskets"] = self._largest
        for fact, value in facts.items():
            revealed.reveal(fact, value)
        levels = [level for level in levels if len(level)]
        return joint_rules(self._protocol, levels, counts, self._largest, names, self._party.names)

    def _first_items(self) -> list[str]:
        """Return the items that are looked at, in order: those of the public list, or those large at some party."""
        if self._protocol.items:
            return sorted(self._protocol.items)
        large = large_items(self._protocol, self._baskets, len(self._party.names))
        return sorted(self._unite(union_of_items(self._protocol), large, "items"))

    def _united(self, local: Counts, length: int, n: int) -> NDArray[np.int64]:
        """Return the rows of the candidates that are large at some party; candidates travel by their numbers."""
        least = local_least(self._protocol, n, len(self._party.names))
        large = map(str, np.flatnonzero(local >= least).tolist())
        numbers = self._unite(union_of_sets(self._protocol, local.size), list(large), f"sets of {length}")
        rows = sorted({int(number) for number in numbers if number.isascii() and number.isdecimal()})
        if len(rows) < len(numbers) or (rows and rows[-1] >= local.size):
            raise PartyError(
                "A party united something that is no number of a candidate; nothing more was opened."
            )
        return np.array(rows, np.int64)

    def _unite(self, union: SetUnion, items: list[str], label: str) -> tuple[str, ...]:
        _require_fits(len(items), union.max_items, label)
        united: UnitedItems = union.run(self._party.within(f"union of {label}"), items)
        return united.items

    def _judged(self, local: Counts, *, first: bool, n: int) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Return the share of the counts, and which candidates are frequent; the first sum also counts baskets."""
        if not local.size and not first:
            return np.zeros(0, np.uint64), np.zeros(0, np.bool_)
        total = self._sums.add(np.concatenate([[n], local]) if first else local, n_opened=int(first))
        self.has_opened = True
        if first:
            self._largest = int(total.opened[0])
        least = self._protocol.least(self._largest)
        return total.share, self._sums.at_least(total.share, least, largest=self._largest)


def local_least(protocol: AssociationRules, n: int, n_parties: int) -> int:
    """Return the least count of a large set in n own baskets: a frequent set has it at one party or more."""
    support = protocol.min_support
    if is_count(support):
        # Of n parties one has at least the n-th part of a count. Of a share of all baskets one has that share
        # of its own, and ``min_count`` only makes fewer sets frequent, so leaving it out loses none.
        return -(-max(int(support), protocol.min_count) // n_parties)
    return least_count(support, n)


def large_items(protocol: AssociationRules, baskets: Baskets, n_parties: int) -> list[str]:
    """Return the items that are large in a party's own baskets; refuse more than the session allows."""
    large = baskets.counts >= local_least(protocol, len(baskets), n_parties)
    _require_fits(int(large.sum()), protocol.max_items, "items")
    items: list[str] = baskets.names.filter(pa.array(large)).to_pylist()
    return items


def _require_fits(n: int, most: int, label: str) -> None:
    if n > most:
        raise InputError(f"More {label} are large than the {most} that the session allows; raise max_items.")


def union_of_items(protocol: AssociationRules) -> SetUnion:
    """Return the union of items."""
    return SetUnion(
        max_items=protocol.max_items,
        max_item_bytes=protocol.max_item_bytes,
        two_parties_see_each_other=protocol.two_parties_see_each_other,
    )


def union_of_sets(protocol: AssociationRules, n_candidates: int) -> SetUnion:
    """Return the union of candidates by their numbers; no party can have more than there are."""
    return SetUnion(
        max_items=max(1, min(protocol.max_items, n_candidates)),
        two_parties_see_each_other=protocol.two_parties_see_each_other,
    )


def horizontal_frames(
    protocol: AssociationRules, names: Sequence[str], revealed: Mapping[str, Any]
) -> Iterator[FrameShape]:
    """Return the frames of a run from what it reveals: the number of baskets, and of candidates of each length."""
    frames, total = SharedFrames(names), revealed["baskets"]
    least = protocol.least(total)
    if not protocol.items:
        yield from union_of_items(protocol).frames(names)
    length, n_opened = 1, 0
    while f"candidates of {length}" in revealed:
        n = revealed[f"candidates of {length}"]
        if length > 1 and protocol.candidates == "union":
            yield from union_of_sets(protocol, n).frames(names)
            n = revealed[f"large candidates of {length}"]
        first = int(length == 1)
        if n + first:
            yield from frames.add(n + first, n_opened=first)
        yield from frames.at_least(n, least, largest=total)
        n_opened += revealed[f"frequent of {length}"]
        length += 1
    yield from frames.opened(n_opened)


def _among(baskets: Baskets, items: Sequence[str]) -> Baskets:
    """Return the baskets with these items alone, in this order; items that occur in none included."""
    # Parties number their items differently; from here on they share the order of the list.
    code = {name: at for at, name in enumerate(items)}
    codes = np.array([code.get(name, -1) for name in baskets.names.to_pylist()], np.int32)
    entries = codes[baskets.items] if baskets.items.size else np.empty(0, np.int32)
    listed = entries >= 0
    return Baskets.from_entries(
        baskets.rows()[listed], entries[listed], pa.array(list(items), pa.string()), n=len(baskets)
    )


def _counts(baskets: Baskets, candidates: Sets) -> Counts:
    """Return how many baskets hold each candidate."""
    from discreet.kernels.itemsets.counting import set_counts

    if candidates.shape[1] == 1:
        return baskets.counts[candidates[:, 0]]
    used, columns = np.unique(candidates, return_inverse=True)
    blocks = baskets.bits(items=used.astype(np.int32)).blocks
    if not len(blocks):
        return np.zeros(len(candidates), np.int64)
    return set_counts(blocks, columns.reshape(candidates.shape).astype(np.int32)).astype(np.int64)
