"""Special uniques: rows that few columns single out, scored by SUDA2 and DIS, and what each set of columns shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import comb, prod
from typing import Literal

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.params import FloatIn, InstanceOf, IntIn, OneOf, require
from discreet.core.release import Release
from discreet.core.tables.table import Table
from discreet.kernels.tables.column_subsets import SubsetCounts, Subsets, count_subsets, subsets_of

_MOST_BITS = 1 << 33
"""The most pairs of a distinct row and a set of columns that are looked at: a gigabyte of bits."""


@public
@dataclass(frozen=True, repr=False, eq=False)
class SpecialUniques:
    """How few columns single rows out, by SUDA2's scores and as a probability (DIS).

    No data value is kept here. A set of columns is a minimal unique of a row where it singles the row out and no part
    of it does.

    Attributes
    ----------
    max_size
        The largest sets of columns that were looked at.
    sampling_fraction
        The share of the population that the table is.
    n_rows, uniques
        The rows, and those that all columns together single out.
    minimal_uniques
        For each size of sets, from 1 on, the number of minimal uniques of all rows.
    dis
        The file's DIS: the probability that a match of a sample unique with the population is right.
    contributions
        For each column, the share of all scores that comes from minimal uniques with the column.
    highest_score, highest_dis, mean_dis
        Over the rows.
    scores, dis_scores
        For each class of rows, its score and probability; 0 where no set singles it out. ``sizes`` has the rows of each
        class.
    """

    max_size: int
    sampling_fraction: float
    n_rows: int
    uniques: int
    minimal_uniques: tuple[int, ...]
    dis: float
    contributions: dict[str, float]
    highest_score: float
    highest_dis: float
    mean_dis: float
    scores: FloatArray
    dis_scores: FloatArray
    sizes: IntArray

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON, without those of single rows."""
        names = (
            "max_size",
            "sampling_fraction",
            "n_rows",
            "uniques",
            "dis",
            "highest_score",
            "highest_dis",
            "mean_dis",
        )
        listed = {"minimal_uniques": list(self.minimal_uniques), "contributions": dict(self.contributions)}
        return {name: getattr(self, name) for name in names} | listed

    def __repr__(self) -> str:
        return f"SpecialUniques({sum(self.minimal_uniques):,} minimal uniques of {self.n_rows:,} rows)"


@public
def special_uniques(
    subject: Table | Release,
    *,
    max_size: int = 3,
    sampling_fraction: float = 0.01,
    scoring: Literal["elliot", "ihsn"] = "elliot",
) -> SpecialUniques:
    """Find the minimal sample uniques of a table, and score its rows by them.

    A row's score is the sum over its minimal uniques of (c - s)(c - s - 1)…(c - m), for c columns, a set of s columns
    and sets of up to m (at most c - 1): the fewer columns single a row out, the more it counts. DIS-SUDA spreads the
    file's DIS over the rows by their scores, as sdcMicro does. A null is a value like any other; sdcMicro leaves
    missing values out.

    Parameters
    ----------
    subject
        Any table, or a release; its quasi-identifiers are the columns.
    max_size
        The largest sets of columns to look at.
    sampling_fraction
        The share of the population that the table is.
    scoring
        ``"elliot"``: as above. ``"ihsn"``: (2^(c - s) - 1) s! (c - s)! / c! for each, as sdcMicro did before 5.0.3, and
        as the DIS scores of its Practice Guide are computed.

    References
    ----------
    A. Manning, D. Haglin, J. Keane: A recursive search algorithm for statistical disclosure assessment. Data Mining and
    Knowledge Discovery 16, 2008. M. Elliot, A. Manning, K. Mayes, J. Gurd, M. Bane: SUDA: a program for detecting
    special uniques. UNECE 2005.

    Examples
    --------
    Bob alone has the value 3 in a column; Ann and Cid need two columns each.

    >>> import pyarrow as pa
    >>> from discreet import quasi
    >>> table = Table(pa.table({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]}), {name: quasi() for name in "abc"})
    >>> special = special_uniques(table)
    >>> sorted(special.scores.tolist()), special.contributions
    ([2.0, 2.0, 4.0], {'a': 0.5, 'b': 0.375, 'c': 0.375})
    """
    require("special_uniques", "sampling_fraction", sampling_fraction, FloatIn(0, 1, closed="right"))
    require("special_uniques", "scoring", scoring, OneOf(("elliot", "ihsn")))
    table, counted, subsets = _counted("special_uniques", subject, max_size)
    names, sizes = table.schema.quasi, table.groups().sizes
    weights = _set_weights(len(names), subsets.columns.shape[1], scoring)
    scores = counted.minimal @ weights
    total = float(scores.sum())
    uniques, in_pairs = int((sizes == 1).sum()), 2 * int((sizes == 2).sum())
    likely = uniques * sampling_fraction
    dis = likely / (likely + in_pairs * (1 - sampling_fraction)) if uniques else 0.0
    dis_scores = _dis_scores(scores, uniques, dis, len(names))
    return SpecialUniques(
        max_size=subsets.columns.shape[1],
        sampling_fraction=float(sampling_fraction),
        n_rows=table.n_rows,
        uniques=uniques,
        minimal_uniques=tuple(counted.minimal.sum(axis=0).tolist()),
        dis=dis,
        contributions={
            name: float(held_by @ weights) / total if total else 0.0
            for name, held_by in zip(names, counted.by_column, strict=True)
        },
        highest_score=float(scores.max()),
        highest_dis=float(dis_scores.max()),
        mean_dis=float(dis_scores @ sizes) / table.n_rows,
        scores=scores,
        dis_scores=dis_scores,
        sizes=sizes,
    )


