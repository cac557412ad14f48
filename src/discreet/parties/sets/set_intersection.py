"""Private set intersection by oblivious transfer (Kolesnikov, Kumaresan, Rosulek & Trieu, 2016)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.core.boundary import public
from discreet.parties.crypto.aes import SEED, KeyStream
from discreet.parties.crypto.shuffling import shuffled
from discreet.parties.protocol import Party
from discreet.parties.sets.oblivious_tags import N_PLACES, TagReceiver, TagSender, tag_bytes, tag_frames
from discreet.parties.sets.two_sets import TwoSets, padded, parts
from discreet.parties.transcript import FrameShape

_TAGS, _MATCHES = "psi.tags", "psi.matches"


@public
@dataclass(frozen=True)
class SetIntersection(TwoSets):
    """The elements that two sets have in common, and nothing about the others.

    The first party of the session learns the intersection, and the second one where ``output="both"``. Sets are padded
    to the agreed sizes, so not even their true sizes show. Elements are texts, bytes or integers; text is compared
    byte for byte in UTF-8, and an integer equals its decimal digits as text. The output is the list of a party's own
    elements that are common, in the order of their bytes, or None at a party that learns nothing.

    Parameters
    ----------
    max_first, max_second : int
        The most elements that each party's set may have.
    output : {"first", "both"}
        Who learns the intersection.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = SetIntersection(max_first=10, max_second=10)
    >>> run = simulate(protocol, {"clinic": ["ada", "bob", "eve"], "insurer": ["bob", "eve", "joe"]})
    >>> run.outputs["clinic"]
    ['bob', 'eve']

    References
    ----------
    V. Kolesnikov, R. Kumaresan, M. Rosulek, N. Trieu. Efficient batched oblivious PRF with applications to private set
    intersection. CCS 2016.
    """

    name: ClassVar[str] = "set-intersection"

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        n = self.max_first if self.output == "first" else max(self.max_first, self.max_second)
        return (
            (
                f"A party that learns the intersection can put in up to {n:,} elements that it guessed, and "
                "learns which of them the other party holds."
            ),
        )

    def frames(self, names: Sequence[str]) -> Iterable[FrameShape]:
        """Return the frames of a complete run."""
        first, second = names
        frames = tag_frames(second, first, self.max_first)
        for _ in range(N_PLACES):
            for start, stop in parts(self.max_second):
                frames.append(FrameShape(second, first, _TAGS, (stop - start) * self._tag))
        if self.output == "both":
            frames.append(FrameShape(first, second, _MATCHES, -(-self.max_second // 8)))
        return frames

    def run(self, party: Party, data: Any) -> list[Any] | None:
        """Run one party's half with its set."""
        elements = self._checked(party.index, data)
        found = self._send(party, list(elements)) if party.index else self._receive(party, list(elements))
        return None if found is None else [elements[one] for one in found]

    def result_columns(self, output: Any) -> dict[str, Any]:
        """Return the intersection as one column."""
        return {"element": output or []}

    @property
    def _tag(self) -> int:
        return tag_bytes(self.max_first, self.max_second)

    def _receive(self, party: Party, elements: list[bytes]) -> list[bytes]:
        coins = KeyStream(party.random(SEED))
        own = TagReceiver(party, padded(elements, self.max_first, coins), size=self._tag)
        with party.step("tags"):
            return self._matched(party, elements, own)

    def _matched(self, party: Party, elements: list[bytes], own: TagReceiver) -> list[bytes]:
        found, matches = [], np.zeros(self.max_second, np.bool_)
        position = [self._received_tags(party) for _ in range(N_PLACES)]
        for number, (tag, place) in enumerate(zip(own.tags, own.place.tolist(), strict=True)):
            at = position[place].get(tag.tobytes())
            if at is not None and number < len(elements):
                found.append(elements[number])
                matches[at] = True
        if self.output == "both":
            party.send(party.peer, _MATCHES, np.packbits(matches).data)
        return found

    def _received_tags(self, party: Party) -> dict[bytes, int]:
        """Return the place of each of the sender's tags."""
        data = b"".join(
            party.recv(party.peer, _TAGS, (stop - start) * self._tag)
            for start, stop in parts(self.max_second)
        )
        return {data[at * self._tag : (at + 1) * self._tag]: at for at in range(self.max_second)}

    def _send(self, party: Party, elements: list[bytes]) -> list[bytes] | None:
        sender = TagSender(party, max_receiver=self.max_first, size=self._tag)
        with party.step("tags"):
            return self._answered(party, elements, sender)

    def _answered(self, party: Party, elements: list[bytes], sender: TagSender) -> list[bytes] | None:
        coins = KeyStream(party.random(SEED))
        order = np.array(shuffled(range(self.max_second), party.random))
        for tags in sender.tags(padded(elements, self.max_second, coins)):
            placed = np.empty_like(tags)
            placed[order] = tags
            for start, stop in parts(self.max_second):
                party.send(party.peer, _TAGS, placed[start:stop].reshape(-1).data)
        if self.output == "first":
            return None
        payload = party.recv(party.peer, _MATCHES, -(-self.max_second // 8))
        matches = np.unpackbits(np.frombuffer(payload, np.uint8), count=self.max_second)[order]
        return [element for element, match in zip(elements, matches, strict=False) if match]
