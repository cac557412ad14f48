"""What protocols between two private sets share: the agreed sizes, who learns the result, and padding."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from discreet.core.params import IntIn, OneOf, require
from discreet.parties.crypto.aes import KeyStream
from discreet.parties.inputs import private_set
from discreet.parties.sets.items import SetProtocol

MAX_SIZE = 1 << 24
_AT_ONCE = 1 << 20
_FAKE = 32


@dataclass(frozen=True)
class TwoSets(SetProtocol, ABC):
    """A protocol between two private sets, padded to the agreed sizes.

    Parameters
    ----------
    max_first, max_second : int
        The most elements that each party's set may have.
    output : {"first", "both"}
        Who learns the result.
    """

    max_first: int
    max_second: int
    output: Literal["first", "both"] = "first"

    max_parties: ClassVar[int | None] = 2

    def __post_init__(self) -> None:
        require(self, "max_first", self.max_first, IntIn(1, MAX_SIZE))
        require(self, "max_second", self.max_second, IntIn(1, MAX_SIZE))
        require(self, "output", self.output, OneOf(("first", "both")))

    def check_input(self, data: Any, names: Sequence[str], name: str) -> None:
        """Raise an InputError unless the party could run with this input."""
        self._checked(names.index(name), data)

    def _checked(self, index: int, data: Any) -> dict[bytes, Any]:
        return private_set(data, max_size=(self.max_first, self.max_second)[index], of="set")


def padded(elements: Sequence[bytes], size: int, coins: KeyStream) -> list[bytes]:
    """Return the elements and random ones up to the size, which cost the same time and match nothing."""
    fakes = coins.take((size - len(elements)) * _FAKE).tobytes()
    return [*elements, *(fakes[at : at + _FAKE] for at in range(0, len(fakes), _FAKE))]


def parts(n: int) -> Iterator[tuple[int, int]]:
    """Iterate over the beginnings and ends of the parts that are sent in a frame each.

    >>> list(parts(5))
    [(0, 5)]
    """
    for start in range(0, n, _AT_ONCE):
        yield start, min(start + _AT_ONCE, n)
