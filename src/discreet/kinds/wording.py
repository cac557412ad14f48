"""How job errors name what is known and what may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from discreet.core.errors import ParameterError


def refuse_unknown(where: str, keys: Iterable[str], names: Iterable[str]) -> None:
    """Raise a ParameterError for a key that is not known, and name the one that may have been meant."""
    options = list(names)
    for name in keys:
        if name not in options:
            raise ParameterError(f"{where} has an unknown key '{name}'{nearest_name(name, options)}")


def nearest_name(name: str, names: Iterable[str]) -> str:
    """End a sentence with the known name that may have been meant, or with all of them.

    >>> nearest_name("strickt", ["strict", "summary"])
    "; did you mean 'strict'?"
    """
    options = list(names)
    folded = {option.casefold(): option for option in reversed(options)}
    close = difflib.get_close_matches(str(name).casefold(), folded, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{folded[close[0]]}'?"
    return f"; there is {quoted_list(options)}." if options else "."


def quoted_list(names: Sequence[str]) -> str:
    """List names for a message, the first few of many."""
    quoted = ", ".join(f"'{name}'" for name in names[:8])
    return quoted if len(names) <= 8 else f"{quoted} and {len(names) - 8} more"
