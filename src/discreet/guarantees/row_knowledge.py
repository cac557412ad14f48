"""What is learned of people with several rows by those who know how many rows somebody has in a class.

Guarantees count people, but a class shows how many of its rows have each value. Take somebody with r of the n rows of a
class, where c rows have a value. Whoever knows r, and nothing of who has which rows, deals the class's values to its
rows at random, so that the person has the value with the probability 1 - C(n - c, r) / C(n, r). For r = 1 that is the
share c / n, which guarantees are about; for c > n - r it is 1, whatever else is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.figures import Caution
from discreet.core.guarantee import AllOf, Guarantee
from discreet.core.release import Release
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.core.tables.table import Table
from discreet.guarantees.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from discreet.guarantees.delta_disclosure import DeltaDisclosure
from discreet.guarantees.k_anonymity import AlphaKAnonymity
from discreet.guarantees.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.guarantees.per_unit import PerUnit
from discreet.guarantees.t_closeness import TCloseness

_ROUNDING = 1e-9
"""How far a belief may exceed its limit by rounding."""


@dataclass(frozen=True)
class RowKnowledge:
    """How many people, counted in each of their classes, knowledge of row counts ties to a value of a column.

    ``beyond`` are tied with more than a guarantee allows, ``certain`` of them for certain, out of ``people``.
    """

    column: str
    beyond: int
    certain: int
    people: int


@dataclass(frozen=True)
class _Counts:
    """People of a class by how many of its rows they have: the class, the rows and how many people."""

    group: IntArray
    rows: IntArray
    people: IntArray

    @classmethod
    def of(cls, units: SensitiveCounts) -> _Counts:
        width = int(units.counts.max(initial=0)) + 1
        keys, people = np.unique(units.group * width + units.counts, return_counts=True)
        return cls(keys // width, keys % width, people)


def row_knowledge(guarantee: Guarantee, table: Table) -> Iterator[RowKnowledge]:
    """Find the columns in which knowledge of row counts exceeds what guarantees counted by unit allow.

    Parameters
    ----------
    guarantee
        What the released rows keep.
    table
        The released rows, with their units.
    """
    parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
    by_unit = [part.guarantee for part in parts if isinstance(part, PerUnit)]
    if table.units is None or not by_unit:
        return
    groups = table.groups()
    known = _Counts.of(table.unit_groups().sensitive[table.units.column])
    for name in table.schema.sensitive:
        judging = [part for part in by_unit if name in part.judged_values(table.schema.sensitive)]
        if not judging:
            continue
        beliefs = _Beliefs.of(groups, groups.sensitive[name], known)
        certain = beliefs.anywhere(beliefs.belief >= 1.0)
        beyond = certain | np.logical_or.reduce([_exceeds(part, groups, beliefs, known) for part in judging])
        if beyond.any():
            people = known.people
            yield RowKnowledge(name, int(people[beyond].sum()), int(people[certain].sum()), int(people.sum()))


def known_row_counts(release: Release) -> Iterator[Caution]:
    """Count the people whose number of rows in a class ties them to a value with more than a guarantee allows.

    Whose rows they are is not published, so the count is private, unless pseudonyms show it anyway.
    """
    for found in row_knowledge(release.guarantee, release.judged_table):
        certain = f", {found.certain:,} of them for certain" if found.certain else ""
        yield Caution(
            "known-row-counts",
            f"People are counted, but classes show how many rows have each value of '{found.column}'. Whoever knows "
            f"how many rows a person has in a class ties {found.beyond:,} of {found.people:,} (people, once in each "
            f"of their classes) to a value with more than the guarantee allows{certain}. Keep one row of each person, "
            "or make classes larger.",
            public=release.schema.person is not None,
        )


@dataclass(frozen=True)
class _Beliefs:
    """For every number of rows in a class and every value of the class, the belief before and after the release."""

    counts: SensitiveCounts
    entry: IntArray
    """The entry of ``counts`` of each belief."""
    person: IntArray
    """Which entry of `_Counts` each belief is about."""
    n_persons: int
    belief: FloatArray
    prior: FloatArray

    @classmethod
    def of(cls, groups: Groups, counts: SensitiveCounts, known: _Counts) -> _Beliefs:
        lengths = np.diff(counts.indptr)[known.group]
        person = np.repeat(np.arange(known.group.size), lengths)
        within = np.arange(person.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        entry = counts.indptr[known.group][person] + within
        rows = known.rows[person]
        belief = _has_value(groups.sizes[known.group][person], counts.counts[entry], rows)
        overall = counts.overall[counts.values[entry]]
        prior = _has_value(np.full(rows.size, counts.overall.sum()), overall, rows)
        return cls(counts, entry, person, known.group.size, belief, prior)

    def anywhere(self, chosen: BoolArray) -> BoolArray:
        """Return for every number of rows in a class whether one of its values is chosen."""
        return np.bincount(self.person[chosen], minlength=self.n_persons) > 0


def _has_value(n: IntArray, having: IntArray, rows: IntArray) -> FloatArray:
    """Return the probability that some of a person's rows, drawn from n, are among those with a value."""
    from scipy.special import gammaln

    others = n - having
    possible = others >= rows
    left = np.where(possible, others - rows, 0)
    # C(n - c, r) / C(n, r) by logarithms; expm1 keeps probabilities near 0 exact.
    lacking = gammaln(others + 1) - gammaln(left + 1) - gammaln(n + 1) + gammaln(n - rows + 1)
    return np.where(possible, -np.expm1(lacking), 1.0)


