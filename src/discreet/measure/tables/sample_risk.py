"""Risk of the people in a sample: by sampling weights (Benedetti & Franconi), by household, by a log-linear model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, SchemaError
from discreet.core.params import FloatIn, InstanceOf, IntIn, require
from discreet.core.release import Release
from discreet.core.tables.encoding import value_codes
from discreet.core.tables.table import Table
from discreet.kernels.tables.grouping import distinct, pack


@public
@dataclass(frozen=True)
class HouseholdRisk:
    """The chance that somebody of a household is found again, which gives all of them away; over the rows."""

    n_households: int
    highest: float
    mean: float
    expected: float
    rows_above: int


@public
@dataclass(frozen=True, repr=False, eq=False)
class SampleRisk:
    """The chance of the people in a sample to be found again in its population, by their sampling weights.

    Attributes
    ----------
    n_rows, population_size
        The rows, and the people they stand for: the sum of the weights.
    threshold
        A row is above it where its risk is larger.
    highest, mean
        Over the rows.
    expected
        How many rows are found again, on average: the sum of the risks.
    rows_above
        The rows above the threshold.
    household
        The same by household, where a column names them.
    risks
        The risk of each row, in the order of the table.
    """

    n_rows: int
    population_size: float
    threshold: float
    highest: float
    mean: float
    expected: float
    rows_above: int
    household: HouseholdRisk | None
    risks: FloatArray

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON, without those of single rows."""
        listed = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "risks"}
        return listed | {"household": None if self.household is None else asdict(self.household)}

    def __repr__(self) -> str:
        return f"SampleRisk({self.n_rows:,} rows, highest {self.highest:.4g}, expected {self.expected:.4g})"


@public
def sample_risk(
    subject: Table | Release, *, weight: str, household: str | None = None, threshold: float = 0.2
) -> SampleRisk:
    """Measure how likely the people of a weighted sample are to be found again in the population.

    A row of a class with f rows that stand for F people is found with the mean of 1/F given f: the class of the
    population has f people and a negative binomial number of others, for p = f/F. For f above 2, sdcMicro takes
    p / (f - (1 - p)) for it; here it is exact. With households, the risk of a row is that of anybody in its household.

    Parameters
    ----------
    subject
        The sample: any table, or a release that still has the column of the weights.
    weight
        The column that says how many people of the population a row stands for, itself included.
    household
        The column that says who lives together; a null is a household of its own.
    threshold
        A row is above it where its risk is larger.

    References
    ----------
    R. Benedetti, L. Franconi: Statistical and technological solutions for controlled data dissemination. NTTS 1998.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import other, quasi
    >>> table = Table(pa.table({"age": [30, 40, 40], "weight": [215, 180, 180]}), {"age": quasi(), "weight": other()})
    >>> sample_risk(table, weight="weight").risks.round(4).tolist()
    [0.0251, 0.0054, 0.0054]
    """
    require("sample_risk", "subject", subject, InstanceOf((Table, Release), "a Table or a Release"))
    require("sample_risk", "threshold", threshold, FloatIn(0, 1))
    table = subject.table if isinstance(subject, Release) else subject
    named = [weight] if household is None else [weight, household]
    lacking = [name for name in named if name not in table.source.names]
    if lacking:
        raise SchemaError(f"The table has no column '{lacking[0]}'.")
    columns = table.source.columns([*table.schema.quasi, *named])
    weights = _weights(columns[weight], weight)
    _, labels, rows = distinct(_keys(columns, table.schema.quasi))
    people: FloatArray = np.bincount(labels, weights=weights, minlength=rows.size).astype(np.float64)
    risks = _mean_reciprocal(rows, people)[labels]
    return SampleRisk(
        n_rows=risks.size,
        population_size=float(weights.sum()),
        threshold=float(threshold),
        highest=float(risks.max()),
        mean=float(risks.mean()),
        expected=float(risks.sum()),
        rows_above=int((risks > threshold).sum()),
        household=None
        if household is None
        else _by_household(columns[household], household, risks, threshold),
        risks=risks,
    )


