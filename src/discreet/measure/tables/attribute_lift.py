"""Attribute disclosure: how surely a class shows the value that a person has, beside guessing from the whole table."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.params import FloatIn, InstanceOf, require
from discreet.core.release import Release
from discreet.core.tables.groups import SensitiveCounts
from discreet.core.tables.table import Table


@public
@dataclass(frozen=True)
class AttributeLift:
    """What a class shows of the sensitive value of its people, over all records.

    The certainty of a record is the share of its class that has its value, its base rate the share of the whole table,
    and its lift the first by the second: how many times surer an attacker is who knows the class.

    Attributes
    ----------
    column
        The sensitive column.
    n_records
        The records that were looked at.
    highest, mean, base_rate
        The highest and the mean certainty, and the mean base rate.
    certain
        The records of which the class shows the value for certain.
    threshold, records_above
        The records with a certainty above the threshold.
    highest_lift, mean_lift
        The highest and the mean lift.
    """

    column: str
    n_records: int
    highest: float
    mean: float
    base_rate: float
    certain: int
    threshold: float
    records_above: int
    highest_lift: float
    mean_lift: float

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
def attribute_lift(subject: Table | Release, *, threshold: float = 0.5) -> tuple[AttributeLift, ...]:
    """Measure, for each sensitive column, how surely classes show the values of their people, and the lift of that.

    Where a column says whose row it is, people are counted, once for each value that they have in a class.

    Parameters
    ----------
    subject
        Any table, or a release.
    threshold
        A record is above it where its certainty is larger.

    Examples
    --------
    Both people of the younger class have the flu, which a third of the table has:

    >>> import pyarrow as pa
    >>> from discreet import quasi, sensitive
    >>> frame = pa.table({"age": [20, 20, 30, 30, 30, 30], "ill": ["flu", "flu", "gout", "gout", "gout", "cold"]})
    >>> lift = attribute_lift(Table(frame, {"age": quasi(), "ill": sensitive()}))[0]
    >>> lift.certain, round(lift.highest_lift, 1), round(lift.mean, 2), round(lift.base_rate, 2)
    (2, 3.0, 0.75, 0.39)
    """
    require("attribute_lift", "subject", subject, InstanceOf((Table, Release), "a Table or a Release"))
    require("attribute_lift", "threshold", threshold, FloatIn(0, 1))
    groups = subject.counted
    return tuple(_lift(name, counts, threshold) for name, counts in groups.sensitive.items())


def _lift(name: str, counts: SensitiveCounts, threshold: float) -> AttributeLift:
    certainty, base = counts.prevalence, counts.overall_prevalence
    records, lift = counts.counts.astype(np.float64), certainty / base
    total = float(records.sum())

    def mean(figure: FloatArray) -> float:
        return float(figure @ records) / total

    return AttributeLift(
        column=name,
        n_records=int(total),
        highest=float(certainty.max()),
        mean=mean(certainty),
        base_rate=mean(base),
        certain=int(records[certainty == 1].sum()),
        threshold=float(threshold),
        records_above=int(records[certainty > threshold].sum()),
        highest_lift=float(lift.max()),
        mean_lift=mean(lift),
    )