def _exceeds(guarantee: Guarantee, groups: Groups, beliefs: _Beliefs, known: _Counts) -> BoolArray:
    """Return for every number of rows in a class whether the guarantee forbids a share as large as the belief.

    Distinct diversity withstands the exclusion of all but one of its values, so the person must possibly lack all of
    the most frequent ones. Guarantees about distributions must hold for the rows, too, which are one visit each.
    """
    if isinstance(guarantee, DistinctDiversity):
        return known.rows > (groups.sizes - _most_frequent(beliefs.counts, guarantee.l - 1))[known.group]
    beyond = beliefs.anywhere(beliefs.belief > _most_believed(guarantee, beliefs) + _ROUNDING)
    if isinstance(guarantee, AlphaKAnonymity):
        return beyond
    return np.asarray(beyond | ~guarantee.holds(groups)[known.group])


def _most_believed(guarantee: Guarantee, beliefs: _Beliefs) -> FloatArray:
    """Return the largest share of a value that the guarantee lets a class have; 1 where it sets no limit."""
    prior = beliefs.prior
    limit: FloatArray | float = 1.0
    match guarantee:
        case AlphaKAnonymity():
            limit = guarantee.alpha
        case RecursiveDiversity():
            # From r_1 < c (n - r_1): the ranks that count leave the most frequent value out.
            limit = guarantee.c / (1 + guarantee.c)
        case EntropyDiversity():
            n_values = np.diff(beliefs.counts.indptr)[beliefs.counts.group[beliefs.entry]]
            limit = _of_entropy(guarantee.l, n_values)
        case TCloseness(distance="equal"):
            # The distance is the sum of what values have too much, so that one has at most t.
            limit = prior + guarantee.t
        case EnhancedBetaLikeness():
            limit = prior * (1 + np.minimum(guarantee.beta, -np.log(prior)))
        case BasicBetaLikeness():
            limit = prior * (1 + guarantee.beta)
        case DeltaDisclosure():
            limit = prior * 2**guarantee.delta
    return np.broadcast_to(np.minimum(limit, 1.0), prior.shape)


def _of_entropy(least: float, n_values: IntArray) -> FloatArray:
    """Return the largest share of one of several values whose entropy is at least log ``least``, by bisection."""
    others = np.maximum(n_values - 1, 1)
    low, high = 1.0 / np.maximum(n_values, 1), np.ones(n_values.size)
    for _ in range(50):
        middle = (low + high) / 2
        rest = np.maximum(1 - middle, np.finfo(np.float64).tiny)
        enough = -middle * np.log(middle) - rest * np.log(rest / others) >= np.log(least)
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return high


def _most_frequent(counts: SensitiveCounts, n: int) -> IntArray:
    """Return how many rows of every class have one of its ``n`` most frequent values."""
    order = np.lexsort((-counts.counts, counts.group))
    rank = np.arange(order.size) - counts.indptr[counts.group]
    chosen = np.where(rank < n, counts.counts[order], 0)
    return np.bincount(counts.group, chosen, minlength=counts.n_groups).astype(np.int64)
