"""Risk: how likely people are to be found again, by three kinds of attacker, and which columns single them out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property

import numpy as np

from discreet.core.adapters import KIND_OF, load
from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import FloatIn, InstanceOf, require
from discreet.core.release import Release
from discreet.core.schema import Role
from discreet.core.tables.groups import Groups
from discreet.core.tables.population_models import ClassSizes as ClassSizes
from discreet.core.tables.population_models import class_size_histogram as class_size_histogram
from discreet.core.tables.source import Singletons, Source
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
    n_rows = subject.table.n_rows if isinstance(subject, Release) else subject.n_rows
    return risk_of(subject.counted, n_rows, threshold=threshold, population=population)


def risk_of(groups: Groups, n_rows: int, *, threshold: float = 0.2, population: Table | None = None) -> Risk:
    """Measure the risk of being found again in counted classes."""
    sizes = groups.sizes
    prosecutor = _attacker(1 / sizes, groups, threshold)
    journalist = None
    if population is not None:
        journalist = _attacker(1 / _described(groups, population), groups, threshold)
    uniques, _ = groups.counted(sizes == 1)
    return Risk(
        n_rows=n_rows,
        n_classes=groups.counted()[0],
        threshold=float(threshold),
        prosecutor=prosecutor,
        journalist=journalist,
        marketer=(journalist or prosecutor).mean,
        uniques=uniques,
        uniques_share=uniques / groups.n_rows,
        smallest_class=int(sizes.min()),
        median_class=_median(class_size_histogram(groups)),
        largest_class=int(sizes.max()),
    )


def _median(of_size: ClassSizes) -> float:
    """Return the median size: the mean of the two in the middle where there are as many below as above."""
    ends = np.cumsum(of_size.classes)
    low, high = np.searchsorted(ends, [(ends[-1] - 1) // 2, ends[-1] // 2], side="right")
    return float(of_size.sizes[low] + of_size.sizes[high]) / 2


def _described(groups: Groups, population: Table) -> IntArray:
    """Count the people each class describes: those of the population, and no fewer than its own records."""
    if groups.cover is None:
        raise SchemaError(
            "It is not known what the classes describe, so no population can be matched with them."
        )
    return np.maximum(groups.cover.matches(population), groups.sizes)


def _attacker(of_class: FloatArray, groups: Groups, threshold: float) -> AttackerRisk:
    _, above = groups.counted(of_class > threshold)
    return AttackerRisk(
        float(of_class.max()), float(of_class @ groups.rows) / groups.n_rows, above, above / groups.n_rows
    )


MOST_SINGLED_OUT = 0.1
"""The share of rows with values of their own above which columns are not published as they are by default."""
NEARLY_ALL = 0.9
"""The share of whole numbers that occur once above which a column of them is taken for a key."""
_FEWEST_KEYS = 100
_FEW_SHOWN = 6
_WAYS_OUT = (
    "Generalize it as a quasi-identifier, drop it as an identifier, or allow it all the same (allow_unique)."
)


class SinglingOutError(SchemaError):
    """Columns that single out too many rows; ``columns`` names those that would have to change."""

    def __init__(self, message: str, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)
        super().__init__(message, fix={"allow_unique": ",".join(self.columns)} if columns else None)


@public
@dataclass(frozen=True)
class SinglingOut:
    """How many rows have values of their own in columns that are published as they are.

    Attributes
    ----------
    columns
        For each column the number of rows with a value that no other row has, and of rows that have any.
    source
        The rows.
    """

    columns: Mapping[str, Singletons]
    source: Source = field(repr=False, compare=False)

    @cached_property
    def together(self) -> Singletons:
        """The same for all of the columns together."""
        if len(self.columns) < 2:
            return next(iter(self.columns.values()), Singletons(0, 0, 0))
        return self.source.singletons(list(self.columns))

    @property
    def is_many_together(self) -> bool:
        """Whether all of the columns together single out more rows than may be by default."""
        return not self.source.has_few_singletons(self.columns, MOST_SINGLED_OUT) and is_many(self.together)

    def to_dict(self) -> dict[str, object]:
        """Return the numbers of rows as plain data for JSON."""
        return {
            "columns": {name: singletons.n_singletons for name, singletons in self.columns.items()},
            "together": self.together.n_singletons,
        }


@public
def singling_out(data: Table | Release) -> SinglingOut:
    """Count the rows that columns of the role other single out, each of them and all together.

    Null is no value: a row without any is not singled out. Pseudonyms are not counted: each is meant to be unique.

    >>> import pyarrow as pa
    >>> from discreet import Table, other, quasi
    >>> table = Table(pa.table({"age": [20, 20, 30], "ward": ["a", "a", "b"], "bed": [1, 2, 2]}),
    ...     {"age": quasi(), "ward": other(), "bed": other()})
    >>> singling_out(table).to_dict()
    {'columns': {'ward': 1, 'bed': 1}, 'together': 3}
    """
    table = data.table if isinstance(data, Release) else data
    names = published_as_is(data)
    return SinglingOut(table.source.column_singletons(names), table.source)


def published_as_is(data: Table | Release) -> list[str]:
    """Return the columns of the role other, without pseudonyms and the number of a group."""
    if isinstance(data, Table):
        return list(data.schema.named(Role.OTHER))
    replaced: set[object] = set(load(KIND_OF)(data).added_columns(data))
    for entry in data.recipe.get("columns", []):
        if isinstance(entry, Mapping) and entry.get("pseudonym"):
            replaced.add(entry.get("name"))
    return [name for name in data.schema.named(Role.OTHER) if name not in replaced]


def is_many(singletons: Singletons) -> bool:
    """Return whether more rows are singled out than may be by default."""
    return singletons.n_singletons > MOST_SINGLED_OUT * singletons.n_rows


def refuse_singling_out(data: Table | Release) -> None:
    """Raise a SinglingOutError where columns published as they are, alone or together, single out too many rows.

    Columns with ``allow_unique`` are not looked at. Where a column says whose row it is, rows are singled out by values
    that one person alone has. The error names columns and numbers of rows, and no value.
    """
    table = data.table if isinstance(data, Release) else data
    unit = table.schema.person
    names = [name for name in published_as_is(data) if not data.schema[name].allow_unique]
    columns = table.source.column_singletons(names, unit)
    for name, alone in columns.items():
        refuse_singletons(name, alone)
    if len(names) < 2 or table.source.has_few_singletons(columns, MOST_SINGLED_OUT):
        return
    singletons = table.source.singletons(names, unit)
    if is_many(singletons):
        changed = _most_identifying(table.source, names, unit)
        raise SinglingOutError(
            f"Columns {_listed(names)} would be published as they are, and {singletons.n_singletons:,} of "
            f"{singletons.n_rows:,} rows have a combination of their own in them: whoever knows it finds the "
            f"person. Without {_listed(changed)} few have. {_WAYS_OUT.replace('it ', 'them ')}",
            changed,
        )


def refuse_singletons(name: str, singletons: Singletons) -> None:
    """Raise a SinglingOutError where too many rows have a value of their own in a column."""
    if is_many(singletons):
        raise SinglingOutError(
            f"Column '{name}' would be published as it is, and {singletons.n_singletons:,} of "
            f"{singletons.n_rows:,} rows have a value of their own in it: whoever knows it finds the person. "
            f"{_WAYS_OUT}",
            [name],
        )


def refuse_keys(names: Sequence[str], values: FloatArray, allowed: Collection[str]) -> None:
    """Raise a SinglingOutError for a column of whole numbers that nearly every row has for itself, such as a key.

    Numbers that were measured are often unique as well, but seldom whole and all different; the rows are few where
    they are, so that fewer than a hundred prove nothing.
    """
    for number, name in enumerate(names):
        numbers = values[:, number][np.isfinite(values[:, number])]
        if name in allowed or numbers.size < _FEWEST_KEYS or (numbers != np.rint(numbers)).any():
            continue
        n_singletons = int((np.unique(numbers, return_counts=True)[1] == 1).sum())
        if n_singletons > NEARLY_ALL * numbers.size:
            raise SinglingOutError(
                f"Column '{name}' holds whole numbers, and {n_singletons:,} of {numbers.size:,} rows have one of their "
                "own: it looks like a key. Leave it out, or allow it all the same (allow_unique).",
                [name],
            )


def _most_identifying(source: Source, names: Sequence[str], unit: str | None) -> list[str]:
    """Return columns, those with the most values first, without which the others single out few enough rows."""
    columns = source.column_singletons(names)
    order = sorted(names, key=lambda name: -columns[name].n_distinct)
    for n_dropped in range(1, len(order)):
        if not is_many(source.singletons(order[n_dropped:], unit)):
            return order[:n_dropped]
    return order


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(f"'{name}'" for name in names[:_FEW_SHOWN])
    return listed if len(names) <= _FEW_SHOWN else f"{listed} and {len(names) - _FEW_SHOWN} more"
