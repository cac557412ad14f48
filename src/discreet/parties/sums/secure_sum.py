"""Secure sum of vectors (masks: Bonawitz et al. 2017; ring: Clifton et al. 2002)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import InstanceOf, IntIn, OneOf, require
from discreet.parties.channel import MAX_PAYLOAD
from discreet.parties.crypto.masks import Words
from discreet.parties.protocol import Party, Protocol
from discreet.parties.sums.masked_sum import masked_frames, masked_sum
from discreet.parties.transcript import FrameShape

# The result travels behind one bit for each party, for which 4,096 bytes are reserved.
_MAX_LENGTH = (MAX_PAYLOAD - 4096) // 8
_FEW = 5
"""A count below this one concerns few people."""


@public
@dataclass(frozen=True)
class Sum:
    """The output of a secure sum: the values, and the parties whose vectors are in it.

    ``values`` is None at a party to which the sum is not opened. ``late`` are the parties without which the others went
    on because they did not answer in time; those that closed their connection are not among them.

    >>> Sum(np.array([60, 6]), ("a", "b", "c")).late
    ()
    """

    values: np.ndarray[Any, Any] | None
    parties: tuple[str, ...]
    late: tuple[str, ...] = ()


@public
@dataclass(frozen=True)
class SecureSum(Protocol):
    """The sum of the parties' vectors, and nothing else about them.

    With ``method="masks"`` every pair of parties shares a mask that one adds and the other subtracts, and every party
    adds a mask of its own. The keys of all masks are shared among the parties, so that the sum of those who remain
    can be opened when some drop out, down to ``threshold``. One party, the collector, receives the masked vectors.
    With ``method="ring"`` the first party adds a random vector and the running sum goes around once.

    Parameters
    ----------
    length : int
        The number of values of each vector.
    method : {"masks", "ring"}
        How the vectors are hidden.
    kind : {"integer", "modular", "real"}
        Integers whose sum must fit into 64 bits, words modulo 2**64, or reals in fixed point.
    fraction_bits : int
        For reals, the bits after the binary point: each vector is rounded to multiples of 2**-fraction_bits.
    threshold : int
        For masks, how many parties must remain, and how many must pool their shares to unmask another: at least 3,
        as the sum of two reveals both. 0 stands for more than half of the parties, and at least 3.
    collector : str
        For masks, the party that receives the masked vectors; the first one by default.
    open_to : {"all", "collector"}
        For masks, who learns the sum.
    labels : tuple of str
        Public names of the values, for files: the data then has the columns label and value.
    two_parties_see_each_other : bool
        Whether two parties may run it, each of whom learns the other's vector from the sum.

    Examples
    --------
    >>> from discreet.parties import SecureSum, simulate
    >>> run = simulate(SecureSum(length=2), {"a": [10, 1], "b": [20, 2], "c": [30, 3]})
    >>> run.outputs["b"].values
    array([60,  6])

    References
    ----------
    Bonawitz et al., "Practical secure aggregation for privacy-preserving machine learning", CCS 2017.
    Clifton et al., "Tools for privacy preserving distributed data mining", SIGKDD Explorations 4(2), 2002.
    """

    length: int
    method: str = "masks"
    kind: str = "integer"
    fraction_bits: int = 20
    threshold: int = 0
    collector: str = ""
    open_to: str = "all"
    labels: tuple[str, ...] = ()
    two_parties_see_each_other: bool = False

    name: ClassVar[str] = "secure-sum"
    two_parties_reveal: ClassVar[bool] = True
    two_parties_learn: ClassVar[str] = "Of two parties each learns the other's vector, which the sum reveals."

    def __post_init__(self) -> None:
        require(self, "length", self.length, IntIn(1, _MAX_LENGTH))
        require(self, "method", self.method, OneOf(("masks", "ring")))
        require(self, "kind", self.kind, OneOf(("integer", "modular", "real")))
        require(self, "fraction_bits", self.fraction_bits, IntIn(0, 52))
        require(self, "threshold", self.threshold, IntIn(0))
        require(self, "collector", self.collector, InstanceOf((str,), "the name of a party"))
        require(self, "open_to", self.open_to, OneOf(("all", "collector")))
        require(self, "labels", self.labels, InstanceOf((tuple,), "a tuple of texts"))
        if self.labels and (
            len(set(self.labels)) != self.length or not all(isinstance(x, str) for x in self.labels)
        ):
            raise ParameterError(
                f"The 'labels' parameter of SecureSum must be {self.length} different texts."
            )
        if self.method == "ring" and (self.threshold or self.collector or self.open_to != "all"):
            raise ParameterError(
                "The ring takes no 'threshold', 'collector' or 'open_to'; use method='masks'."
            )

    @property
    def leaks(self) -> tuple[str, ...]:
        """What each party learns beyond the sum."""
        ring = (
            "The two neighbors of a party on the ring learn its vector exactly if they pool what they saw.",
        )
        masks = (
            "Every party learns which parties dropped out, in which round, and whether they were late.",
            "The collector together with enough parties to reach the threshold learns every vector.",
        )
        pooled = (
            "A party can subtract its own vector from the sum it knows, and parties that pool what they saw all of "
            "theirs: they learn the sum of the others, and all but one of those in it that one's vector."
        )
        runs = "Sums of several runs can be subtracted: what differs between them, a party or a row, is the difference."
        small = "Every value of the sum is opened, however small; a count of one points to a person."
        return (*(ring if self.method == "ring" else masks), pooled, *self.consent_leaks, runs, small)

    def check_parties(self, names: Sequence[str]) -> None:
        """Raise a ParameterError unless the protocol can run among these parties."""
        super().check_parties(names)
        if self.collector and self.collector not in names:
            raise ParameterError("The 'collector' parameter of SecureSum must be the name of a party.")
        if self.threshold:
            require(self, "threshold", self.threshold, IntIn(min(3, len(names)), len(names)))

    def needed(self, n_parties: int) -> int:
        """Return how many parties must remain; of three or more never fewer than three.

        >>> SecureSum(length=1).needed(3), SecureSum(length=1).needed(10), SecureSum(length=1, threshold=4).needed(10)
        (3, 6, 4)
        """
        if self.method == "ring":
            return n_parties
        return self.threshold or max(min(3, n_parties), n_parties // 2 + 1)

    def withstands(self, n_parties: int) -> int:
        """Return how many parties may pool what they saw and learn a sum of two others or more, and nothing else.

        What they put in themselves they can subtract from the sum, which may cover no more parties than are needed. Two
        parties that agreed to see each other withstand each alone.

        >>> SecureSum(length=1).withstands(3), SecureSum(length=1, threshold=5).withstands(5)
        (1, 3)
        """
        return 1 if self.method == "ring" else max(1, self.needed(n_parties) - 2)

    def frames(
        self, names: Sequence[str], *, dropped: Mapping[str, str] | None = None
    ) -> Iterator[FrameShape]:
        """Return the frames of a run; ``dropped`` maps parties to the kind of the frame before which they left."""
        if self.method == "ring":
            return ring_frames(tuple(names), self.length)
        return masked_frames(
            tuple(names), self._collector(names), self.length, dropped or {}, to_all=self.open_to == "all"
        )

    def _run(self, party: Party, words: Words) -> Sum:
        included: tuple[str, ...] = party.names
        if self.method == "ring":
            total: Words | None = ring_sum(party, words)
        else:
            total, included = masked_sum(
                party,
                words,
                threshold=self.needed(len(party.names)),
                collector=self._collector(party.names),
                to_all=self.open_to == "all",
            )
        if total is None:
            return Sum(None, included, party.late)
        values = decode_words(total, kind=self.kind, fraction_bits=self.fraction_bits)
        return Sum(values, included, party.late)

    def checked(self, data: Any, names: Sequence[str], name: str) -> Words:
        """Return the vector as words; refuse one of another length, or with values out of range."""
        del name
        return encode_words(
            data, kind=self.kind, length=self.length, n_parties=len(names), fraction_bits=self.fraction_bits
        )

    def read_input(self, path: str | os.PathLike[str]) -> Any:
        """Read the vector: a file of one column of numbers, or of the columns label and value."""
        from discreet.parties.inputs import labelled_numbers

        return labelled_numbers(path, self.labels)

    def result_files(self, output: Sum) -> dict[str, Any]:
        """Return the sum as columns, with its labels."""
        values = np.zeros(0) if output.values is None else output.values
        labels = {"label": list(self.labels)} if self.labels and output.values is not None else {}
        return {"result.csv": {**labels, "value": values}}

    def cautions(self, output: Sum) -> tuple[str, ...]:
        """Return how many values of the sum are as small as a count of few people is."""
        if output.values is None or self.kind != "integer":
            return ()
        n = int(np.count_nonzero((output.values > 0) & (output.values < _FEW)))
        few = f"{n} values of the sum lie between 1 and {_FEW - 1}; as counts they concern few people."
        return (few,) if n else ()

    def _collector(self, names: Sequence[str]) -> str:
        return self.collector or names[0]


def ring_sum(party: Party, words: Words) -> Words:
    """Return the sum of the parties' words modulo 2**64: a running sum with a random start goes around once.

    The two neighbors of a party see the running sum before and after it. If they pool them, the difference is its
    vector.
    """
    size = words.nbytes
    # Index −1 is the last party, which closes the ring.
    before = party.names[party.index - 1]
    after = party.names[(party.index + 1) % len(party.names)]
    with party.step("ring"):
        if party.index == 0:
            # A uniform start makes every running sum uniform, whatever it holds; nobody but the first party
            # can take it off, and it does so once all have added theirs.
            start = np.frombuffer(party.random(size), dtype="<u8")
            party.send(after, "running", (words + start).tobytes())
            total: Words = np.frombuffer(party.recv(before, "running", size), dtype="<u8") - start
        else:
            running = np.frombuffer(party.recv(before, "running", size), dtype="<u8") + words
            party.send(after, "running", running.tobytes())
    with party.step("result"):
        if party.index == 0:
            party.broadcast("result", total.tobytes())
            return total
        return np.frombuffer(party.recv(party.names[0], "result", size), dtype="<u8").copy()


def ring_frames(names: tuple[str, ...], length: int) -> Iterator[FrameShape]:
    """Return the frames of a ring."""
    for sender, receiver in zip(names, (*names[1:], names[0]), strict=True):
        yield FrameShape(sender, receiver, "running", 8 * length)
    for receiver in names[1:]:
        yield FrameShape(names[0], receiver, "result", 8 * length)


def encode_words(values: Any, *, kind: str, length: int, n_parties: int, fraction_bits: int) -> Words:
    """Return a vector as words; refuse one of another length, or whose sum over the parties could overflow.

    >>> encode_words([-1, 2], kind="integer", length=2, n_parties=3, fraction_bits=0)
    array([18446744073709551615,                    2], dtype=uint64)
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise ParameterError("The vector of a secure sum must be a sequence of numbers.") from None
    if array.ndim != 1 or len(array) != length:
        shape = f"{len(array)} values" if array.ndim == 1 else f"{array.ndim} dimensions"
        raise ParameterError(f"The vector of a secure sum must have {length} values. Got {shape}.")
    if kind == "modular":
        return _modular(array)
    if kind == "real":
        return _real(array, n_parties, fraction_bits)
    return _integer(array, n_parties)


