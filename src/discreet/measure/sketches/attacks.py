"""Attacks on sketches by one who knows the key: guess what a record holds; find whose sketch it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import FloatIn, require
from discreet.core.records.sketches import Signs, Sketches
from discreet.core.records.sparse_rows import SparseRows
from discreet.core.rng import RandomState, generator
from discreet.kernels import ragged
from discreet.measure.sketches.quality import batches, beside, drawn_pairs


class SketchMaker(Signs, Protocol):
    """What can sketch records, such as a SketchFamily."""

    def sketch(self, rows: Any) -> Sketches:
        """Sketch records."""
        ...


@public
@dataclass(frozen=True)
class GuessedAttributes:
    """How well one who knows the key guesses which items a record holds.

    ``auc`` is the probability that an item of the record looks larger than another: 0.5 where the attack is a coin, 1
    where it is never wrong. ``precision`` is the share of right guesses if as many items are named as the record
    holds, and ``by_chance`` is that of naming items at random. ``n_records`` counts the records attacked.
    """

    auc: float
    precision: float
    by_chance: float
    n_records: int


@public
def guess_attributes(
    rows: Any,
    sketches: Sketches,
    family: Signs,
    *,
    sample: int | None = 1000,
    names: Iterable[Any] | None = None,
    random_state: RandomState = None,
) -> GuessedAttributes:
    """Guess the items of records from their sketches, knowing the key and the names of all items.

    Every item's value is estimated, and the largest are guessed; the largest by size, if there are negative
    values.

    Parameters
    ----------
    rows, names, sketches, family
        The records, the names of their columns, their sketches in the same order, and the family that made them.
    sample
        How many records, drawn at random, are attacked; None for all. Suppressed records, records of zeros, and
        records that hold every item have nothing to guess and are left out.
    random_state
        The seed of that draw.

    Examples
    --------
    >>> from discreet.publish import SketchFamily
    >>> rows = np.random.default_rng(0).poisson(0.1, (300, 100))
    >>> families = [SketchFamily("key", components=m) for m in (5, 1000)]
    >>> short, long = (guess_attributes(rows, family.sketch(rows), family) for family in families)
    >>> short.auc < 0.8 < long.auc
    True
    """
    records = beside(rows, names, sketches)
    n_items = len(records.names)
    open_ = ~sketches.suppressed & (records.lengths > 0) & (records.lengths < n_items)
    candidates = np.flatnonzero(open_)
    if not candidates.size:
        raise InputError("There is no record whose items could be guessed.")
    chosen = candidates[drawn_pairs(candidates.size, sample, random_state, owner="guess_attributes")]
    matrix = records.to_sparse()
    signed = records.weights is not None and bool((records.weights < 0).any())
    areas, hits = [], []
    for batch in batches(chosen, n_items):
        estimates = sketches.take(batch).reconstruct(list(records.names), family).values
        size = np.abs(estimates) if signed else estimates
        present = matrix[batch].toarray() != 0
        for sizes, true in zip(size, present, strict=True):
            ranks = _mid_ranks(sizes)
            n = int(true.sum())
            # The area under the curve as a sum of ranks.
            areas.append((ranks[true].sum() - n * (n + 1) / 2) / (n * (n_items - n)))
            hits.append(true[np.argsort(-sizes, kind="stable")[:n]].mean())
    return GuessedAttributes(
        float(np.mean(areas)),
        float(np.mean(hits)),
        float((records.lengths[chosen] / n_items).mean()),
        int(chosen.size),
    )


@public
@dataclass(frozen=True)
class LinkedSketches:
    """The rank of the true record when candidates are ranked by similarity to a sketch.

    ``mean_rank`` and ``median_rank`` count from 1; candidates that look alike share their ranks. ``first`` is the
    share of sketches whose true record is first, shared firsts counted in part. By chance the mean rank would be half
    of ``n_candidates``.
    """

    mean_rank: float
    median_rank: float
    first: float
    n_candidates: int
    n_sketches: int


@public
def link_sketches(
    rows: Any,
    sketches: Sketches,
    family: SketchMaker,
    *,
    known: float = 1.0,
    sample: int | None = 1000,
    names: Iterable[Any] | None = None,
    random_state: RandomState = None,
) -> LinkedSketches:
    """Rank candidate records by their similarity to a sketch, and return the rank of the true one.

    The attacker knows the key and sketches what is known of every candidate. One who knows a record in full makes the
    very same sketch, so nothing but its shortness can hide it: that is what no length above a few components
    guarantees. One who knows a part of every record has to go by the estimated cosine.

    Parameters
    ----------
    rows, names, sketches, family
        The candidates (all records, in the order of the sketches), the names of their columns, and the family.
    known
        The share of each candidate's items that the attacker knows, drawn at random.
    sample
        How many sketches, drawn at random, are attacked; None for all.
    random_state
        The seed of the draws.

    Examples
    --------
    >>> from discreet.publish import SketchFamily
    >>> rows = np.random.default_rng(0).poisson(0.2, (200, 50))
    >>> family = SketchFamily("key", components=64)
    >>> link_sketches(rows, family.sketch(rows), family).first > 0.9
    True
    >>> link_sketches(rows, family.sketch(rows, lengths=2), family, known=0.5, random_state=0).first < 0.2
    True
    """
    require("link_sketches", "known", known, FloatIn(0, 1))
    rng = generator(random_state, owner="link_sketches")
    records = beside(rows, names, sketches)
    present = np.flatnonzero(~sketches.suppressed)
    if not present.size:
        raise InputError("There is no sketch to link.")
    sketches.require_signs(family)
    chosen = present[drawn_pairs(present.size, sample, rng, owner="link_sketches")]
    candidates = family.sketch(_partly(records, known, rng)).shortened(sketches.longest)
    ranks, firsts = [], []
    for batch in batches(chosen, len(records)):
        likeness = sketches.take(batch).cosine(candidates)
        true = likeness[np.arange(batch.size), batch][:, None]
        # Similarities that rounding alone sets apart are ties.
        better, alike = (likeness > true + 1e-12).sum(axis=1), (np.abs(likeness - true) <= 1e-12).sum(axis=1)
        ranks.append(better + (alike + 1) / 2)
        firsts.append(np.where(better == 0, 1 / alike, 0.0))
    rank = np.concatenate(ranks)
    return LinkedSketches(
        float(rank.mean()),
        float(np.median(rank)),
        float(np.concatenate(firsts).mean()),
        len(records),
        int(chosen.size),
    )


def _partly(records: SparseRows, known: float, rng: np.random.Generator) -> SparseRows:
    """Keep each entry with probability ``known``."""
    if known == 1:
        return records
    stays = rng.random(records.items.size) < known
    indptr = ragged.bounds(stays)[records.indptr]
    weights = None if records.weights is None else records.weights[stays]
    return SparseRows(indptr, records.items[stays], weights, records.names)


def _mid_ranks(values: FloatArray) -> FloatArray:
    """Rank from 1, equal values in the middle of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse])
