"""Pseudo-data: records drawn from the statistics of groups, along the eigenvectors of each covariance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.records.group_statistics import GroupStatistics, eigen
from discreet.core.records.vectors import Vectors
from discreet.core.release import Evidence, Release
from discreet.core.schema import Column, Schema
from discreet.core.tables.table import Table
from discreet.publish.recipes.recipe_parts import recipe_header

Spread = Literal["uniform", "gaussian"]
SPREADS: tuple[Spread, ...] = ("uniform", "gaussian")
_NEGLIGIBLE = 1e-12
"""The share of the largest eigenvalue below which another is a rounding error, and nothing follows from its steps."""


@dataclass(frozen=True, repr=False)
class Frequencies:
    """How often each code of a category occurs in each group, as CSR arrays."""

    indptr: IntArray
    codes: CodeArray
    counts: IntArray

    @classmethod
    def of(cls, labels: IntArray, codes: CodeArray, n_groups: int, n_codes: int) -> Frequencies:
        """Count the codes of each group."""
        from discreet.kernels.tables.grouping import count_values

        ones = np.ones(labels.size, np.int64)
        return cls(*count_values(labels.astype(np.int32), codes, ones, n_groups, n_codes))

    def draw(self, groups: IntArray, rng: np.random.Generator) -> CodeArray:
        """Draw a code for each record by the frequencies in its group."""
        ends = np.cumsum(self.counts)
        start = np.concatenate([[0], ends])[self.indptr]
        # A ticket is a place among the group's records laid end to end; the search finds whose code lies
        # there.
        tickets = start[groups] + rng.integers(0, (start[1:] - start[:-1])[groups])
        return np.asarray(self.codes[np.searchsorted(ends, tickets, side="right")])


@dataclass(frozen=True, repr=False)
class Condensed:
    """All that is kept of the records: statistics of numbers, how many were not null, and frequencies of categories.

    ``scale`` is the unit of each number in which directions are sought. ``known`` counts the records of each group
    that have a number, where some lack one.
    """

    statistics: GroupStatistics
    scale: FloatArray
    known: IntArray
    frequencies: tuple[Frequencies, ...] = ()

    @classmethod
    def of(cls, vectors: Vectors, labels: IntArray, levels: IntArray, n_groups: int) -> Condensed:
        """Condense rows by the group and the privacy level of each."""
        places, n_known = _completed(vectors.places, labels, n_groups)
        statistics = GroupStatistics.of(places, labels, levels, n_groups)
        frequencies = (
            Frequencies.of(labels, codes, n_groups, book.n_codes)
            for codes, book in zip(vectors.codes.T, vectors.books, strict=True)
        )
        return cls(statistics, vectors.scale, n_known, tuple(frequencies))

    def part(self, lines: slice, books: slice) -> Condensed:
        """Return what is kept of some columns; nothing of the others has a part in it."""
        whole = self.statistics
        statistics = replace(whole, mean=whole.mean[:, lines], scatter=whole.scatter[:, lines, lines])
        return Condensed(statistics, self.scale[lines], self.known[:, lines], self.frequencies[books])

    @cached_property
    def covariance(self) -> FloatArray:
        """The covariance of each group in units of the scale, of the records that have a number."""
        statistics = self.statistics
        # What was filled in with the mean adds nothing to the scatter, which is that of the known numbers
        # alone.
        stretch = np.sqrt(statistics.n[:, None] / np.maximum(self.known, 1)) / self.scale
        unit = statistics.scatter * stretch[:, :, None] * stretch[:, None, :]
        return np.asarray(unit / np.maximum(statistics.n, 1)[:, None, None])

    @cached_property
    def directions(self) -> tuple[FloatArray, FloatArray]:
        """The eigenvalues of each covariance, none below 0, and its eigenvectors as columns."""
        return eigen(self.covariance)

    @classmethod
    def of_numbers(cls, statistics: GroupStatistics, scale: FloatArray) -> Condensed:
        """Return statistics of a matrix: numbers alone, of which none is missing."""
        return cls(statistics, scale, np.repeat(statistics.n[:, None], statistics.n_columns, axis=1))


@dataclass(frozen=True, repr=False)
class Drawn:
    """Pseudo-records: the group behind each, places on lines, codes of categories, and the steps to the places.

    ``steps`` are those along the eigenvectors, before noise, bounds and nulls.
    """

    groups: IntArray
    places: FloatArray
    codes: CodeArray
    steps: FloatArray

    def take(self, rows: IntArray | BoolArray) -> Drawn:
        """Return some of the pseudo-records, in the order of an index or by a mask."""
        return Drawn(self.groups[rows], self.places[rows], self.codes[rows], self.steps[rows])


def draw(
    condensed: Condensed, n: int, *, spread: Spread, noise: FloatArray, rng: np.random.Generator
) -> Drawn:
    """Draw n pseudo-records, each group in proportion to its records, in random order.

    Along each eigenvector of a group's covariance steps are uniform or Gaussian with the eigenvalue as variance, and
    independent. ``noise`` adds Gaussian noise, in standard deviations of each column. Categories, and whether a
    number is missing, are drawn by their frequencies in the group, each column on its own.
    """
    groups = _allotted(condensed.statistics.n, n, rng)
    drawn = draw_for(condensed, groups, spread=spread, noise=noise, rng=rng)
    return drawn.take(rng.permutation(groups.size))


def draw_for(
    condensed: Condensed, groups: IntArray, *, spread: Spread, noise: FloatArray, rng: np.random.Generator
) -> Drawn:
    """Draw one pseudo-record for each group that is named, in that order."""
    steps = _steps((groups.size, condensed.statistics.n_columns), spread, rng)
    values, vectors = condensed.directions
    places = _places(condensed, groups, vectors * np.sqrt(values)[:, None, :], steps)
    return Drawn(groups, *_disturbed(condensed, groups, places, noise, rng), steps)


def followed(
    condensed: Condensed, drawn: Drawn, *, spread: Spread, noise: FloatArray, rng: np.random.Generator
) -> Drawn:
    """Draw the other columns of pseudo-records whose first columns were drawn; these stay as they are.

    Numbers follow from the steps of the first ones by the group's covariance: with S the covariance of the first
    columns, V and w its eigenvectors and eigenvalues, and C the covariances of the others with them, the others move by
    C V w^(-1/2) for a step of variance 1, and by steps of their own along the eigenvectors of what covariance is left.
    So all columns together have the covariance of the group. Categories are drawn by their frequencies.
    """
    groups, n_lines, n_books = drawn.groups, drawn.places.shape[1], drawn.codes.shape[1]
    values, vectors = condensed.part(slice(n_lines), slice(n_books)).directions
    least = values.max(axis=1, initial=0.0, keepdims=True) * _NEGLIGIBLE
    inverse = np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > least)
    drift = (condensed.covariance[:, n_lines:, :n_lines] @ vectors) * inverse[:, None, :]
    left = condensed.covariance[:, n_lines:, n_lines:] - drift @ drift.transpose(0, 2, 1)
    values, vectors = eigen(left)
    others = condensed.part(slice(n_lines, None), slice(n_books, None))
    steps = np.column_stack([drawn.steps, _steps((groups.size, others.statistics.n_columns), spread, rng)])
    directions = np.concatenate([drift, vectors * np.sqrt(values)[:, None, :]], axis=2)
    places = _places(others, groups, directions, steps)
    places, codes = _disturbed(others, groups, places, noise[n_lines:], rng)
    places, codes = np.column_stack([drawn.places, places]), np.column_stack([drawn.codes, codes])
    return Drawn(groups, places, codes, steps)


def bounded(places: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Mirror places beyond the observed ends back inside, so that nothing piles up at the ends."""
    mirrored = np.where(places > high, 2 * high - places, np.where(places < low, 2 * low - places, places))
    # Beyond by more than the range is wide, a mirrored place is outside at the other end.
    return np.asarray(np.clip(mirrored, low, high))


