"""Conditional privacy: what noise is worth once the whole distribution is known (Agrawal & Aggarwal, PODS 2001)."""

from __future__ import annotations

from abc import ABCMeta
from typing import TypeVar

import numpy as np

from discreet.collect.noise import Noise
from discreet.collect.reconstruct.density import Density
from discreet.collect.reconstruct.likelihood import likelihood
from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError
from discreet.core.params import FloatIn, InstanceOf, require

Kind = TypeVar("Kind", bound=Noise)

_POINTS = 4_000
_AROUND = 120
_MOST_CELLS = 30_000
_CHUNK = 4_096
_HALVINGS = 60
_CLOSE = 1e-9
_NEAREST = 1e-4
"""How near a privacy may be to the largest possible; nearer, the entropies are not computed precisely enough."""


def conditional_privacy(noise: Noise, truth: Density) -> float:
    """Return ``2^h(X|Z)`` for true values X that are spread like ``truth`` and noisy values Z.

    ``h(X|Z) = h(X) + h(Y) - h(Z)``, since the noise Y does not depend on X.

    Examples
    --------
    >>> from discreet.collect.noise import Uniform
    >>> even = Density(np.array([0.0, 1.0]), np.array([1.0]))
    >>> round(conditional_privacy(Uniform(0.5), even), 4)
    0.6065
    """
    return float(2 ** (truth.entropy + noise.entropy - _noisy_entropy(noise, truth)))


@public
def noise_for_conditional_privacy(kind: type[Kind], wanted: float, *, truth: Density) -> Kind:
    """Choose the noise of a kind that leaves the wanted ``2^h(X|Z)``; all leave less than ``2^h(X)``."""
    require(
        "noise_for_conditional_privacy",
        "kind",
        kind,
        InstanceOf((ABCMeta,), "a kind of noise such as Gaussian"),
    )
    require("noise_for_conditional_privacy", "truth", truth, InstanceOf((Density,), "a Density"))
    require("noise_for_conditional_privacy", "wanted", wanted, FloatIn(0, closed="neither"))
    most = 2**truth.entropy
    if wanted > most * (1 - _NEAREST):
        raise InfeasibleError(
            f"Noise leaves less than the conditional privacy {most:.6g} of the values themselves, and more noise adds "
            f"next to nothing; use {most * (1 - 2 * _NEAREST):.6g} or less."
        )
    low, high = wanted / 1e3, wanted
    while conditional_privacy(kind(high), truth) < wanted:  # type: ignore[call-arg]
        low, high = high, 4 * high
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5
        enough = conditional_privacy(kind(middle), truth) >= wanted  # type: ignore[call-arg]
        low, high = (low, middle) if enough else (middle, high)
        if high / low < 1 + _CLOSE:
            break
    return kind(high)  # type: ignore[call-arg]


def _noisy_entropy(noise: Noise, truth: Density) -> float:
    """Work out the entropy of noisy values in cells that are fine wherever their density bends."""
    cells = _cells(noise, truth)
    shares = np.concatenate(
        [
            likelihood(noise, cells[start : start + _CHUNK + 1], truth.edges) @ truth.shares
            for start in range(0, cells.size - 1, _CHUNK)
        ]
    )
    positive = shares > 0
    return float(-(shares[positive] * np.log2(shares[positive] / np.diff(cells)[positive])).sum())


def _cells(noise: Noise, truth: Density) -> FloatArray:
    steps = np.linspace(-1, 1, 2 * min(_AROUND, max(4, _MOST_CELLS // (4 * truth.edges.size))) + 1)
    far = np.unique(np.concatenate([noise.spread * steps, noise.reach * steps]))
    near = (truth.edges[:, None] + far[None, :]).ravel()
    even = np.linspace(truth.edges[0] - noise.reach, truth.edges[-1] + noise.reach, _POINTS)
    cells = np.unique(np.concatenate([near, even]))
    apart = np.concatenate([[True], np.diff(cells) > (cells[-1] - cells[0]) * 1e-12])
    return np.asarray(cells[apart])
