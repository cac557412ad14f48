"""The size of the intersection of two sets, by shuffled Diffie–Hellman masks (Huberman et al., 1999)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.core.boundary import public
from discreet.kernels.threads import in_threads
from discreet.parties.crypto.aes import SEED, KeyStream
from discreet.parties.crypto.oprf import hash_to_group
from discreet.parties.crypto.ristretto import ELEMENT, UNIFORM, GroupError, ristretto, scalar_from
from discreet.parties.errors import PartyError
from discreet.parties.protocol import Party
from discreet.parties.sets.private_sets import TwoSets, in_random_order, padded, parts
from discreet.parties.transcript import FrameShape

_FIRST, _SECOND, _BOTH, _SIZE = "psi.first", "psi.second", "psi.both", "psi.size"


@public
@dataclass(frozen=True)
class IntersectionSize(TwoSets):
    """The number of elements that two sets have in common, and not which ones.

    Each party raises hashes of its elements to a secret power; what both have raised can be compared, and the second
    party shuffles what it raises for the first. The first party of the session learns the size, and the second one
    where ``output="both"``. Sets are padded to the agreed sizes. Elements are those of :class:`SetIntersection`.

    Parameters
    ----------
    max_first, max_second : int
        The most elements that each party's set may have.
    output : {"first", "both"}
        Who learns the size.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = IntersectionSize(max_first=10, max_second=10)
    >>> run = simulate(protocol, {"clinic": ["ada", "bob", "eve"], "insurer": ["bob", "eve", "joe"]})
    >>> run.outputs["clinic"]
    2

    References
    ----------
    B. Huberman, M. Franklin, T. Hogg. Enhancing privacy and trust in electronic communities. EC 1999.
    """

    name: ClassVar[str] = "intersection-size"

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        return (
            "The size is opened, however small; a size of one points to a person.",
            "A party that puts in one element that it guessed learns whether the other party holds it.",
        )

    def cautions(self, output: int | None) -> tuple[str, ...]:
        """Return that the size is small, where it is."""
        return ("The size lies between 1 and 4; it concerns few people.",) if output and output < 5 else ()

    def frames(self, names: Sequence[str]) -> Iterable[FrameShape]:
        """Return the frames of a complete run."""
        first, second = names
        frames = [
            *_frames(first, second, _FIRST, self.max_first),
            *_frames(second, first, _BOTH, self.max_first),
            *_frames(second, first, _SECOND, self.max_second),
        ]
        return [*frames, FrameShape(first, second, _SIZE, 8)] if self.output == "both" else frames

    def _run(self, party: Party, elements: dict[bytes, Any]) -> int | None:
        first, size = party.index == 0, (self.max_first, self.max_second)[party.index]
        coins = KeyStream(party.random(SEED))
        power = scalar_from(party.random(UNIFORM))
        hashes = _hashed(party, list(elements), size, coins)
        # Shuffled before they leave: the own elements stand first and the padding behind them.
        raised = _raised(power, in_random_order(hashes, party.random))
        return self._count(party, power, raised) if first else self._answer(party, power, raised)

    def result_files(self, output: Any) -> dict[str, Any]:
        """Return the size as one value."""
        return {"result.csv": {"size": [] if output is None else [output]}}

    def _count(self, party: Party, power: bytes, raised: list[bytes]) -> int:
        _send(party, _FIRST, raised)
        raised_twice = set(_received(party, _BOTH, self.max_first))
        size = len(raised_twice & set(_raised_received(power, party, _SECOND, self.max_second)))
        if self.output == "both":
            party.send(party.peer, _SIZE, size.to_bytes(8, "big"))
        return size

    def _answer(self, party: Party, power: bytes, raised: list[bytes]) -> int | None:
        both = _raised_received(power, party, _FIRST, self.max_first)
        # Shuffled, else the first party would see by their places which of its elements are common.
        _send(party, _BOTH, in_random_order(both, party.random))
        _send(party, _SECOND, raised)
        if self.output == "first":
            return None
        return int.from_bytes(party.recv(party.peer, _SIZE, 8), "big")


def _hashed(party: Party, elements: list[bytes], size: int, coins: KeyStream) -> list[bytes]:
    """Return the elements as group elements of this session, and random ones up to the agreed size."""
    tag = b"discreet intersection size" + party.session
    return [hash_to_group(element, tag=tag) for element in padded(elements, size, coins)]


def _raised(power: bytes, elements: list[bytes]) -> list[bytes]:
    """Return the power of every element; libsodium computes outside the interpreter's lock."""
    group = ristretto()
    raised = in_threads(
        lambda start, stop: [group.multiply(power, element) for element in elements[start:stop]],
        len(elements),
    )
    return [element for part in raised for element in part]


def _send(party: Party, kind: str, elements: list[bytes]) -> None:
    for start, stop in parts(len(elements)):
        party.send(party.peer, kind, b"".join(elements[start:stop]))


def _received(party: Party, kind: str, n: int) -> list[bytes]:
    """Return strings of the length of elements; whether they are elements shows when they are raised."""
    data = b"".join(party.recv(party.peer, kind, (stop - start) * ELEMENT) for start, stop in parts(n))
    return [data[at : at + ELEMENT] for at in range(0, len(data), ELEMENT)]


def _raised_received(power: bytes, party: Party, kind: str, n: int) -> list[bytes]:
    try:
        return _raised(power, _received(party, kind, n))
    except GroupError:
        raise PartyError(f"Party '{party.peer}' sent an invalid group element.") from None


def _frames(sender: str, receiver: str, kind: str, n: int) -> Iterator[FrameShape]:
    for start, stop in parts(n):
        yield FrameShape(sender, receiver, kind, (stop - start) * ELEMENT)
