"""Items of a set: texts in, UTF-8 out, without repetitions; no message shows one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.parties.protocol import Protocol


@public
@dataclass(frozen=True)
class Union:
    """The output of a secure set union: the items, and the parties whose sets are in it."""

    items: tuple[str, ...]
    parties: tuple[str, ...]


class SetProtocol(Protocol):
    """A protocol whose private input is a set."""

    def read_input(self, path: str | os.PathLike[str]) -> Any:
        """Read the set: a file of one column."""
        from discreet.parties.tables import texts

        return texts(path)


class UnionProtocol(SetProtocol):
    """A protocol whose output is a :class:`Union`."""

    def result_columns(self, output: Union) -> dict[str, Any]:
        """Return the union as a column of texts."""
        import pyarrow as pa

        return {"item": pa.array(list(output.items), pa.string())}

    def covers(self, output: Union, names: Sequence[str]) -> tuple[str, ...]:
        """Return the parties whose sets are in the union."""
        del names
        return output.parties


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
