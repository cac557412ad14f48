"""Distributions: how a column is spread before and after, as shares of people; no bar stands for only a few."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.engine import engine_of
from discreet.core.hierarchy.bands import band_bounds
from discreet.core.release import Release
from discreet.core.tables.encoding import Codebook
from discreet.core.tables.groups import SensitiveCounts
from discreet.core.tables.labels import STAR, Any_, Exact, Interval, SetOf, parse_label, texts, value_kind
from discreet.kinds.bins import MOST, cut, ends_of, line_of

HIDDEN, MISSING, OTHER, ANOTHER = "hidden (*)", "missing", "rarer values", "another value"


@dataclass(frozen=True, repr=False)
class Bars:
    """The bars of one column: labels, and for each bar one or two shares of people.

    ``undrawn``: whether a few rows have no bar, since it would stand for too few people.
    """

    column: str
    labels: tuple[str, ...]
    before: FloatArray
    after: FloatArray
    line: bool
    undrawn: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", _unique_labels(self.labels))

    @property
    def overlap(self) -> float:
        """The share of people that both shapes have in common."""
        return float(np.minimum(self.before, self.after).sum())


@dataclass(frozen=True, repr=False)
class _Slots:
    """The bar of each code of a column, and the bars' labels; the code 0 is the null.

    Codes of the bar after the last are not drawn.
    """

    slot: CodeArray
    labels: tuple[str, ...]
    undrawn: bool = False

    def held(self, weights: FloatArray | IntArray) -> FloatArray:
        """Add the weights of codes up by bar."""
        n = len(self.labels)
        return np.asarray(np.bincount(self.slot, weights=weights, minlength=n + 1)[:n], np.float64)


def compared_bars(release: Release, name: str, fewest: int) -> Bars | None:
    """Compare a quasi-identifier's shape in the original and in the release; None where too few people are in it.

    A released cell is spread evenly over the values it may stand for; ``*`` has a bar of its own.
    """
    book, counts = release.original.encoded[name], release.original.overall(name)
    released, weights = release.table.encoded[name], release.table.overall(name)
    if counts.sum() < fewest:
        return None
    return _on_a_line(book, counts, released, weights, fewest) or _by_category(
        book, counts, released, weights, fewest
    )


def released_shares(release: Release, name: str, fewest: int) -> tuple[tuple[str, ...], FloatArray]:
    """Return the commonest released cells of a column and their shares of rows, and the others together."""
    book, counts = release.table.encoded[name], release.table.overall(name)
    slots = _pooled(
        _Slots(np.arange(book.n_codes, dtype=np.int32), (MISSING, *texts(book.values).to_pylist())),
        counts,
        fewest,
        most=MOST,
        ordered=False,
    )
    labels, shares = _unique_labels(slots.labels), slots.held(counts) / counts.sum()
    bands = band_bounds(labels)
    order = sorted(range(len(labels)), key=lambda at: _by_bounds(labels[at], at, bands))
    return tuple(labels[at] for at in order), shares[order]


def _by_bounds(label: str, at: int, bands: Mapping[str, Sequence[object]]) -> tuple[bool, float, float, int]:
    """Return what bars are ordered by: intervals, bands and numbers by their bounds, and what is none after them."""
    meaning = parse_label(label)
    low: object
    high: object
    if label in bands:
        low, high, _ = bands[label]
    elif isinstance(meaning, Interval):
        low, high = meaning.low, meaning.high
    elif isinstance(meaning, Exact):
        low = high = label
    else:
        return (True, 0.0, 0.0, at)
    try:
        ends = (-np.inf if low is None else float(str(low)), np.inf if high is None else float(str(high)))
    except ValueError:
        return (True, 0.0, 0.0, at)
    return (False, *ends, at)


def first_rows(release: Release, n: int) -> list[dict[str, object]]:
    """Return the first rows of a released frame; none where rows are not fetched."""
    engine = engine_of(release.frame)
    return list(engine.first_rows(release.frame, n).to_pylist()) if engine.fetches else []


def sensitive_bars(release: Release, name: str, fewest: int) -> Bars | None:
    """Return each value's share in the release, and the largest share it has in any one class."""
    book, counts = release.table.encoded[name], release.table.overall(name)
    if counts.sum() < fewest:
        return None
    bins = cut(book.values, counts[1:], fewest) if len(book.values) > MOST else None
    if bins is not None:
        places = line_of(book.values)
        slot = np.zeros(book.n_codes, np.int32)
        slot[1:] = bins.of(places) + 1 if places is not None else 0
        slots = _pooled(_Slots(slot, (MISSING, *bins.labels)), counts, fewest, most=MOST + 2, ordered=True)
    else:
        slots = _pooled(_categories(book, counts), counts, fewest, most=MOST, ordered=_is_ordered(book))
    highest = _highest(slots, release.groups().sensitive[name])
    shares = slots.held(counts) / counts.sum()
    return Bars(name, slots.labels, shares, highest, bins is not None, slots.undrawn)


