"""Private set intersection by oblivious transfer (Kolesnikov, Kumaresan, Rosulek & Trieu, 2016)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.boundary import public
from discreet.core.params import IntIn, OneOf, require
from discreet.parties.crypto.aes import SEED, KeyStream
from discreet.parties.crypto.shuffling import shuffled
from discreet.parties.inputs import private_set
from discreet.parties.protocol import Party, Protocol
from discreet.parties.sets.oblivious_tags import N_PLACES, TagReceiver, TagSender, tag_bytes, tag_frames
from discreet.parties.transcript import FrameShape

MAX_SIZE = 1 << 24
_TAGS, _MATCHES = "psi.tags", "psi.matches"
_AT_ONCE = 1 << 20
_FAKE = 32


@public
@dataclass(frozen=True)
class SetIntersection(Protocol):
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
    max_parties: ClassVar[int | None] = 2

    max_first: int
    max_second: int
    output: Literal["first", "both"] = "first"

    def __post_init__(self) -> None:
        require(self, "max_first", self.max_first, IntIn(1, MAX_SIZE))
        require(self, "max_second", self.max_second, IntIn(1, MAX_SIZE))
        require(self, "output", self.output, OneOf(("first", "both")))

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        return ("A party that puts in guessed elements learns which of them the other party holds.",)

    def frames(self, names: Sequence[str]) -> Iterable[FrameShape]:
        """Return the frames of a complete run."""
        first, second = names
        frames = tag_frames(second, first, self.max_first)
        for _ in range(N_PLACES):
            for start, stop in _parts(self.max_second):
                frames.append(FrameShape(second, first, _TAGS, (stop - start) * self._tag))
        if self.output == "both":
            frames.append(FrameShape(first, second, _MATCHES, -(-self.max_second // 8)))
        return frames

    def run(self, party: Party, data: Any) -> list[Any] | None:
        """Run one party's half with its set."""
        elements = self._checked(party.index, data)
        found = self._send(party, list(elements)) if party.index else self._receive(party, list(elements))
        return None if found is None else [elements[one] for one in found]

    def check_input(self, data: Any, names: Sequence[str], name: str) -> None:
        """Raise an InputError unless the party could run with this input."""
        self._checked(names.index(name), data)

    def read_input(self, path: str | os.PathLike[str]) -> Any:
        """Read the set: a file of one column."""
        from discreet.parties.tables import texts

        return texts(path)

    def result_columns(self, output: Any) -> dict[str, Any]:
        """Return the intersection as one column."""
        return {"element": output or []}

    def _checked(self, index: int, data: Any) -> dict[bytes, Any]:
        return private_set(data, max_size=(self.max_first, self.max_second)[index], of="set")

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
        parts = [
            party.recv(party.peer, _TAGS, (stop - start) * self._tag)
            for start, stop in _parts(self.max_second)
        ]
        data = b"".join(parts)
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
            for start, stop in _parts(self.max_second):
                party.send(party.peer, _TAGS, placed[start:stop].reshape(-1).data)
        if self.output == "first":
            return None
        payload = party.recv(party.peer, _MATCHES, -(-self.max_second // 8))
        matches = np.unpackbits(np.frombuffer(payload, np.uint8), count=self.max_second)[order]
        return [element for element, match in zip(elements, matches, strict=False) if match]


def padded(elements: Sequence[bytes], size: int, coins: KeyStream) -> list[bytes]:
    """Return the elements and random ones up to the size, which cost the same time and match nothing."""
    fakes = coins.take((size - len(elements)) * _FAKE).tobytes()
    return [*elements, *(fakes[at : at + _FAKE] for at in range(0, len(fakes), _FAKE))]


def _parts(n: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n, _AT_ONCE):
        yield start, min(start + _AT_ONCE, n)
