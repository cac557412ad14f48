"""Many secure sums in one session: the keys of several are set up at once, and each sum has masks of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.parties.protocol import Party
from discreet.parties.sums.mask_setup import Half, prepare
from discreet.parties.sums.masked_sum import mask_setup_frames, prepared_sum, sum_frames
from discreet.parties.sums.secure_sum import SecureSum, Sum, decode_words, encode_words
from discreet.parties.transcript import FrameShape

AT_ONCE = 8
"""The sums whose keys and shares travel together."""


class SumRounds:
    """One party's end of as many secure sums as a protocol needs, one after the other.

    A sum is that of :class:`SecureSum` by masks, with the same guarantee. Its keys and shares come from a set-up that
    serves ``at_once`` sums, so that a sum takes two rounds instead of four. No secret is used for two sums: what is
    revealed of a party that drops out from one of them does not unmask what it put into an earlier one.

    A party that drops out before the first sum is opened is missing from all sums; below the threshold all stop. After
    that every sum has the parties of the first one, or is not opened and all stop with a LostPartyError: two sums over
    different parties can be subtracted, and what is left is what the lost party put in.

    Parameters
    ----------
    party : Party
        This end.
    label : str
        The use of these sums, which all parties share and which occurs once in a session.
    threshold : int
        How many parties must remain; 0 stands for more than half of them, and at least 3.
    required : sequence of str
        The parties without which no sum is opened, not even the first one.
    at_once : int
        The sums that are set up together.
    """

    def __init__(
        self,
        party: Party,
        *,
        label: str = "sums",
        threshold: int = 0,
        required: Sequence[str] = (),
        at_once: int = AT_ONCE,
    ) -> None:
        self._party, self._label, self._at_once = party, label, at_once
        self._required = tuple(required)
        self._threshold = SecureSum(length=1, threshold=threshold).needed(len(party.names))
        self._ready: list[Half] = []
        self._n_setups = 0

    def add(
        self,
        values: Any,
        *,
        kind: str = "integer",
        fraction_bits: int = 20,
        to_all: bool = True,
        required: Sequence[str] = (),
    ) -> Sum:
        """Add a vector to the next sum; return the sum, which is that of all parties that remain.

        ``kind`` and ``fraction_bits`` are those of :class:`SecureSum`. All parties add vectors of the same length.
        With ``to_all`` false the values are None at every party but the first one, which collects the masked vectors.
        ``required`` are further parties without which this sum is not opened.
        """
        length, n = len(values), len(self._party.names)
        words = encode_words(values, kind=kind, length=length, n_parties=n, fraction_bits=fraction_bits)
        if not self._ready:
            self._set_up()
        total, included = prepared_sum(
            self._ready.pop(0), words, to_all=to_all, required={*self._required, *required}
        )
        # From the first sum on, its parties are required: two
        # sums over different parties could be subtracted.
        self._required, late = included, self._party.late
        if total is None:
            return Sum(None, included, late)
        return Sum(decode_words(total, kind=kind, fraction_bits=fraction_bits), included, late)

    def _set_up(self) -> None:
        self._n_setups += 1
        # A label of its own: the keys of masks depend on it, so no mask occurs in two set-ups.
        within = self._party.within(f"{self._label} {self._n_setups}")
        self._ready = prepare(
            within, threshold=self._threshold, collector=within.names[0], n_sums=self._at_once
        )


class RoundFrames:
    """The frames of :class:`SumRounds`, sum by sum, from which no party drops out."""

    def __init__(self, names: Sequence[str], *, at_once: int = AT_ONCE) -> None:
        self._names, self._at_once, self._n_sums = tuple(names), at_once, 0

    def add(self, length: int, *, to_all: bool = True) -> list[FrameShape]:
        """Return the frames of the next sum, of vectors of this length, with its set-up where it needs one."""
        names, collector = self._names, self._names[0]
        frames: list[FrameShape] = []
        if self._n_sums % self._at_once == 0:
            frames += mask_setup_frames(names, collector, self._at_once)
        self._n_sums += 1
        return [*frames, *sum_frames(names, collector, length, to_all=to_all)]
