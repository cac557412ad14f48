"""About: the name of the data, the day, and the names of folder and file, for what is written about a release."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import dataclass


@dataclass(frozen=True)
class About:
    """The data's name and the day of the release, which are published; the names of its folder and file, which are not.

    The name of the file may say more than the data does, such as whose patients they are. So it is never taken for the
    data's name.

    >>> About("Patients, 2030", dt.date(2030, 5, 1), source="patients-of-dr-smith.csv").to_dict()
    {'name': 'Patients, 2030', 'date': '2030-05-01'}
    """

    name: str | None = None
    date: dt.date | None = None
    folder: str = "release"
    source: str | None = None

    def to_dict(self) -> dict[str, str]:
        """Return what is published, as plain data for JSON."""
        plain = {} if self.name is None else {"name": self.name}
        return plain | ({} if self.date is None else {"date": self.date.isoformat()})


def today() -> dt.date:
    """Return the day in UTC, or that of SOURCE_DATE_EPOCH, for reproducible builds."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = dt.datetime.fromtimestamp(int(given), dt.UTC) if given.isdigit() else dt.datetime.now(dt.UTC)
    return moment.date()
