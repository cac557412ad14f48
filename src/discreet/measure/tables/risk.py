"""Risk: how likely the people behind a table's records are to be found again, by three kinds of attacker."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import FloatIn, InstanceOf, require
from discreet.core.release import Release
from discreet.core.tables.groups import Groups
from discreet.core.tables.table import Table


@public
@dataclass(frozen=True)
class AttackerRisk:
    """The chance of being found again: the highest, the mean, and how many records are above the threshold."""

    highest: float
    mean: float
    records_above: int
    share_above: float


@public
@dataclass(frozen=True)
class Risk:
    """The risk of being found again in a table.

    Where a column has the role `person`, "records" are a person's appearances in a class: a person counts once in each
    class, however many rows they have there. Otherwise they are rows.

    Attributes
    ----------
    prosecutor
        The attacker looks for one person and knows that they are in the table: 1 / class size.
    journalist
        The attacker looks for any person of a population: 1 / number of people in the population that the class
        describes. A class describes at least as many people as it has records, also where the population table lacks
        them. None without a population.
    marketer
        The attacker links all records: the expected share found again, in the population where there is one.
    uniques, uniques_share
        The records alone in their class.
    smallest_class, median_class, largest_class
        The sizes of classes.
    """

    n_rows: int
    n_classes: int
    threshold: float
    prosecutor: AttackerRisk
    journalist: AttackerRisk | None
    marketer: float
    uniques: int
    uniques_share: float
    smallest_class: int
    median_class: float
    largest_class: int

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
@dataclass(frozen=True, repr=False)
class ClassSizes:
    """How many classes, and how many rows, there are of each class size; sizes ascend."""

    sizes: IntArray
    classes: IntArray
    rows: IntArray

    def __repr__(self) -> str:
        return f"ClassSizes({self.sizes.size} sizes, {self.classes.sum()} classes, {self.rows.sum()} rows)"


@public
def risk(subject: Table | Release, *, threshold: float = 0.2, population: Table | None = None) -> Risk:
    """Measure the risk of being found again.

    Rows that are fully starred make a class like any other, and rows left out of a release bear no risk.

    Parameters
    ----------
    subject
        Any table, or a release.
    threshold
        A record is above it where its risk is larger.
    population
        The people the records were drawn from, with the same quasi-identifiers in clear.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi
    >>> found = risk(Table(pa.table({"age": [24, 24, 26]}), {"age": quasi()}))
    >>> found.prosecutor.highest, round(found.marketer, 3), found.uniques
    (1.0, 0.667, 1)
    """
    require("risk", "subject", subject, InstanceOf((Table, Release), "a Table or a Release"))
    require("risk", "threshold", threshold, FloatIn(0, 1))
    groups = _classes(subject)
    sizes = groups.sizes
    prosecutor = _attacker(1 / sizes, sizes, threshold)
    journalist = None
    if population is not None:
        journalist = _attacker(1 / _described(groups, population), sizes, threshold)
    uniques = int(np.count_nonzero(sizes == 1))
    return Risk(
        n_rows=subject.table.n_rows if isinstance(subject, Release) else subject.n_rows,
        n_classes=groups.n_groups,
        threshold=float(threshold),
        prosecutor=prosecutor,
        journalist=journalist,
        marketer=(journalist or prosecutor).mean,
        uniques=uniques,
        uniques_share=uniques / groups.n_rows,
        smallest_class=int(sizes.min()),
        median_class=float(np.median(sizes)),
        largest_class=int(sizes.max()),
    )


@public
def class_size_histogram(groups: Groups) -> ClassSizes:
    """Count classes and rows by class size.

    >>> import numpy as np
    >>> class_size_histogram(Groups(np.array([2, 5, 2])))
    ClassSizes(2 sizes, 3 classes, 9 rows)
    """
    sizes, classes = np.unique(groups.sizes, return_counts=True)
    return ClassSizes(sizes, classes.astype(np.int64), sizes * classes)


def _classes(subject: Table | Release) -> Groups:
    """Return the classes whose sizes an attacker is up against: of units, where the rows belong to some."""
    if isinstance(subject, Release):
        return subject.judged_table.counted if subject.kind == "table" else subject.groups()
    return subject.counted


def _described(groups: Groups, population: Table) -> IntArray:
    """Count the people each class describes: those of the population, and no fewer than its own records."""
    if groups.cover is None:
        raise SchemaError(
            "It is not known what the classes describe, so no population can be matched with them."
        )
    return np.maximum(groups.cover.matches(population), groups.sizes)


def _attacker(of_class: FloatArray, sizes: IntArray, threshold: float) -> AttackerRisk:
    n_rows = int(sizes.sum())
    above = int(sizes[of_class > threshold].sum())
    return AttackerRisk(float(of_class.max()), float(of_class @ sizes) / n_rows, above, above / n_rows)