def pseudo_release(
    publisher: Any,
    rows: Any,
    roles: Mapping[str, Column],
    evidence: Evidence,
    *,
    parameters: Mapping[str, object],
    columns: Mapping[str, str],
    original: Table | None = None,
) -> Release:
    """Release pseudo-rows; ``columns`` are those of the original with their roles.

    The recipe is public, and cannot be applied to new rows: pseudo-rows are drawn anew from a whole table.
    """
    safe = {"spreadsheet_safe": True} if original is not None and original.spreadsheet_safe else {}
    entries = [{"name": name, "role": role} for name, role in columns.items()]
    return Release(
        data=rows,
        kind="pseudo-data",
        schema=Schema(roles),
        guarantee=publisher.guarantee,
        evidence=evidence,
        recipe=safe | recipe_header(publisher, parameters) | {"columns": entries},
        original=original,
    )


def _completed(places: FloatArray, labels: IntArray, n_groups: int) -> tuple[FloatArray, IntArray]:
    """Fill what is missing with the mean of the group, or of the whole column where a group has none."""
    sizes = np.bincount(labels, minlength=n_groups)
    n_known = np.repeat(sizes[:, None], places.shape[1], axis=1)
    missing = np.isnan(places)
    if not missing.any():
        return places, n_known
    places = places.copy()
    for column in np.flatnonzero(missing.any(axis=0)):
        there = ~missing[:, column]
        numbers = places[there, column]
        origin = float(numbers.mean()) if numbers.size else 0.0
        n_known[:, column] = np.bincount(labels[there], minlength=n_groups)
        # Relative to the mean of the column, so that large numbers lose no digits.
        sums = np.bincount(labels[there], weights=numbers - origin, minlength=n_groups)
        means = origin + sums / np.maximum(n_known[:, column], 1)
        places[~there, column] = means[labels[~there]]
    return places, n_known


