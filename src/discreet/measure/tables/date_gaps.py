"""Gaps between shifted dates: whom the days between the dates of a person single out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.core.figures import Caution
from discreet.core.release import Release
from discreet.core.tables.labels import datetimes
from discreet.core.tables.linked_tables import joined_views


def date_gaps(release: Release) -> Iterator[Caution]:
    """Count the people whom the days between their dates single out in their class."""
    data = release.data
    people, items, start = [], [], 1
    for name, part in release.recipe["tables"].items():
        for column in part.get("shifted", ()):
            table = data.tables[name]
            cells = table.source.columns([data.key(name), column])
            day = datetimes(cells[column]).astype("datetime64[D]").astype(np.int64)
            values = {
                key: number for number, key in enumerate(table.encoded[data.key(name)].values.to_pylist(), 1)
            }
            codes = np.array([values.get(key, 0) for key in cells[data.key(name)].to_pylist()], np.int64)
            first = np.zeros(len(values) + 1, np.int64)
            first[table.codes(data.key(name))] = data.person_of(name)
            known = ~np.asarray(cells[column].is_null())
            people.append(first[codes][known])
            items.append((start, day[known]))
            start += 1
    if not people:
        return
    person, days = np.concatenate(people), np.concatenate([each for _, each in items])
    # Days since a person's first date: the shift cancels out.
    origin = np.full(data.classes.size, np.iinfo(np.int64).max)
    np.minimum.at(origin, person, days)
    source = np.repeat([number for number, _ in items], [each.size for _, each in items])
    _, gap = np.unique(np.stack([source, days - origin[person]]), axis=1, return_inverse=True)
    n_classes = int(data.classes.max()) + 1
    everyone = np.arange(data.classes.size)
    views = joined_views(
        np.concatenate([everyone, person]),
        np.concatenate([data.classes, gap.ravel() + n_classes]),
        data.classes.size,
    )
    several = np.bincount(person, minlength=data.classes.size) > 1
    alone = int((several & (np.bincount(views)[views] == 1)).sum())
    if alone:
        yield Caution(
            "date-gaps",
            f"All dates of a person were shifted by the same number of days, so the days between two of them stay as "
            f"they were. {alone:,} of {data.n_people:,} people are singled out by those days in their class: whoever "
            "knows them finds the person, and with one true date all others. A person's first and last date, "
            "with the period that the data covers, limit the shift of all of them, and so does another release under "
            "the same key with another max_shift. Leave the dates out, or make them quasi-identifiers with years or "
            "months, where others may know them.",
        )
