"""Attacks on a database that answers sums: differencing, trackers, averaging, reconstruction, random queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.boundary import public
from discreet.core.params import IntIn, require
from discreet.core.rng import RandomState, generator
from discreet.measure.queries.target import QueryAttack, QueryTarget

_CERTAIN = 1e-7


@public
def differencing(
    target: QueryTarget, *, n_targets: int = 20, random_state: RandomState = None
) -> QueryAttack:
    """Subtract the sum of everyone else from the sum of everyone.

    References
    ----------
    D. E. Denning, Cryptography and data security, 1982.
    """
    chosen = _chosen(target, n_targets, random_state)
    claims: dict[int, float] = {}
    total = target.total("")
    for record in chosen:
        others = target.total(target.is_not_record(record))
        if total is not None and others is not None:
            claims[record] = total - others
    return _found("differencing", target, chosen, claims)


@public
def individual_tracker(
    target: QueryTarget, *, n_targets: int = 20, random_state: RandomState = None
) -> QueryAttack:
    """Find a record that A and B single out from the sums of A, and of A without B.

    References
    ----------
    J. Schlörer, Identification and retrieval of personal records from a statistical data bank, 1975.
    """
    claims: dict[int, float] = {}
    chosen = _chosen(target, n_targets, random_state)
    for record in chosen if len(target.public) > 1 else []:
        first, *rest = sorted(target.public, key=lambda name: -target.alike(name, record))
        part = target.is_record(record, [first])
        wide = target.total(part)
        tracker = target.total(f"{part} AND {target.is_not_record(record, rest)}")
        if wide is not None:
            claims |= {} if tracker is None else {record: wide - tracker}
    return _found("individual tracker", target, chosen, claims)


@public
def general_tracker(
    target: QueryTarget, *, n_targets: int = 20, random_state: RandomState = None
) -> QueryAttack:
    """Find any record from sums of large sets: q(C or T) + q(C or not T) - q(T) - q(not T).

    References
    ----------
    D. E. Denning, P. J. Denning and M. D. Schwartz, The tracker: a threat to statistical database security, 1979.
    """
    rng = generator(random_state)
    claims: dict[int, float] = {}
    chosen = _chosen(target, n_targets, rng)
    tracker = _half(target, rng)
    if tracker is None:
        return _found("general tracker", target, chosen, claims)
    inside, outside = tracker
    halves = [target.total(inside), target.total(outside)]
    for record in chosen:
        person = target.is_record(record)
        padded = [target.total(f"({person}) OR {half}") for half in (inside, outside)]
        parts = [*padded, *halves]
        if None not in parts:
            numbers = [part for part in parts if part is not None]
            claims[record] = numbers[0] + numbers[1] - numbers[2] - numbers[3]
    return _found("general tracker", target, chosen, claims)


@public
def averaging(
    target: QueryTarget, *, n_targets: int = 5, n_times: int = 50, random_state: RandomState = None
) -> QueryAttack:
    """Query one record repeatedly, each time worded differently, and average; this removes noise that is drawn anew."""
    require("averaging", "n_times", n_times, IntIn(2))
    claims: dict[int, float] = {}
    chosen = _chosen(target, n_targets, random_state)
    for record in chosen:
        person = target.is_record(record)
        words = [person + f" AND ({person})" * (time % 6) for time in range(n_times)]
        answers = [answer for answer in map(target.total, words) if answer is not None]
        if len(answers) > 1:
            claims[record] = float(np.mean(answers))
    return _found("averaging", target, chosen, claims)


@public
def linear_reconstruction(
    target: QueryTarget,
    *,
    n_targets: int = 24,
    n_queries: int | None = None,
    random_state: RandomState = None,
) -> QueryAttack:
    """Query sums of random sets of some records, and solve for them by least squares.

    References
    ----------
    I. Dinur and K. Nissim, Revealing information while preserving privacy, 2003.
    """
    rng = generator(random_state)
    chosen = _chosen(target, n_targets, rng)
    sets, answers = [], []
    for _ in range(4 * len(chosen) if n_queries is None else n_queries):
        members = rng.random(len(chosen)) < 0.5
        if members.any():
            answer = target.total(target.is_one_of([chosen[at] for at in np.flatnonzero(members)]))
            if answer is not None:
                sets.append(members)
                answers.append(answer)
    solved = _solved(sets, answers, len(chosen))
    return _found(
        "linear reconstruction", target, chosen, {chosen[at]: value for at, value in solved.items()}
    )


@public
def random_queries(
    target: QueryTarget, *, n_queries: int = 400, random_state: RandomState = None
) -> QueryAttack:
    """Query random conjunctions in pairs that differ by one condition, and solve for whatever the answers determine.

    In the manner of automatic attackers such as QuerySnout and QueryCheetah: nothing is known about the defense.

    References
    ----------
    B. Stevanoski, A.-M. Cretu and Y.-A. de Montjoye, QueryCheetah, 2024.
    """
    rng = generator(random_state)
    names = list(target.public)
    sets, answers = [], []
    people = target.alone() or list(range(target.n_records))
    for _ in range(n_queries // 2):
        record = int(rng.choice(people))
        some = [str(name) for name in rng.permutation(names)[: int(rng.integers(1, len(names) + 1))]]
        for condition, members in _pair(target, record, some):
            answer = target.total(condition)
            if answer is not None and members.any():
                sets.append(members)
                answers.append(answer)
    return _found("random queries", target, target.alone(), _solved(sets, answers, target.n_records))


ATTACKS: dict[str, Callable[..., QueryAttack]] = {
    "differencing": differencing,
    "individual tracker": individual_tracker,
    "general tracker": general_tracker,
    "averaging": averaging,
    "linear reconstruction": linear_reconstruction,
    "random queries": random_queries,
}
"""Every query attack by its name."""


def _pair(target: QueryTarget, record: int, names: Sequence[str]) -> list[tuple[str, BoolArray]]:
    """Write a condition that holds for a record, and the same without the record."""
    rows = list(zip(*(target.public[name] for name in names), strict=True))
    like = np.array([row == rows[record] for row in rows], np.bool_)
    wide = np.ones(like.size, np.bool_)
    first = f"{target.is_record(record, names[1:])}" if len(names) > 1 else ""
    if len(names) > 1:
        others = list(zip(*(target.public[name] for name in names[1:]), strict=True))
        wide = np.array([row == others[record] for row in others], np.bool_)
    apart = target.is_not_record(record, names[:1])
    return [(first, wide), (f"{first} AND {apart}" if first else apart, wide & ~like)]


def _solved(sets: Sequence[BoolArray], answers: Sequence[float], n: int) -> dict[int, float]:
    """Return the least-squares values of the records that the sets determine."""
    if not sets:
        return {}
    matrix = np.array(sets, np.float64)
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    # A record is determined where its unit vector lies in the span of the answered sets: where its projection
    # has the length 1.
    independent = sizes > sizes.max(initial=0.0) * _CERTAIN
    basis = right[independent]
    certain = np.abs((basis**2).sum(axis=0) - 1) < _CERTAIN
    values: FloatArray = basis.T @ ((left[:, independent].T @ np.asarray(answers)) / sizes[independent])
    return {int(record): float(values[record]) for record in np.flatnonzero(certain)}


def _half(target: QueryTarget, rng: np.random.Generator) -> tuple[str, str] | None:
    """Write a condition that holds for about half of the records, and its opposite."""
    best: tuple[float, str, str] | None = None
    for name, column in target.public.items():
        values = [value for value in column if value is not None]
        distinct = list(dict.fromkeys(values))
        for number in rng.permutation(len(distinct))[:50]:
            value = distinct[int(number)]
            holds, members = target.where(name, value)
            apart = f"({target.is_not_record(list(column).index(value), [name])})"
            off = abs(members.mean() - 0.5)
            if best is None or off < best[0]:
                best = (off, f"({holds})", apart)
    return None if best is None else best[1:]


def _chosen(target: QueryTarget, n_targets: int, random_state: RandomState) -> list[int]:
    require("attack", "n_targets", n_targets, IntIn(1))
    alone = target.alone()
    rng = generator(random_state)
    return sorted(int(record) for record in rng.permutation(alone)[:n_targets])


def _found(attack: str, target: QueryTarget, chosen: Sequence[int], claims: dict[int, float]) -> QueryAttack:
    return QueryAttack(attack, len(chosen), target.asked, target.answered, claims)