@public
@dataclass(frozen=True)
class ColumnSet:
    """How far a set of columns tells rows apart.

    Attributes
    ----------
    columns
        The columns.
    distinction
        The different combinations of their values, as a share of the rows.
    separation
        The share of all pairs of rows that the columns tell apart.
    uniques
        The rows with a combination of their own.
    """

    columns: tuple[str, ...]
    distinction: float
    separation: float
    uniques: int

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
def column_sets(subject: Table | Release, *, max_size: int = 3) -> tuple[ColumnSet, ...]:
    """Measure how far every small set of quasi-identifiers tells rows apart; the most distinct first in each size.

    Parameters
    ----------
    subject
        Any table, or a release.
    max_size
        The largest sets of columns to look at.

    References
    ----------
    R. Motwani, Y. Xu: Efficient algorithms for masking and finding quasi-identifiers. SDM 2007.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import quasi
    >>> table = Table(pa.table({"age": [20, 20, 30], "sex": ["m", "w", "w"]}), {"age": quasi(), "sex": quasi()})
    >>> column_sets(table)[-1]
    ColumnSet(columns=('age', 'sex'), distinction=1.0, separation=1.0, uniques=3)
    """
    table, counted, subsets = _counted("column_sets", subject, max_size)
    names, n = table.schema.quasi, table.n_rows
    n_pairs = max(comb(n, 2), 1)
    sets = [
        ColumnSet(
            tuple(names[column] for column in columns if column >= 0),
            int(counted.classes[number]) / n,
            1 - float(counted.pairs[number]) / n_pairs if n > 1 else 1.0,
            int(counted.singletons[number]),
        )
        for number, columns in enumerate(subsets.columns.tolist())
    ]
    return tuple(sorted(sets, key=lambda each: (len(each.columns), -each.distinction, each.columns)))


def _counted(owner: str, subject: Table | Release, max_size: int) -> tuple[Table, SubsetCounts, Subsets]:
    """Count the rows of a table by every set of columns up to a size."""
    require(owner, "subject", subject, InstanceOf((Table, Release), "a Table or a Release"))
    require(owner, "max_size", max_size, IntIn(1))
    table = subject.table if isinstance(subject, Release) else subject
    if table.schema.person is not None:
        raise SchemaError(
            f"'{table.schema.person}' says whose row it is, and {owner} counts rows: keep one row of each."
        )
    names, codes = table.schema.quasi, table.classes[1]
    n_sets = sum(comb(len(names), size) for size in range(1, max_size + 1))
    if n_sets * len(codes) > _MOST_BITS:
        raise ParameterError(
            f"The 'max_size' parameter of {owner} asks for {n_sets:,} sets of {len(names)} columns, and for "
            f"{len(codes):,} classes that is too much: lower it."
        )
    subsets = subsets_of(len(names), min(max_size, len(names)))
    cards = np.array([table.encoded[name].n_codes for name in names], np.int64)
    return table, count_subsets(codes, cards, table.groups().sizes, subsets), subsets


def _set_weights(n_columns: int, max_size: int, scoring: str) -> FloatArray:
    """Return what a minimal unique of each size counts."""
    sizes = range(1, max_size + 1)
    if scoring == "ihsn":
        return np.array([(2 ** (n_columns - size) - 1) / comb(n_columns, size) for size in sizes])
    # A set of all columns has an empty product, so that it counts 1.
    longest = min(max_size, n_columns - 1)
    return np.array([prod(n_columns - i for i in range(size, longest + 1)) for size in sizes], np.float64)


def _dis_scores(scores: FloatArray, uniques: int, dis: float, n_columns: int) -> FloatArray:
    """Spread the file's DIS over the rows with a score, as sdcMicro does.

    A row of the score s has 1 / (1 + U(1/DIS - 1) / (s^q A)), for U uniques, q = 1 + (8 - c)/20 for c columns, and A
    the sum of 1/s^q over the rows.
    """
    spread, scored = np.zeros(scores.size), scores > 0
    if not scored.any():
        return spread
    power = scores[scored] ** (1 + (8 - n_columns) / 20)
    spread[scored] = 1 / (1 + uniques * (1 / dis - 1) / (power * (1 / power).sum()))
    return spread
