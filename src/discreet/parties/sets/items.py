"""Items of a set: texts in, UTF-8 out, without repetitions; no message shows one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from discreet.core.boundary import public
from discreet.core.errors import ParameterError


@public
@dataclass(frozen=True)
class Union:
    """The output of a secure set union: the items, and the parties whose sets are in it."""

    items: tuple[str, ...]
    parties: tuple[str, ...]


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


def union_columns(union: Union) -> dict[str, Any]:
    """Return a union as a column of texts."""
    import pyarrow as pa

    return {"item": pa.array(list(union.items), pa.string())}
