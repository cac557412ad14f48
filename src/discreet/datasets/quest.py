"""IBM's Quest generator of market baskets (Agrawal and Srikant, Fast algorithms for mining association rules, 1994)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.boundary import public
from discreet.core.params import FloatIn, InstanceOf, IntIn, OneOf, require
from discreet.core.rng import RandomState, generator
from discreet.kernels import ragged

_PART = re.compile(r"([A-Z])(\d+(?:\.\d+)?)([KM]?)")
_SUFFIX = {"": 1, "K": 1000, "M": 1_000_000}
_LENGTH = "TCQ"
_LETTERS = _LENGTH + "IDNL"
_MOST = 2**31 - 1
_LONGEST = 10_000
_NONE = InstanceOf((type(None),), "None")


@dataclass(frozen=True)
class _Sizes:
    """What a name such as T10.I4.D100K.N1K says; zero where it says nothing."""

    length: float = 0
    pattern_length: float = 0
    n_baskets: int = 0
    n_items: int = 0
    patterns: int = 0


@dataclass(frozen=True)
class _Name:
    """A name made of letters with numbers, each letter once."""

    def admits(self, value: object) -> bool:
        if not isinstance(value, str) or not value:
            return False
        letters = [letter for letter, _, _ in _PART.findall(value.upper())]
        one_length = sum(letter in _LENGTH for letter in letters) <= 1
        complete = not _PART.sub("", value.upper()).replace(".", "")
        return complete and one_length and len(set(letters)) == len(letters) and set(letters) <= set(_LETTERS)

    def __str__(self) -> str:
        return "made of T (or C or Q), I, D, N and L, each once with a number, such as 'T10.I4.D100K.N1K'"


@public
def quest(
    name: str | None = None,
    *,
    length: float | None = None,
    pattern_length: float | None = None,
    n_baskets: int | None = None,
    n_items: int | None = None,
    patterns: int | None = None,
    correlation: float = 0.5,
    corruption: float = 0.5,
    corruption_variance: float = 0.1,
    item_weights: str = "exponential",
    random_state: RandomState = None,
) -> Baskets:
    """Generate market baskets: patterns of items that are bought together, put into baskets with some items missing.

    Parameters
    ----------
    name : str, optional
        The sizes as the literature writes them, such as T10.I4.D100K.N1K: mean basket length (T; some write C or Q),
        mean pattern length (I), baskets (D), items (N, 1,000 if not named), patterns (L), with K for a thousand and M
        for a million. T10I4D100K, without dots, is understood as well.
    length, pattern_length, n_baskets, n_items, patterns
        The same one by one; each goes before what the name says. 2,000 patterns by default.
    correlation : float
        The mean share of a pattern's items that it takes over from the pattern before it.
    corruption, corruption_variance : float
        Mean and variance of the patterns' levels of corruption, normally distributed: while a draw from [0, 1) stays
        below a pattern's level, another of its items is dropped.
    item_weights : {"exponential", "uniform"}
        How likely the items are to enter patterns: exponentially distributed, as in IBM's program, or all alike, as in
        the paper.
    random_state : None, int or Generator
        The same seed produces the same baskets.

    Returns
    -------
    Baskets
        Never an empty one. The items are numbered from 0; some may occur in no basket.

    Examples
    --------
    >>> from discreet.datasets import quest
    >>> quest("T10.I4.D1K.N100", random_state=7)
    Baskets(1000 baskets, 100 items, ... entries)
    """
    stated = _sizes(name)
    sizes = _Sizes(
        stated.length if length is None else length,
        (stated.pattern_length or 4) if pattern_length is None else pattern_length,
        stated.n_baskets if n_baskets is None else n_baskets,
        (stated.n_items or 1000) if n_items is None else n_items,
        (stated.patterns or 2000) if patterns is None else patterns,
    )
    _require(sizes)
    require("quest", "correlation", correlation, FloatIn(0, 1))
    require("quest", "corruption", corruption, FloatIn(0, 1, "left"))
    require("quest", "corruption_variance", corruption_variance, FloatIn(0, 1))
    require("quest", "item_weights", item_weights, OneOf(("exponential", "uniform")))
    rng = generator(random_state, owner="quest")
    weights = rng.exponential(size=sizes.n_items) if item_weights == "exponential" else np.ones(sizes.n_items)
    potential = _patterns(sizes, weights, correlation, rng)
    levels = np.ones(sizes.patterns)
    while levels.min() >= 1:  # were every pattern corrupted to nothing, no basket would ever fill
        levels = rng.normal(corruption, math.sqrt(corruption_variance), sizes.patterns)
    return _baskets(sizes, potential, levels, rng)


def _sizes(name: str | None) -> _Sizes:
    require("quest", "name", name, _NONE, _Name())
    numbers = _numbers_in(name or "")
    length = next((numbers[letter] for letter in _LENGTH if letter in numbers), 0)
    counts = {letter: round(numbers.get(letter, 0)) for letter in "DNL"}
    return _Sizes(length, numbers.get("I", 0), counts["D"], counts["N"], counts["L"])


def _numbers_in(name: str) -> dict[str, float]:
    parts = _PART.findall(name.upper())
    return {letter: float(number) * _SUFFIX[suffix] for letter, number, suffix in parts}


def _require(sizes: _Sizes) -> None:
    require("quest", "length", sizes.length, FloatIn(1, _LONGEST))
    require("quest", "pattern_length", sizes.pattern_length, FloatIn(1, _LONGEST))
    require("quest", "n_baskets", sizes.n_baskets, IntIn(1, _MOST))
    require("quest", "n_items", sizes.n_items, IntIn(1, _MOST))
    require("quest", "patterns", sizes.patterns, IntIn(1, _MOST))


def _patterns(
    sizes: _Sizes, weights: FloatArray, correlation: float, rng: np.random.Generator
) -> tuple[IntArray, CodeArray]:
    """Draw the patterns one after the other, each taking a part of its items from the one before."""
    chances = np.cumsum(weights) / weights.sum()
    lengths = np.minimum(1 + rng.poisson(sizes.pattern_length - 1, sizes.patterns), sizes.n_items)
    shares = np.minimum(rng.exponential(correlation, sizes.patterns), 1)
    patterns: list[list[int]] = []
    before: list[int] = []
    for length, share in zip(lengths.tolist(), shares.tolist(), strict=True):
        n_shared = min(int(share * length + 0.5), len(before))
        pattern = dict.fromkeys(rng.permutation(before)[:n_shared].tolist())
        while len(pattern) < length:
            drawn = np.searchsorted(chances, rng.random(2 * (length - len(pattern))), side="right")
            for item in np.minimum(drawn, sizes.n_items - 1).tolist():
                if len(pattern) < length:
                    pattern.setdefault(item)
        before = list(pattern)
        patterns.append(before)
    members = np.array([item for pattern in patterns for item in pattern], np.int32)
    return ragged.bounds(lengths), members


def _baskets(
    sizes: _Sizes, patterns: tuple[IntArray, CodeArray], levels: FloatArray, rng: np.random.Generator
) -> Baskets:
    from discreet.kernels.baskets.quest import fill_baskets, n_seeds

    weights = np.cumsum(rng.exponential(size=sizes.patterns))
    weights /= weights[-1]
    seeds = rng.integers(0, 2**64, n_seeds(sizes.n_baskets), np.uint64)
    lengths = _cumulated_poisson(sizes.length - 1)
    indptr, items = fill_baskets(seeds, sizes.n_baskets, sizes.n_items, lengths, patterns, weights, levels)
    return Baskets(indptr, items, pa.array(np.arange(sizes.n_items)))


def _cumulated_poisson(mean: float) -> FloatArray:
    """Return the probabilities that a Poisson variable is at most 0, 1, 2, …, up to where a double rounds them to 1."""
    values = np.arange(int(mean + 12 * math.sqrt(mean) + 40))
    logarithms = values * math.log(mean) if mean else np.where(values, -np.inf, 0.0)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.maximum(values[1:], 1)))])
    chances = np.cumsum(np.exp(logarithms - mean - factorials))
    return np.asarray(np.minimum(chances / chances[-1], 1.0))