def decode_words(words: Words, *, kind: str, fraction_bits: int) -> np.ndarray[Any, Any]:
    """Return the sum that words stand for."""
    if kind == "modular":
        return words
    signed = words.view(np.int64)
    return signed if kind == "integer" else np.ldexp(signed.astype(np.float64), -fraction_bits)


def largest(n_parties: int) -> int:
    """Return the largest magnitude a value may have so that the sum over the parties fits into 64 bits."""
    return ((1 << 63) - 1) // n_parties


def _modular(array: np.ndarray[Any, Any]) -> Words:
    if array.dtype != np.uint64:
        raise ParameterError("The vector of a modular secure sum must be of dtype uint64.")
    return np.ascontiguousarray(array)


def _integer(array: np.ndarray[Any, Any], n_parties: int) -> Words:
    if array.size and array.dtype.kind not in "iub":
        raise ParameterError("The vector of an integer secure sum must hold integers and no missing value.")
    # Compared as Python integers: a uint64 above the largest int64 has no place in an array of that type.
    limit = largest(n_parties)
    if array.size and (int(array.max()) > limit or int(array.min()) < -limit):
        raise ParameterError(
            f"A value of the vector is out of range; among {n_parties} parties it is ±{limit}."
        )
    return array.astype(np.int64).view(np.uint64)


def _real(array: np.ndarray[Any, Any], n_parties: int, fraction_bits: int) -> Words:
    if array.size and array.dtype.kind not in "iubf":
        raise ParameterError("The vector of a real secure sum must hold numbers and no missing value.")
    with np.errstate(over="ignore"):
        scaled = np.ldexp(array.astype(np.float64), fraction_bits)
    if not np.isfinite(scaled).all():
        raise ParameterError("The vector of a real secure sum must hold finite numbers.")
    limit = largest(n_parties)
    # float(limit) may be rounded up, hence "at least": the next smaller float is not above the limit.
    if array.size and float(np.abs(scaled).max()) >= float(limit):
        bound = limit / 2.0**fraction_bits
        raise ParameterError(
            f"A value of the vector is out of range; among {n_parties} parties it is ±{bound:.6g}."
        )
    words: Words = np.rint(scaled).astype(np.int64).view(np.uint64)
    return words
