"""Keyed pseudonyms for identifiers: HMAC-SHA-256, shortened to 128 bits."""

from __future__ import annotations

import hashlib
import hmac

import pyarrow as pa

from discreet.core.errors import SchemaError
from discreet.core.tables.encoding import type_name

LENGTH = 32


def pseudonym(value: str, key: bytes) -> str:
    """Return the pseudonym of one identifier.

    >>> pseudonym("012-345-6789", b"sixteen bytes of key")
    'ef6a616d5aa479895d3b156d1b01402b'
    """
    return hmac.new(key, value.encode(), hashlib.sha256).hexdigest()[:LENGTH]


def pseudonyms(array: pa.Array, key: bytes, column: str = "") -> pa.Array:
    """Return the pseudonyms of a column of identifiers; nulls stay null."""
    try:
        encoded = array.cast(pa.string()).dictionary_encode()
    except pa.ArrowException:
        raise SchemaError(
            f"Column '{column}' has the type {type_name(array.type)}, for which there are no pseudonyms; make it text "
            "first."
        ) from None
    book = pa.array([pseudonym(value, key) for value in encoded.dictionary.to_pylist()], pa.string())
    return pa.DictionaryArray.from_arrays(encoded.indices, book).cast(pa.string())
