"""Runs held against the declared frames, and the definitions that models of pooled data are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.parties.inspector import assert_declared

from discreet.parties import Simulation, simulate

XY = ("x", "y")


def checked(protocol: Any, inputs: dict[str, Any]) -> Simulation:
    """Run, and hold the frames against the declared ones, which depend on revealed facts alone."""
    run = simulate(protocol, inputs)
    names = tuple(inputs)
    assert len({str(facts) for facts in run.revealed.values()}) == 1
    assert_declared(run, protocol.frames(names, revealed=run.revealed[names[0]]), names)
    return run


def lloyd(rows: np.ndarray[Any, Any], centers: np.ndarray[Any, Any], max_rounds: int) -> tuple[Any, int]:
    """The definition: nearest center, the first of equals; means; an empty cluster keeps its center."""
    for number in range(max_rounds):
        labels = np.array([((row - centers) ** 2).sum(axis=1).argmin() for row in rows], int)
        means = [
            rows[labels == at].mean(axis=0) if (labels == at).any() else centers[at]
            for at in range(len(centers))
        ]
        if np.array_equal(means, centers):
            return centers, number + 1
        centers = np.array(means)
    return centers, max_rounds


NAMES = ("a", "b", "c", "d")


RANGES = dict.fromkeys(NAMES, (-8, 8))


STEP = 8 / (2**19 - 1)


def columns_of(parties: int) -> dict[str, tuple[str, ...]]:
    if parties == 2:
        return {"p0": NAMES[:1], "p1": NAMES[1:]}
    return {"p0": NAMES[:2], "p1": NAMES[2:3], "p2": NAMES[3:]}


def joined_rows(seed: int, n: int) -> dict[str, Any]:
    """Values that the grid of 20 bits holds exactly, up to a rounding of floats."""
    rng = np.random.default_rng(seed)
    return {name: rng.integers(-50_000, 50_000, n) * STEP for name in NAMES}


def inputs_of(rows: dict[str, Any], columns: dict[str, tuple[str, ...]], **more: Any) -> dict[str, Any]:
    inputs = {party: {name: rows[name] for name in names} for party, names in columns.items()}
    for party, extra in more.items():
        inputs[party] |= extra
    return inputs


sizes = given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(2, 3))
