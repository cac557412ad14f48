"""The checks that every collector of the registry passes; COLLECTORS holds a case for each."""

from __future__ import annotations

import copy
import logging
import pickle
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet.kernels.threads
from discreet import collect
from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import DiscreetError, InputError, ParameterError
from discreet.core.registry import methods

SECRET = "Wilhelmina-4711"
FAR = 918_273_645.5
SHAPE = np.array([[4.0, 3.0], [3.0, 4.0]])
KINDS = ["tea", "coffee", SECRET]


@dataclass(frozen=True)
class Case:
    """A collector, what it distorts, and what belongs to it alone.

    ``still`` makes the collector that adds no noise, or next to none, and ``expected`` says what it must give.
    ``wrong`` names the parameter that each call violates. ``strange`` is data that it must refuse without showing it.
    """

    make: Callable[[], Any]
    data: Callable[[], Any]
    still: Callable[[], Any]
    wrong: tuple[tuple[str, Callable[[], Any]], ...]
    strange: tuple[Callable[[], Any], ...]
    expected: Callable[[Any], Any] = lambda data: data
    near: float = 0.0


def shop() -> Baskets:
    """Return baskets of several blocks, some empty, one with a secret item."""
    held = np.random.default_rng(1).random((9000, 6)) < 0.3
    held[:, 5] = False
    held[7, 5] = True
    indptr = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
    return Baskets(indptr, np.nonzero(held)[1], pa.array([*"abcde", SECRET]))


def numbers() -> Any:
    """Return ages."""
    return np.random.default_rng(2).uniform(20, 80, 3000)


def pairs() -> Any:
    """Return rows of two correlated numbers."""
    return np.random.default_rng(3).multivariate_normal([0, 0], SHAPE, 2000)


def answers() -> Any:
    """Return categories."""
    return np.random.default_rng(4).choice(np.array(KINDS), 3000)


def people() -> Any:
    """Return a frame with a column of numbers, one of categories, and one that is left alone."""
    return pa.table({"age": numbers(), "drink": answers(), "town": [SECRET] * 3000})


def channels(sd: float = 5.0, keep: float = 0.6) -> collect.Channels:
    """Return a channel for each of two columns."""
    drink = collect.RandomizedResponse.k_ary(KINDS, keep=keep)
    return collect.Channels({"age": collect.AdditiveNoise(collect.Gaussian(sd)), "drink": drink})


def ages(**more: Any) -> collect.AdditiveNoise:
    """Return noise for ages."""
    return collect.AdditiveNoise(collect.Gaussian(5.0), **{"low": 0, "high": 100, **more})


def factors(**more: Any) -> collect.MultiplicativeNoise:
    """Return factors for ages."""
    return collect.MultiplicativeNoise(collect.Gaussian(0.5), **{"low": 1, "high": 100, **more})


