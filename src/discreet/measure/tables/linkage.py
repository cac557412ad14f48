"""Linkage attack: join a release with a table of named people, as with the chapter's voter roll (Sweeney 2002)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.params import FloatIn, InstanceOf, require
from discreet.core.release import Release
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.core.tables.table import Table
from discreet.measure.tables.matches import (
    BLOCK,
    Matches,
    collected,
    joined_columns,
    people_of,
    persons_of,
    spans,
    table_matches,
)


@public
@dataclass(frozen=True)
class AttributeRisk:
    """What an attacker learns of one sensitive column about the people matched, if they are in the release.

    A person's attribute certainty is the largest share of one value among the records that may be theirs. ``prior`` is
    that share in the whole release, which anyone may guess. ``highest_joint`` and ``persons_above_joint`` are about the
    joint certainty, that a record is theirs and has the value.
    """

    highest: float
    mean: float
    persons_above: int
    share_above: float
    prior: float
    highest_joint: float
    persons_above_joint: int


@public
@dataclass(frozen=True, repr=False, eq=False)
class Linkage:
    """What an attacker learns who joins a release with a table of named people.

    Shares are of all people of the external table, and of all released records. No data value is kept here.

    Attributes
    ----------
    on
        The release's columns that were joined.
    records
        For each person, the number of released records that may be theirs.
    certainty
        For each person, the certainty that a record is theirs: the largest of the classes they may be in; 0 if none.
    class_sizes, class_candidates, class_certainty
        For each released class, its records, the people they may belong to, and the certainty that a record belongs to
        a certain one of them: 1 / candidates. Where there are fewer people than records the external table lacks some,
        so it is 1 / records; 0 where there are no candidates.
    persons_pinned, records_pinned
        The people, and the records, of whom the certainty is above the threshold.
    attributes
        Per sensitive column what is learned, and for each person how certainly (``attribute_certainty``; 0 where no
        record matches), if they are in the release.
    joint_certainty
        Per sensitive column and person, the certainty that a record is theirs and has the value that is likeliest: the
        certainties of the records with that value, added up.
    rows
        For each person, their (first) row number in the external table.
    """

    on: tuple[str, ...]
    threshold: float
    n_records: int
    n_persons: int
    persons_matched: int
    records_matched: int
    persons_pinned: int
    records_pinned: int
    highest: float
    attributes: dict[str, AttributeRisk]
    records: IntArray
    certainty: FloatArray
    attribute_certainty: dict[str, FloatArray]
    joint_certainty: dict[str, FloatArray]
    class_sizes: IntArray
    class_candidates: IntArray
    class_certainty: FloatArray
    rows: IntArray

    @property
    def persons_pinned_share(self) -> float:
        """The share of people pinned down."""
        return self.persons_pinned / self.n_persons

    @property
    def records_pinned_share(self) -> float:
        """The share of records pinned down."""
        return self.records_pinned / self.n_records

    def candidates(self) -> pa.Table:
        """List the people by row number: the records that may be theirs, and the certainties; no values."""
        columns: dict[str, Any] = {"row": self.rows, "records": self.records, "certainty": self.certainty}
        for name, certainty in self.attribute_certainty.items():
            columns[f"certainty of {name}"] = certainty
            columns[f"joint certainty of {name}"] = self.joint_certainty[name]
        return pa.table(columns)

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return {
            "on": list(self.on),
            "threshold": self.threshold,
            "records": self.n_records,
            "persons": self.n_persons,
            "persons_matched": self.persons_matched,
            "records_matched": self.records_matched,
            "persons_pinned": self.persons_pinned,
            "persons_pinned_share": self.persons_pinned_share,
            "records_pinned": self.records_pinned,
            "records_pinned_share": self.records_pinned_share,
            "highest": self.highest,
            "attributes": {name: asdict(learned) for name, learned in self.attributes.items()},
        }

    def __repr__(self) -> str:
        return (
            f"Linkage({self.n_records} records with {self.n_persons} people: "
            f"{self.records_pinned} records and {self.persons_pinned} people pinned down)"
        )


@public
def linkage(
    subject: Table | Release,
    external: Any,
    *,
    on: Sequence[str] | Mapping[str, str] | None = None,
    person: str | None = None,
    threshold: float = 0.5,
) -> Linkage:
    """Join a release with a table of named people who have its quasi-identifiers in clear.

    A null of a person is a null of a record, or hidden behind ``*``. A mean is read as an exact value. Every person has
    at most one record.

    Parameters
    ----------
    subject
        The release, or any table as released.
    external
        A frame, or a Table where the names of a hierarchy's nodes must be read: then its schema brings the hierarchy.
        The hierarchies of a Release are known anyway.
    on
        The quasi-identifiers the attacker knows, by name, or as a mapping from the release's names to the external
        table's; by default all that both tables have.
    person
        The external column that names a person, where a person may have several rows; else every row is a person.
    threshold
        Certainty above it pins a person down.

    Examples
    --------
    The chapter's example: one of two people with the same age and ZIP code is the patient with HIV.

    >>> from discreet import Table, quasi, sensitive
    >>> released = Table(pa.table({"age": [26, 37], "zip": ["10547", "90210"], "disease": ["HIV", "Hepatitis C"]}),
    ...     {"age": quasi(), "zip": quasi(), "disease": sensitive()})
    >>> roll = pa.table({"name": ["Joy", "William", "Sue"], "age": [26, 37, 26], "zip": ["10547", "90210", "10547"]})
    >>> linked = linkage(released, roll)
    >>> linked.certainty, linked.joint_certainty["disease"]
    (array([0.5, 1. , 0.5]), array([0.5, 1. , 0.5]))
    """
    require("linkage", "subject", subject, InstanceOf((Table, Release), "a Table or a Release"))
    require("linkage", "threshold", threshold, FloatIn(0, 1))
    released = subject.table if isinstance(subject, Release) else subject
    original = subject.original if isinstance(subject, Release) else None
    frame = collected(external)
    columns = joined_columns(released, frame, on)
    people = people_of(frame, external, columns)
    persons = None if person is None else persons_of(frame, person)
    matches = table_matches(released, people, columns, original, persons)
    return _linkage(tuple(columns), released.groups(), matches, threshold)


def _linkage(on: tuple[str, ...], groups: Groups, matches: Matches, threshold: float) -> Linkage:
    n_owners = matches.people.size
    candidates = np.bincount(matches.group, weights=matches.people[matches.owner], minlength=groups.n_groups)
    of_class = np.where(candidates > 0, 1 / np.maximum(candidates, groups.sizes), 0.0)
    certainty = np.zeros(n_owners)
    np.maximum.at(certainty, matches.owner, of_class[matches.group])
    records = np.bincount(matches.owner, weights=groups.sizes[matches.group], minlength=n_owners).astype(
        np.int64
    )
    learned = {
        name: _learned(counts, matches, records, of_class) for name, counts in groups.sensitive.items()
    }
    pinned = certainty > threshold
    return Linkage(
        on=on,
        threshold=float(threshold),
        n_records=groups.n_rows,
        n_persons=matches.of_person.size,
        persons_matched=int(matches.people[records > 0].sum()),
        records_matched=int(groups.sizes[candidates > 0].sum()),
        persons_pinned=int(matches.people[pinned].sum()),
        records_pinned=int(groups.sizes[of_class > threshold].sum()),
        highest=float(certainty.max()),
        attributes={
            name: _attribute(share, joint, matches.people, groups.sensitive[name].overall, threshold)
            for name, (share, joint) in learned.items()
        },
        records=records[matches.of_person],
        certainty=certainty[matches.of_person],
        attribute_certainty={name: share[matches.of_person] for name, (share, _) in learned.items()},
        joint_certainty={name: joint[matches.of_person] for name, (_, joint) in learned.items()},
        class_sizes=groups.sizes,
        class_candidates=candidates.astype(np.int64),
        class_certainty=of_class,
        rows=matches.rows,
    )


def _learned(
    counts: SensitiveCounts, matches: Matches, records: IntArray, of_class: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return for each owner the largest share of a value among records that may be theirs, and the joint certainty."""
    from discreet.kernels.tables.grouping import distinct

    n_values = counts.overall.size
    start, length = counts.indptr[matches.group], np.diff(counts.indptr)[matches.group]
    largest, joint = np.zeros(records.size, np.int64), np.zeros(records.size)
    # The entries of one owner stay in one block.
    block = (np.cumsum(np.bincount(matches.owner, weights=length, minlength=records.size)) // BLOCK)[
        matches.owner
    ]
    for number in np.unique(block):
        here = slice(*np.searchsorted(block, [number, number + 1]))
        entry = spans(start[here], length[here])
        keys = np.repeat(matches.owner[here], length[here]) * n_values + counts.values[entry]
        first, value_of, sums = distinct(keys, counts.counts[entry])
        certainty = np.repeat(of_class[matches.group[here]], length[here]) * counts.counts[entry]
        np.maximum.at(largest, keys[first] // n_values, sums)
        np.maximum.at(joint, keys[first] // n_values, np.bincount(value_of, certainty, first.size))
    # A person who fits several classes can be the best guess in each of them, but is certain of nothing twice.
    return largest / np.maximum(records, 1), np.minimum(joint, 1.0)


def _attribute(
    share: FloatArray, joint: FloatArray, people: IntArray, overall: IntArray, threshold: float
) -> AttributeRisk:
    n_matched = int(people[share > 0].sum())
    above = int(people[share > threshold].sum())
    return AttributeRisk(
        highest=float(share.max()),
        mean=float(share @ people) / max(n_matched, 1),
        persons_above=above,
        share_above=above / int(people.sum()),
        prior=float(overall.max() / overall.sum()),
        highest_joint=float(joint.max()),
        persons_above_joint=int(people[joint > threshold].sum()),
    )
