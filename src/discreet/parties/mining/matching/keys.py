"""Keys of people: one spelling for what different parties spell differently."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet.core.errors import InputError


def normalized(key: Any) -> bytes:
    r"""Return the spelling of a key that parties compare, in UTF-8.

    Compatible characters become one (NFKC: full-width digits, ligatures, composed accents), letters lose their case
    (case folding: ß becomes ss), runs of white space become one space, and white space at both ends is left out.
    Punctuation, accents and leading zeros count. A whole number is its decimal digits.

    >>> normalized("  Müller,\tAda ") == normalized("MU\u0308LLER, ADA")
    True
    >>> normalized("007"), normalized(7)
    (b'007', b'7')
    """
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        return str(int(key)).encode()
    if not isinstance(key, str):
        raise InputError("The keys of people must be text or whole numbers; nulls are refused.")
    composed = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", key).casefold())
    try:
        spelled = " ".join(composed.split()).encode()
    except UnicodeEncodeError:
        raise InputError("A key holds text that is not valid Unicode.") from None
    if not spelled:
        raise InputError("A key is empty; every row needs one.")
    return spelled


def normalized_keys(keys: Iterable[Any], *, max_people: int) -> dict[bytes, int]:
    """Return the row of each key; refuse keys that occur twice, and more than the session admits."""
    rows: dict[bytes, int] = {}
    n = 0
    for n, key in enumerate(keys, start=1):
        rows[normalized(key)] = n - 1
    if len(rows) < n:
        raise InputError(
            f"{n - len(rows)} of the {n} keys occur before, once case, spaces and equal characters are left aside; "
            "every person may have one row."
        )
    if n > max_people:
        raise InputError(f"The data has {n} people; the session admits {max_people}. Raise max_people.")
    return rows
