"""Association rules of baskets that several parties hold (Kantarcıoğlu & Clifton 2004; Tassa 2014)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from discreet.core.baskets.baskets import Baskets
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import InstanceOf, IntIn, OneOf, require
from discreet.engines.baskets.formats import FORMATS
from discreet.parties.errors import LostPartyError, PartyError
from discreet.parties.mining.rules.horizontal import (
    Horizontal,
    horizontal_frames,
    large_items,
)
from discreet.parties.mining.rules.joint_rules import JointRules, RulesProtocol, require_thresholds
from discreet.parties.protocol import Facts, Party
from discreet.parties.sets.set_union import SetUnion
from discreet.parties.sums.secure_sum import SecureSum
from discreet.parties.transcript import FrameShape


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
        two = "Of two parties each learns the other's number of baskets and counts, which the result reveals."
        return (
            *self._union_leaks(),
            "The first two parties together learn the counts of all candidates, also of those that are not frequent.",
            (
                "Every party learns which parties dropped out, and whether they were late. A run that stops "
                "leaves behind the number of baskets and which of the sets counted until then are frequent."
            ),
            *self.count_leaks,
            *((two,) if self.two_parties_see_each_other else ()),
        )

    def _union_leaks(self) -> Iterator[str]:
        if not self.items:
            yield (
                "Every party learns which items are large at one party or more, but not at which; in few baskets "
                "an item of one is large."
            )
        if self.candidates == "union":
            yield "Every party learns which candidates are large at one party or more, but not at which."
        if not self.items or self.candidates == "union":
            yield (
                "The first and the second party learn how many of these some of the other parties have in common, but "
                "not which ones."
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

    def run(self, party: Party, data: Any) -> JointRules:
        """Mine with a party's baskets: :class:`~discreet.Baskets`, or lists of items."""
        self.check_parties(party.names)
        baskets = self._checked(data)
        needed = SecureSum(length=1, threshold=self.threshold).needed(len(party.names))
        names, items = party.names, None
        while True:
            part = party.within(f"among {len(names)}", names)
            half = Horizontal(self, part, baskets, needed=needed, items=items)
            try:
                return half.mine(revealed=party)
            except LostPartyError as lost:
                if half.has_opened:
                    raise
                # Who hides the counts from whom was agreed on; nobody else takes the place of one of the two.
                if party.names[:2] != lost.remaining[:2]:
                    raise PartyError(
                        "One of the first two parties was lost, who hide the counts from each other, and nothing was "
                        "opened. Run again, or agree on a session with others in the first places."
                    ) from None
                names, items = lost.remaining, half.items

    def check_input(self, data: Any, names: Sequence[str], name: str) -> None:
        """Raise an InputError unless the party could run with these baskets."""
        del name
        baskets = self._checked(data)
        if not self.items:
            large_items(self, baskets, len(names))

    def read_input(self, path: str | os.PathLike[str]) -> Baskets:
        """Read the baskets from a file, as ``discreet mine`` does."""
        from discreet.engines.baskets.files import read_baskets

        columns = {"basket": self.basket or None, "item": self.item or None}
        return read_baskets(path, format=self.format or None, **columns)

    def result_files(self, output: JointRules) -> dict[str, Any]:
        """Return the itemsets and the rules as files."""
        return output.files()

    def covers(self, output: JointRules, names: Sequence[str]) -> tuple[str, ...]:
        """Return the parties whose baskets are in the result."""
        del names
        return output.parties

    def _checked(self, data: Any) -> Baskets:
        """Return baskets with text for names; refuse what is none."""
        import pyarrow as pa

        if data is None:
            raise InputError("The protocol 'rules' takes the baskets of every party.")
        baskets = data if isinstance(data, Baskets) else Baskets.from_lists(data)
        names = baskets.names.cast(pa.string())
        most = self.max_item_bytes
        if not self.items and any(len(name.encode()) > most for name in names.to_pylist()):
            raise InputError(f"The name of an item has more than {most} bytes; raise max_item_bytes.")
        return Baskets(baskets.indptr, baskets.items, names)
