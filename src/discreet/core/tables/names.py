"""Names of our own: made up so that no column of the user's has them, whatever the case of their letters."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count


def fresh_name(stem: str, taken: Iterable[str]) -> str:
    """Return a name that none of the taken ones equals, also where upper and lower case are alike.

    >>> fresh_name("group", ["age"]), fresh_name("group", ["Group", "group_2"])
    ('group', 'group_3')
    """
    known = {name.casefold() for name in taken}
    names = (stem if number == 1 else f"{stem}_{number}" for number in count(1))
    return next(name for name in names if name.casefold() not in known)
