"""Private sets: how a party's set is read and checked, padded and shuffled; unions and protocols of two sets."""

from __future__ import annotations

import os
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import IntIn, OneOf, require
from discreet.parties.crypto.aes import KeyStream
from discreet.parties.inputs import private_set
from discreet.parties.protocol import Protocol

T = TypeVar("T")
MAX_SIZE = 1 << 24
_KEY_BYTES = 16
_AT_ONCE = 1 << 20
_FAKE = 32


def in_random_order(items: Sequence[T], random_bytes: Callable[[int], bytes]) -> list[T]:
    """Return the items in a random order: sorted by keys of 128 random bits.

    >>> import os
    >>> sorted(in_random_order([3, 1, 2], os.urandom))
    [1, 2, 3]
    """
    # Two keys are equal with a chance of n²/2**129, so every order has the same chance but for that.
    keys = random_bytes(_KEY_BYTES * len(items))
    order = sorted(range(len(items)), key=lambda at: keys[at * _KEY_BYTES : (at + 1) * _KEY_BYTES])
    return [items[at] for at in order]


@public
@dataclass(frozen=True)
class UnitedItems:
    """The output of a secure set union: the items, and the parties whose sets are in it.

    >>> UnitedItems(("beer", "bread"), ("a", "b", "c")).items
    ('beer', 'bread')
    """

    items: tuple[str, ...]
    parties: tuple[str, ...]


class SetProtocol(Protocol):
    """A protocol whose private input is a set."""

    def read_input(self, path: str | os.PathLike[str]) -> Any:
        """Read the set: a file of one column."""
        from discreet.parties.inputs import read_texts

        return read_texts(path)


class UnionProtocol(SetProtocol):
    """A protocol whose output is a :class:`UnitedItems`."""

    def result_files(self, output: UnitedItems) -> dict[str, Any]:
        """Return the union as a column of texts."""
        import pyarrow as pa

        return {"result.csv": {"item": pa.array(list(output.items), pa.string())}}


def encoded_items(
    data: Iterable[str], *, owner: object, max_items: int, max_bytes: int | None = None
) -> list[bytes]:
    """Return a party's set in UTF-8, sorted; refuse what is no text, too long or too much."""
    name = type(owner).__name__
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise ParameterError(f"The set of {name} must be an iterable of texts.")
    items = list(data)
    if not all(isinstance(item, str) for item in items):
        raise ParameterError(f"The set of {name} must hold texts only, and no missing value.")
    try:
        encoded = sorted({item.encode() for item in items})
    except UnicodeEncodeError:
        raise ParameterError(f"The set of {name} holds a text that is not valid Unicode.") from None
    if len(encoded) > max_items:
        raise ParameterError(f"The set of {name} has {len(encoded)} items; the session allows {max_items}.")
    if max_bytes is not None and any(len(item) > max_bytes for item in encoded):
        raise ParameterError(
            f"The set of {name} holds a text of more than {max_bytes} bytes; raise max_item_bytes."
        )
    return encoded


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

    def checked(self, data: Any, names: Sequence[str], name: str) -> dict[bytes, Any]:
        """Return the elements of a party's set by their bytes."""
        return private_set(data, max_size=(self.max_first, self.max_second)[names.index(name)], of="set")


def padded(elements: Sequence[bytes], size: int, coins: KeyStream) -> list[bytes]:
    """Return the elements and random ones up to the size, which cost the same time and match nothing."""
    # With 256 random bits a fake equals no element of either party but by negligible chance.
    fakes = coins.take((size - len(elements)) * _FAKE).tobytes()
    return [*elements, *(fakes[at : at + _FAKE] for at in range(0, len(fakes), _FAKE))]


def parts(n: int) -> Iterator[tuple[int, int]]:
    """Iterate over the beginnings and ends of the parts that are sent in a frame each.

    >>> list(parts(5))
    [(0, 5)]
    """
    for start in range(0, n, _AT_ONCE):
        yield start, min(start + _AT_ONCE, n)