@public
@dataclass(frozen=True)
class LogLinearRisk:
    """What a Poisson log-linear model expects of the rows that are alone in their class.

    Attributes
    ----------
    n_rows, sample_uniques
        The rows, and those alone in their class.
    population_uniques
        How many of these are expected to be alone in the population (τ1).
    correct_matches
        How many of them are expected to be found again by a match with the population (τ2).
    """

    n_rows: int
    sample_uniques: int
    population_uniques: float
    correct_matches: float

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
def log_linear_risk(subject: Table | Release, population_size: int) -> LogLinearRisk:
    """Estimate how many sample uniques are population uniques, by a Poisson model of independent columns.

    A cell with the mean μ in the sample has λ = μ/π in the population, π being the sampling fraction, and a sample
    unique is alone with the chance exp(-λ(1 - π)). The means are those of the main effects: the product of the columns'
    own shares. Where columns depend on one another, cells that occur are larger than that, and the risk is overstated.

    Parameters
    ----------
    subject
        The sample: any table, or a release.
    population_size
        How many people the population has.

    References
    ----------
    C. Skinner, N. Shlomo: Assessing identification risk in survey microdata using log-linear models. JASA 103, 2008.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import quasi
    >>> frame = pa.table({"age": [20, 20, 30, 30], "sex": ["m", "w", "m", "m"]})
    >>> table = Table(frame, {"age": quasi(), "sex": quasi()})
    >>> round(log_linear_risk(table, 8).correct_matches, 3)
    1.305
    """
    require("log_linear_risk", "subject", subject, InstanceOf((Table, Release), "a Table or a Release"))
    require("log_linear_risk", "population_size", population_size, IntIn(1))
    table = subject.table if isinstance(subject, Release) else subject
    if table.schema.person is not None:
        raise SchemaError(
            f"'{table.schema.person}' says whose row it is, and log_linear_risk counts rows: keep one row of each."
        )
    n = table.n_rows
    if population_size < n:
        raise InputError(f"The population of {population_size:,} is smaller than the sample of {n:,} rows.")
    sizes, codes = table.groups().sizes, table.classes[1]
    alone = sizes == 1
    mean = np.full(int(alone.sum()), float(n))
    for number, name in enumerate(table.schema.quasi):
        mean *= table.overall(name)[codes[alone, number]] / n
    unseen = mean * (population_size - n) / n
    # The mean of 1 / (1 + others) for a Poisson number of others.
    matched = np.divide(-np.expm1(-unseen), unseen, out=np.ones_like(unseen), where=unseen > 0)
    return LogLinearRisk(n, int(alone.sum()), float(np.exp(-unseen).sum()), float(matched.sum()))


def _weights(column: pa.Array, name: str) -> FloatArray:
    """Return the sampling weights; each row stands for itself at least."""
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InputError(f"Column '{name}' holds no numbers, so its values are no sampling weights.")
    missing = column.null_count
    if missing:
        raise InputError(f"Column '{name}': {missing:,} sampling weights are missing; give every row one.")
    weights = np.asarray(pc.cast(column, pa.float64(), safe=False))
    small = int((weights < 1).sum())
    if small:
        raise InputError(
            f"Column '{name}': {small:,} sampling weights are below 1. A weight says how many people a row stands for, "
            "itself included; scale them, so that they add up to the population."
        )
    return weights


def _keys(columns: dict[str, pa.Array], names: Sequence[str]) -> Any:
    """Return a number for each row, the same for rows that are equal in some columns."""
    codes = [value_codes(columns[name], name)[1] for name in names]
    return pack(codes, [int(each.max()) + 1 for each in codes])


def _mean_reciprocal(rows: IntArray, people: FloatArray) -> FloatArray:
    """Return the mean of 1 / (people of the population in a class), given the rows and people of each class."""
    from scipy.special import hyp2f1

    # Weights are 1 at least, but their sum is rounded.
    share = np.minimum(rows / people, 1.0)
    # Benedetti and Franconi's p^f/f 2F1(f, f; f + 1; 1 - p) after Euler's transformation, in which no power
    # of a small p is left.
    return np.asarray(share / rows * hyp2f1(1.0, 1.0, rows + 1.0, 1 - share))


def _by_household(column: pa.Array, name: str, risks: FloatArray, threshold: float) -> HouseholdRisk:
    values, codes = value_codes(column, name, judged=False)
    homes = codes.astype(np.int64)
    if not values[0].is_valid:
        alone = homes == 0
        # Every null is a household of its own, numbered behind all others.
        homes[alone] = len(values) + np.arange(int(alone.sum()))
    _, number, members = distinct(homes)
    # A sum of logarithms, so that many small risks do not vanish against 1; a risk of 1 makes it infinite.
    with np.errstate(divide="ignore"):
        together = -np.expm1(np.bincount(number, weights=np.log1p(-risks), minlength=members.size))
    of_row = together[number]
    return HouseholdRisk(
        n_households=members.size,
        highest=float(of_row.max()),
        mean=float(of_row.mean()),
        expected=float(of_row.sum()),
        rows_above=int((of_row > threshold).sum()),
    )