def _allotted(sizes: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """Share n records out over the groups in proportion to their sizes, remainders at random."""
    # One random offset for all ends: each group gets its share rounded up or down, and its share on average.
    ends = np.cumsum(sizes) / sizes.sum() * n + rng.random()
    ends[-1] = n
    counts = np.diff(np.floor(ends).astype(np.int64), prepend=0)
    return np.repeat(np.arange(sizes.size), counts)


def _steps(shape: tuple[int, int], spread: Spread, rng: np.random.Generator) -> FloatArray:
    """Draw independent steps of mean 0 and variance 1."""
    if spread == "uniform":
        return np.asarray(np.sqrt(12) * (rng.random(shape) - 0.5))
    return rng.standard_normal(shape)


def _places(condensed: Condensed, groups: IntArray, directions: FloatArray, steps: FloatArray) -> FloatArray:
    """Return where steps along the directions of each record's group lead from its mean."""
    from discreet.kernels.points.drawing import stepped

    if condensed.statistics.n_columns == 0:
        return np.empty((groups.size, 0))
    places: FloatArray = stepped(condensed.statistics.mean, directions, condensed.scale, groups, steps)
    return places


def _disturbed(
    condensed: Condensed, groups: IntArray, places: FloatArray, noise: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, CodeArray]:
    """Add noise and nulls to places, and draw the categories of the same records."""
    if np.any(noise):
        places += noise * condensed.scale * rng.standard_normal(places.shape)
    share = 1 - condensed.known / condensed.statistics.n[:, None]
    for gap in np.flatnonzero(share.any(axis=0)):
        places[rng.random(groups.size) < share[groups, gap], gap] = np.nan
    codes = np.empty((groups.size, len(condensed.frequencies)), np.int32)
    for column, frequencies in enumerate(condensed.frequencies):
        codes[:, column] = frequencies.draw(groups, rng)
    return places, codes
