"""Secure set union over a public list of candidates: an OR by a secure sum of random words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import InstanceOf, IntIn, require
from discreet.parties.protocol import Party
from discreet.parties.sets.private_sets import UnionProtocol, UnitedItems, encoded_items
from discreet.parties.sums.secure_sum import SecureSum, Sum
from discreet.parties.transcript import FrameShape

Flags = NDArray[np.bool_]


@public
@dataclass(frozen=True)
class CandidateUnion(UnionProtocol):
    """The candidates that at least one party holds; nobody learns who, or how many.

    For each candidate it holds, a party adds a random word of 64 bits to a secure sum, and zero for the others. The sum
    is random if anyone holds the candidate, however many do, and zero otherwise. It is opened to one party that
    contributes nothing, the collector, which sends the bits to all. A held candidate is missed with a chance of 2**-64.

    Parameters
    ----------
    candidates : list or tuple of str
        The public list.
    collector : str
        The party that contributes nothing; the first one by default. Its input must be empty.
    threshold : int
        How many parties must remain, the collector included; 0 stands for more than half, and at least 4.
    two_parties_see_each_other : bool
        Whether two parties may contribute, each of whom learns from the union what only the other one holds.

    Examples
    --------
    >>> from discreet.parties import CandidateUnion, simulate
    >>> union = CandidateUnion(candidates=["beer", "bread", "milk"])
    >>> simulate(union, {"helper": (), "a": ["bread"], "b": ["beer", "bread"], "c": []}).outputs["a"].items
    ('beer', 'bread')
    """

    candidates: list[str] | tuple[str, ...]
    collector: str = ""
    threshold: int = 0
    two_parties_see_each_other: bool = False

    name: ClassVar[str] = "candidate-union"
    min_parties: ClassVar[int] = 3
    two_parties_reveal: ClassVar[bool] = True
    two_parties_learn: ClassVar[str] = (
        "Of two contributing parties each learns which items only the other one has, which the union reveals."
    )
    n_without_input: ClassVar[int] = 1

    def __post_init__(self) -> None:
        require(self, "candidates", self.candidates, InstanceOf((list, tuple), "a list of texts"))
        object.__setattr__(self, "candidates", tuple(self.candidates))
        if not self.candidates or not all(isinstance(item, str) for item in self.candidates):
            raise ParameterError("The 'candidates' parameter of CandidateUnion must be one or more texts.")
        if len(set(self.candidates)) < len(self.candidates):
            raise ParameterError("The 'candidates' parameter of CandidateUnion must not repeat a text.")
        require(self, "threshold", self.threshold, IntIn(0))
        # Made once here, so that what a secure sum refuses is refused before a session is opened.
        _ = self._sum(3)

    @property
    def leaks(self) -> tuple[str, ...]:
        """What each party learns beyond the union."""
        return (
            "Every party learns which parties dropped out, in which round, and whether they were late.",
            "The collector together with a party that holds an item learns whether another one holds it too.",
            "The collector together with enough parties to reach the threshold learns every party's items.",
            (
                "Parties that pool what they saw learn which items of the union only others hold; all but one of those "
                "that contribute learn what that one holds beyond their own items, and with the collector all of it."
            ),
            *self.consent_leaks,
        )

    def check_parties(self, names: Sequence[str]) -> None:
        """Raise a ParameterError unless the protocol can run among these parties."""
        super().check_parties(names)
        n = len(names)
        if self.threshold:
            require(self, "threshold", self.threshold, IntIn(min(4, n), n))
        self._sum(n).check_parties(names)

    def frames(self, names: Sequence[str]) -> Iterator[FrameShape]:
        """Return the frames of a run."""
        yield from self._sum(len(names)).frames(names)
        collector = self.collector or names[0]
        for receiver in names:
            if receiver != collector:
                yield FrameShape(collector, receiver, "union", (len(self.candidates) + 7) // 8)

    def _run(self, party: Party, flags: Flags) -> UnitedItems:
        collector = self.collector or party.names[0]
        opened: Sum = self._sum(len(party.names)).run(party, self._words(party, flags))
        with party.step("union"):
            if opened.values is not None:
                bits = np.packbits(opened.values != 0).tobytes()
                for peer in opened.parties:
                    if peer != party.name:
                        party.try_send(peer, "union", bits)
            else:
                bits = party.recv(collector, "union", (len(self.candidates) + 7) // 8)
        present = np.unpackbits(np.frombuffer(bits, np.uint8), count=len(self.candidates))
        return UnitedItems(
            tuple(item for item, bit in zip(self.candidates, present, strict=True) if bit), opened.parties
        )

    def checked(self, data: Iterable[str] | None, names: Sequence[str], name: str) -> Flags:
        """Return which candidates the party's set holds; that of the collector must be empty."""
        items = set(encoded_items(() if data is None else data, owner=self, max_items=len(self.candidates)))
        candidates = [item.encode() for item in self.candidates]
        if not items <= set(candidates):
            raise ParameterError("The set of CandidateUnion holds an item that is not among the candidates.")
        if items and name == (self.collector or names[0]):
            raise ParameterError(
                "The collector of CandidateUnion contributes nothing; its set must be empty."
            )
        return np.array([item in items for item in candidates], bool)

    def needed(self, n_parties: int) -> int:
        """Return how many parties must remain: three that put something in, next to the collector.

        >>> CandidateUnion(candidates=("x",)).needed(4), CandidateUnion(candidates=("x",)).needed(10)
        (4, 6)
        """
        # Four: the collector puts in nothing, and the sum must still cover three.
        return self.threshold or max(min(4, n_parties), n_parties // 2 + 1)

    def withstands(self, n_parties: int) -> int:
        """Return how many parties may pool what they saw and learn of two others or more together at the most.

        >>> CandidateUnion(candidates=("x",)).withstands(4), CandidateUnion(candidates=("x",)).withstands(10)
        (1, 3)
        """
        return max(1, self.needed(n_parties) - self.n_without_input - 2)

    def _sum(self, n_parties: int) -> SecureSum:
        """Return the sum that is opened to the collector alone."""
        return SecureSum(
            length=len(self.candidates),
            kind="modular",
            collector=self.collector,
            threshold=self.needed(n_parties),
            open_to="collector",
        )

    def _words(self, party: Party, flags: Flags) -> NDArray[np.uint64]:
        """Return a random word for each candidate that the party holds and zero for the others."""
        # As many coins are drawn for every set, so that the time shows nothing about it.
        drawn = np.frombuffer(party.random(8 * len(flags)), dtype="<u8")
        return np.where(flags, drawn, np.uint64(0)).astype(np.uint64)
