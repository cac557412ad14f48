"""What a report says about itself: the name of the data, the date, what may be handed on, and the terms it uses."""

from __future__ import annotations

from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.release import Release
from discreet.report.blocks import Definitions
from discreet.report.sections.subject import About

_WORDS = {
    "Quasi-identifier": "a column that others may know of a person, such as age or ZIP code",
    "Class": "the rows that share all quasi-identifiers; an attacker finds a person's class, not the row",
    "Sensitive": "a column that nobody may learn about a person",
    "Suppressed": "rows that were not published, because they would stand out",
}
_GROUPED = {
    "Quasi-identifier": _WORDS["Quasi-identifier"],
    "Group": "rows whose sensitive values are published together, and not row by row",
    "Sensitive": _WORDS["Sensitive"],
}
_BASKETS = {
    "Basket": "the items of one person or one purchase",
    "Group": "baskets whose sensitive items are published together, and not basket by basket",
    "Sensitive item": "an item that must not be tied to a person",
}
_ITEMS = {
    "Basket": _BASKETS["Basket"],
    "Generalized item": "a name for several items, of which a basket holds at least one",
}
_PSEUDO = {
    "Pseudo-record": "a row that was drawn from the statistics of a group of people, and belongs to nobody",
    "Group": "people whose records were condensed into means and covariances",
    "Privacy level": "the least number of people in the group of a person",
}
_SKETCHES = {
    "Sketch": "a few random sums of a record's values, from which distances can be estimated",
    "Component": "one of the sums; a longer sketch reveals more about its record",
}
_BY_KIND = {
    "table": _WORDS,
    "grouped-table": _GROUPED,
    "baskets": _BASKETS,
    "pseudo-data": _PSEUDO,
    "sketches": _SKETCHES,
}


_KINDS = {
    "table": "A table",
    "grouped-table": "A table",
    "sanitized-table": "A table",
    "baskets": "Baskets",
    "sanitized-baskets": "Baskets",
    "pseudo-data": "Pseudo-records",
    "sketches": "Sketches",
}
"""What the data is called in a report where nobody named it."""


def heading(about: About, kind: str, *, internal: bool) -> Definitions:
    """Return what the page is about: the data, the day, and whether it may be handed on."""
    entries = [("Data", about.name or f"{_KINDS.get(kind, 'Data')} without a name")]
    if internal and about.source is not None:
        entries.append(("File", about.source))
    if about.date is not None:
        entries.append(("Released on", about.date.isoformat()))
    handed_on = (
        "No. It compares with the original and stays with its owner."
        if internal
        else "Yes: this page, release.json and the data in the same folder. The folder that ends in .private stays "
        "with the owner."
    )
    return Definitions([*entries, ("May it be handed on?", handed_on)], "about")


def terms(release: Release) -> Definitions | None:
    """Return the terms that the page uses, with their meaning."""
    known = _BY_KIND.get(release.kind)
    if release.kind == "baskets" and not isinstance(release.data, GroupedBaskets):
        known = _ITEMS
    return Definitions(list(known.items()), "words") if known else None