COLLECTORS: dict[str, list[Case]] = {
    "EMask": [
        Case(
            lambda: collect.EMask(0.6, 0.9),
            shop,
            lambda: collect.EMask(1, 1),
            (
                ("p", lambda: collect.EMask(1.1, 0.9)),
                ("q", lambda: collect.EMask(0.6, -0.1)),
                ("p", lambda: collect.EMask(0.25, 0.75)),
                ("baskets", lambda: collect.EMask(0.6, 0.9).perturb([[SECRET]])),  # type: ignore[call-overload]
                ("as_bits", lambda: collect.EMask(0.6, 0.9).perturb(shop(), as_bits=1)),  # type: ignore[call-overload]
                ("n_items", lambda: collect.EMask(0.6, 0.9).epsilon_of_record(0)),
            ),
            (lambda: [[SECRET]], lambda: {SECRET: 1}, lambda: shop().to_arrow()),
        ),
    ],
    "Mask": [
        Case(
            lambda: collect.Mask(0.9),
            shop,
            lambda: collect.Mask(1),
            (("p", lambda: collect.Mask(2)), ("p", lambda: collect.Mask(0.5))),
            (lambda: [[SECRET]],),
        ),
    ],
    "AdditiveNoise": [
        Case(
            ages,
            numbers,
            lambda: collect.AdditiveNoise(collect.Uniform(1e-6)),
            (
                ("noise", lambda: collect.AdditiveNoise("much").perturb([1.0])),  # type: ignore[arg-type]
                ("low", lambda: ages(low="none").perturb([1.0])),
                ("high", lambda: ages(high=0).perturb([1.0])),
                ("sd", lambda: collect.Gaussian(0)),
            ),
            (lambda: [FAR], lambda: [1.0, np.nan], lambda: [SECRET], lambda: object()),
            near=1e-5,
        ),
    ],
    "MultiplicativeNoise": [
        Case(
            factors,
            numbers,
            lambda: collect.MultiplicativeNoise(collect.Uniform(1e-9)),
            (
                ("noise", lambda: collect.MultiplicativeNoise("much").perturb([1.0])),  # type: ignore[arg-type]
                ("noise", lambda: collect.MultiplicativeNoise(collect.Gaussian(9.0)).perturb([1.0])),
                ("low", lambda: factors(low=0).perturb([1.0])),
                ("high", lambda: factors(high=1).perturb([1.0])),
            ),
            (
                *(lambda: [FAR], lambda: [1.0, np.nan], lambda: [SECRET], lambda: object()),
                *(lambda: [1.0, 0.0], lambda: [1.0, -FAR], lambda: [2**80], lambda: [5e-324]),
            ),
            near=1e-5,
        ),
    ],
    "CorrelatedNoise": [
        Case(
            lambda: collect.CorrelatedNoise(SHAPE),
            pairs,
            lambda: collect.CorrelatedNoise(1e-12 * SHAPE),
            (
                ("covariance", lambda: collect.CorrelatedNoise([[1.0, 2.0], [2.0, 1.0]])),
                ("covariance", lambda: collect.CorrelatedNoise(SECRET)),
                ("ratio", lambda: collect.CorrelatedNoise.like(SHAPE, ratio=0)),
            ),
            (lambda: [[FAR]], lambda: [[1.0, np.inf]], lambda: [[SECRET, SECRET]], lambda: SECRET),
            near=1e-4,
        ),
    ],
    "RandomizedResponse": [
        Case(
            lambda: collect.RandomizedResponse.k_ary(KINDS, keep=0.6),
            answers,
            lambda: collect.RandomizedResponse.k_ary(KINDS, keep=1),
            (
                ("keep", lambda: collect.RandomizedResponse.k_ary(KINDS, keep=1.5)),
                ("epsilon", lambda: collect.RandomizedResponse.k_ary(KINDS, epsilon=0)),
                ("categories", lambda: collect.RandomizedResponse([SECRET, SECRET], np.eye(2))),
                ("matrix", lambda: collect.RandomizedResponse(KINDS, np.ones((3, 3)) / 3)),
            ),
            (lambda: [f"{SECRET} too"], lambda: ["tea", None]),
        ),
    ],
    "UnaryResponse": [
        Case(
            lambda: collect.UnaryResponse(KINDS, p=0.6, q=0.8),
            answers,
            lambda: collect.UnaryResponse(KINDS, p=1, q=1),
            (
                ("p", lambda: collect.UnaryResponse(KINDS, p=-1, q=0.8)),
                ("q", lambda: collect.UnaryResponse(KINDS, p=0.6, q=2)),
                ("p", lambda: collect.UnaryResponse(KINDS, p=0.5, q=0.5)),
                ("categories", lambda: collect.UnaryResponse([SECRET], p=0.6, q=0.8)),
                ("epsilon", lambda: collect.UnaryResponse.optimal(KINDS, epsilon=-1)),
            ),
            (lambda: [f"{SECRET} too"], lambda: ["tea", None]),
            expected=lambda data: data[:, None] == np.array(KINDS),
        ),
    ],
    "Pram": [
        Case(
            lambda: collect.Pram(KINDS, [5, 4, 1], redraw=0.5),
            answers,
            lambda: collect.Pram(KINDS, [5, 4, 1], redraw=0),
            (
                ("redraw", lambda: collect.Pram(KINDS, [5, 4, 1], redraw=1)),
                ("shares", lambda: collect.Pram(KINDS, [5, 4, 0], redraw=0.5)),
                ("shares", lambda: collect.Pram(KINDS, [5, 4], redraw=0.5)),
                ("shares", lambda: collect.Pram(KINDS, SECRET, redraw=0.5)),
                ("categories", lambda: collect.Pram([SECRET, SECRET], [1, 1], redraw=0.5)),
                ("epsilon", lambda: collect.Pram.of(KINDS, epsilon=0)),
                ("redraw", lambda: collect.Pram.of(KINDS)),
            ),
            (lambda: [f"{SECRET} too"], lambda: ["tea", None]),
        ),
    ],
    "RankSwapping": [
        Case(
            lambda: collect.RankSwapping(["age", "drink"], within=["town"]),
            people,
            lambda: collect.RankSwapping(["age", "drink"], window=0),
            (
                ("columns", lambda: collect.RankSwapping([])),
                ("columns", lambda: collect.RankSwapping("age")),
                ("columns", lambda: collect.RankSwapping(["age", "age"])),
                ("columns", lambda: collect.RankSwapping(["age"], within=["age"])),
                ("window", lambda: collect.RankSwapping(["age"], window=1.5)),
                ("within", lambda: collect.RankSwapping(["age"], within="town")),
                ("window", lambda: collect.RankSwapping(["age"]).perturb(people().slice(0, 5))),
            ),
            (lambda: people().drop_columns("age"), lambda: people().drop_columns("town"), lambda: SECRET),
        ),
    ],
    "Channels": [
        Case(
            channels,
            people,
            lambda: channels(1e-6, 1),
            (("channels", lambda: collect.Channels({"age": "noise"})),),  # type: ignore[dict-item]
            (
                lambda: people().append_column("x", pa.array([None] * 3000)).drop_columns("age"),
                lambda: people().set_column(1, "drink", pa.array([f"{SECRET} too"] * 3000)),
                lambda: people().set_column(0, "age", pa.array([None] * 3000, pa.float64())),
                lambda: SECRET,
            ),
            near=1e-4,
        ),
    ],
}
CASES = [
    pytest.param(case, id=f"{name}-{at}")
    for name, cases in COLLECTORS.items()
    for at, case in enumerate(cases)
]
every_collector = pytest.mark.parametrize("case", CASES)