def _on_a_line(
    book: Codebook, counts: IntArray, released: Codebook, weights: IntArray, fewest: int
) -> Bars | None:
    bins = cut(book.values, counts[1:], fewest)
    places = line_of(book.values)
    if bins is None or places is None:
        return None
    labels = texts(released.values).to_pylist()
    starred = np.array([bool(label) and not label.strip(STAR) for label in labels], np.bool_)
    exact = [label for label, star in zip(labels, starred, strict=True) if not star]
    ends = ends_of(exact, bins, dates=value_kind(book.values.type) == "date")
    if ends is None:
        return None
    before = np.asarray(np.bincount(bins.of(places), counts[1:], len(bins.labels)), np.float64)
    after = bins.spread(*ends, weights[1:][~starred])
    return _with_ends(book.name, bins.labels, before, after, counts, weights, starred, fewest)


def _with_ends(
    column: str,
    labels: tuple[str, ...],
    before: FloatArray,
    after: FloatArray,
    counts: IntArray,
    weights: IntArray,
    starred: np.ndarray[tuple[int], np.dtype[np.bool_]],
    fewest: int,
) -> Bars:
    """Add bars for missing and for hidden cells, where there are enough of them."""
    hidden = float(weights[1:][starred].sum())
    # A few missing cells of the original are a few people; those that only the release has are public.
    if counts[0] >= fewest or (counts[0] == 0 and weights[0]):
        labels = (*labels, MISSING)
        before, after = np.append(before, counts[0]), np.append(after, weights[0])
    if hidden:
        labels = (*labels, HIDDEN)
        before, after = np.append(before, 0.0), np.append(after, hidden)
    return Bars(column, labels, before / counts.sum(), after / max(weights.sum(), 1), line=True)


def _by_category(
    book: Codebook, counts: IntArray, released: Codebook, weights: IntArray, fewest: int
) -> Bars:
    slots = _pooled(_categories(book, counts), counts, fewest, most=MOST, ordered=_is_ordered(book))
    mass, hidden = _spread(book, released, weights)
    labels = slots.labels
    before, after = slots.held(counts), slots.held(mass)
    unread = max(float(weights.sum() - mass.sum() - hidden), 0.0)
    if hidden:
        labels, before, after = (*labels, HIDDEN), np.append(before, 0.0), np.append(after, hidden)
    # Less than half a row is rounding.
    if unread > 0.5:
        labels, before, after = (*labels, "not readable"), np.append(before, 0.0), np.append(after, unread)
    shares = before / counts.sum(), after / max(weights.sum(), 1)
    return Bars(book.name, labels, *shares, line=False, undrawn=slots.undrawn)


def _is_ordered(book: Codebook) -> bool:
    return book.kind.value == "ordered" or book.hierarchy is not None


def _categories(book: Codebook, counts: IntArray) -> _Slots:
    """Return every value a bar of its own, or where a tree has few enough nodes further up, those."""
    tree = book.hierarchy
    if tree is not None:
        for level in range(tree.height):
            nodes = tree.levels[level]
            # One more than the bars, since the null is a node as well.
            if 2 <= np.unique(nodes[counts > 0]).size <= MOST + 1:
                names = (MISSING if name is None else name for name in tree.labels[level])
                return _Slots(nodes, tuple(names))
    return _Slots(np.arange(book.n_codes, dtype=np.int32), (MISSING, *texts(book.values).to_pylist()))