def parts(held: Any) -> list[Any]:
    """Return the arrays that data consists of."""
    if isinstance(held, Baskets):
        return [held.indptr, held.items, np.array(held.names.to_pylist())]
    if isinstance(held, pa.Table):
        return [np.array(held.column_names), *(column.to_numpy() for column in held.columns)]
    return [np.asarray(held)]


def frozen(held: Any) -> bytes:
    """Return data as bytes."""
    return pickle.dumps([(part.dtype.str, part.shape, part.tolist()) for part in parts(held)])


def test_every_collector_of_the_registry_is_checked() -> None:
    assert {method.class_name for method in methods(role="collector")} == set(COLLECTORS)


@every_collector
def test_the_same_seed_gives_the_same_bytes(case: Case) -> None:
    collector, data = case.make(), case.data()
    once, again = (frozen(collector.perturb(data, random_state=5)) for _ in range(2))
    assert once == again
    assert frozen(case.make().perturb(data, random_state=np.random.default_rng(5))) == once
    others = [frozen(collector.perturb(data, random_state=seed)) for seed in (6, None, None)]
    assert len({once, *others}) == 4


@every_collector
def test_the_number_of_threads_does_not_matter(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for threads in (1, 2, 5):
        monkeypatch.setattr(discreet.kernels.threads, "processors", lambda threads=threads: threads)
        found.add(frozen(case.make().perturb(case.data(), random_state=5)))
    assert len(found) == 1


@every_collector
def test_the_global_generators_are_untouched(case: Case) -> None:
    before = random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002
    for seed in (None, 1):
        case.make().perturb(case.data(), random_state=seed)
    assert before == (random.getstate(), pickle.dumps(np.random.get_state()))  # noqa: NPY002


@every_collector
def test_the_input_stays_as_it_was(case: Case) -> None:
    collector, data = case.make(), case.data()
    before, about = frozen(data), copy.deepcopy(vars(collector))
    made = collector.perturb(data, random_state=1)
    assert frozen(data) == before
    assert repr(vars(collector)) == repr(about)
    shared = [np.shares_memory(a, b) for a in parts(made) for b in parts(data) if a.dtype.kind in "fi"]
    assert not any(shared) or isinstance(made, pa.Table)


@every_collector
def test_without_noise_the_truth_comes_back(case: Case) -> None:
    data = case.data()
    made, truth = parts(case.still().perturb(data)), parts(case.expected(data))
    assert len(made) == len(truth)
    for ours, theirs in zip(made, truth, strict=True):
        if case.near and ours.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=case.near)
        else:
            np.testing.assert_array_equal(ours, theirs)


@every_collector
def test_noise_changes_something_and_keeps_the_form(case: Case) -> None:
    data = case.data()
    made = case.make().perturb(data, random_state=1)
    assert len(made) == len(data)
    assert frozen(made) != frozen(case.expected(data))


@every_collector
def test_planted_names_are_never_shown(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    collector = case.make()
    with caplog.at_level(logging.DEBUG):
        made = collector.perturb(case.data(), random_state=1)
    assert SECRET not in f"{collector!r} {collector} {caplog.text}"
    if isinstance(made, Baskets):
        assert SECRET not in f"{made!r} {made}"


@every_collector
def test_strange_data_is_refused_without_being_shown(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    for strange in case.strange:
        data = strange()
        with pytest.raises(DiscreetError) as caught, caplog.at_level(logging.DEBUG):
            case.make().perturb(data, random_state=1)
        told = f"{caught.value} {caught.value.__cause__} {caplog.text}"
        assert SECRET not in told
        assert "918" not in told
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


@every_collector
def test_each_violated_constraint_names_its_parameter(case: Case) -> None:
    for parameter, violate in case.wrong:
        with pytest.raises(ParameterError, match=f"'{parameter}'") as caught:
            violate()
        assert SECRET not in str(caught.value)


@every_collector
def test_a_bad_seed_names_random_state(case: Case) -> None:
    for bad in (-1, 1.5, "seed"):
        with pytest.raises((ParameterError, InputError), match="'random_state'"):
            case.make().perturb(case.data(), random_state=bad)