def _pooled(slots: _Slots, counts: IntArray, fewest: int, *, most: int, ordered: bool) -> _Slots:
    """Keep the bars of many people, up to ``most``, and pool the rest, or omit it where it is few people."""
    bar_counts = np.bincount(slots.slot, weights=counts, minlength=len(slots.labels))
    falling = np.argsort(-bar_counts, kind="stable")
    bars = [int(bar) for bar in falling[:most] if bar_counts[bar] >= max(fewest, 1)]
    rest = bar_counts.sum() - bar_counts[bars].sum()
    n_rest = int((bar_counts > 0).sum()) - len(bars)
    if ordered:
        bars.sort()
    # Missing values come last.
    if 0 in bars and slots.labels[0] == MISSING:
        bars.append(bars.pop(bars.index(0)))
    number = np.full(len(slots.labels), len(bars), np.int32)
    number[bars] = np.arange(len(bars), dtype=np.int32)
    labels = tuple(slots.labels[bar] for bar in bars)
    pooled = rest >= fewest
    all_labels = (*labels, OTHER if n_rest > 1 else ANOTHER) if pooled and rest else labels
    return _Slots(number[slots.slot], all_labels, undrawn=bool(rest) and not pooled)


def _spread(book: Codebook, released: Codebook, weights: IntArray) -> tuple[FloatArray, float]:
    """Spread the released cells over the original's codes; fully suppressed cells are hidden."""
    # A label adds its weight where its run starts and takes it off where it stops; the sums are made at the
    # end.
    steps = np.zeros(book.n_codes + 1)
    steps[0] += weights[0]
    steps[1] -= weights[0]
    hidden = 0.0
    runs = _runs(book)
    top = None if book.hierarchy is None else book.hierarchy.labels[-1][0]
    for label, weight in zip(texts(released.values).to_pylist(), weights[1:].tolist(), strict=True):
        covered = list(_found(label, runs, book))
        if not covered:
            hidden += weight if isinstance(parse_label(label), Any_) or label == top else 0.0
            continue
        total = sum(stop - start for start, stop in covered)
        for start, stop in covered:
            steps[start] += weight / total
            steps[stop] -= weight / total
    # Rounding may leave sums just below 0.
    return np.maximum(np.cumsum(steps[:-1]), 0.0), hidden


def _runs(book: Codebook) -> dict[str, tuple[int, int]]:
    """Return the run of codes that each value, and each node of the tree, stands for."""
    runs = {label: (code, code + 1) for code, label in enumerate(texts(book.values).to_pylist(), start=1)}
    tree = book.hierarchy
    if tree is None:
        return runs
    for level in range(1, tree.height):
        nodes = tree.levels[level]
        # Nodes never decrease along the codes, so that each is one run.
        starts = np.searchsorted(nodes, np.arange(len(tree.labels[level]) + 1))
        for node, label in enumerate(tree.labels[level]):
            if label is not None and starts[node] < starts[node + 1]:
                runs[label] = (int(starts[node]), int(starts[node + 1]))
    return runs


def _found(label: str, runs: dict[str, tuple[int, int]], book: Codebook) -> Iterator[tuple[int, int]]:
    """Find the codes a label may stand for, as runs; none for a fully suppressed label."""
    if label in runs:
        yield runs[label]
        return
    meaning = parse_label(label)
    if isinstance(meaning, SetOf):
        yield from (runs[item] for item in meaning.items if item in runs)
    elif not isinstance(meaning, Any_):
        yield from ((int(code) + 1, int(code) + 2) for code in np.flatnonzero(meaning.covers(book.values)))


def _unique_labels(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Add numbers to equal labels, so that a value named "missing" differs from a missing value."""
    unique: list[str] = []
    for label in labels:
        fresh, number = label, 2
        while fresh in unique:
            fresh, number = f"{label} ({number})", number + 1
        unique.append(fresh)
    return tuple(unique)


def _highest(slots: _Slots, counts: SensitiveCounts) -> FloatArray:
    """Return each bar's largest share in any class; of pooled values, that of any one of them."""
    n = len(slots.labels) + 1
    slot = slots.slot[counts.values]
    class_counts = np.bincount(counts.group * n + slot, weights=counts.counts, minlength=counts.n_groups * n)
    class_counts = class_counts.reshape(-1, n)
    highest = np.asarray((class_counts / class_counts.sum(axis=1, keepdims=True)).max(axis=0, initial=0.0))[
        : len(slots.labels)
    ]
    if slots.labels and slots.labels[-1] in (OTHER, ANOTHER):
        highest[-1] = counts.share[slot == len(slots.labels) - 1].max(initial=0.0)
    return highest
