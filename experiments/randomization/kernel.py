"""A kernel density beside Bayes and EM: information loss by the number of values, the noise and its width."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

import numpy as np

from discreet.collect import AdditiveNoise, Density, Gaussian, Laplace, Noise, NotConvergedWarning, Uniform
from experiments.page import Cell, Page, spread
from experiments.randomization import pictures

NOISES: dict[str, type[Noise]] = {"uniform": Uniform, "Gaussian": Gaussian, "Laplace": Laplace}
METHODS: dict[str, tuple[Literal["em", "bayes", "kernel"], str]] = {
    "Bayes": ("bayes", "silverman"),
    "EM": ("em", "silverman"),
    "kernel": ("kernel", "silverman"),
    "kernel, cross-validated": ("kernel", "cv"),
}
_KERNELS = ("kernel", "kernel, cross-validated")
_WIDTHS = (0.1, 0.25, 0.5)
_SIZES = {False: (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000), True: (100, 1_000)}
_DRAWS = {False: 20, True: 3}
_INTERVALS = 50
_WIDE, _FEW, _LEVEL = 0.25, 1_000, 0.05
"""What counts as wide noise and as few values, and the level of the test."""


def _two_bells() -> Density:
    edges = np.linspace(0, 1, _INTERVALS * 16 + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    heights = sum(np.exp(-0.5 * ((middles - center) / 0.08) ** 2) for center in (0.3, 0.7))
    return Density(edges, heights / np.sum(heights))


TRUTH = _two_bells()


@dataclass
class KernelLosses:
    """The information losses of every method in one setting: a figure for each draw."""

    noise: str
    width: float
    n: int
    of: dict[str, list[float]] = field(default_factory=dict)

    def worse(self, method: str, than: str) -> bool:
        """Whether a method loses more than another: a one-sided t-test over the paired draws at 5 %."""
        from scipy.stats import ttest_rel

        away = np.subtract(self.of[method], self.of[than])
        if away.size < 2 or not away.std():
            return bool(away.mean() > 0)
        return bool(ttest_rel(self.of[method], self.of[than], alternative="greater").pvalue < _LEVEL)


def losses(noise: str, width: float, n: int, *, draws: int) -> KernelLosses:
    """Reconstruct two bells from draws of n noisy values by every method."""
    kind = NOISES[noise]
    channel = AdditiveNoise(kind(width * kind(1.0).unit_precision ** 0.5), low=0, high=1)  # type: ignore[call-arg]
    edges = np.linspace(0, 1, _INTERVALS + 1)
    truth = Density(edges, np.diff(TRUTH.cdf(edges)))
    setting = KernelLosses(noise, width, n, {name: [] for name in METHODS})
    for draw in range(draws):
        rng = np.random.default_rng([draw, n, round(100 * width), list(NOISES).index(noise)])
        noisy = channel.perturb(TRUTH.sample(n, random_state=rng), random_state=rng)
        for name, (method, bandwidth) in METHODS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotConvergedWarning)
                density = channel.reconstruct(noisy, intervals=_INTERVALS, method=method, bandwidth=bandwidth)
            setting.of[name].append(truth.distance(density))
    return setting


def section(page: Page, *, quick: bool) -> list[Cell]:
    """Make the table and the picture, and return the claim with what came out."""
    draws = _DRAWS[quick]
    page.section(
        "Kernel densities",
        "The chapter's first way: the density of the noisy values by kernels, from which the noise is divided out; no "
        "step is taken, and no share is known to be 0 or more before it is cut off. Two bells on [0, 1] (standard "
        f"deviation 0.08), {_INTERVALS} intervals, noise of a standard deviation of 0.1, 0.25 and 0.5 of the range; "
        f"{draws} draws of each. The bandwidth is Silverman's rule for the noisy values, or cross-validated. His rule "
        "is made for a kernel of standard deviation 1; this kernel's is 2.4, so that it smooths more than his.",
    )
    settings = []
    for noise, width, n in product(NOISES, _WIDTHS, _SIZES[quick]):
        page.log(f"{noise} noise of {width:g} of the range, {n:,} values")
        settings.append(losses(noise, width, n, draws=draws))
    page.table(
        "kernel",
        "Information loss of a kernel density, Bayes and EM",
        ["noise", "its sd", "values", *METHODS],
        [_row(setting) for setting in settings],
        note="Half the L1 distance from the true shares of the intervals; mean ± standard deviation over the draws.",
    )
    page.picture("kernel-picture", "Kernel densities beside Bayes and EM", pictures.kernel_losses(settings))
    return _claim(settings, quick=quick)


def _row(setting: KernelLosses) -> list[Cell]:
    return [setting.noise, setting.width, setting.n, *(spread(setting.of[name], 3) for name in METHODS)]


def _claim(settings: Sequence[KernelLosses], *, quick: bool) -> list[Cell]:
    """Judge that a kernel density is worse than Bayes and EM where the noise is wide and the values are few."""
    claim = (
        f"20.2.1: a kernel density is worse than Bayes and EM where the noise is wide and n small (sd of {_WIDE:g} of "
        f"the range or more, n up to {_FEW:,}; paired t-test over the draws, one-sided, 5 %)"
    )
    if quick:
        return [claim, "", "not judged in quick form"]
    wide = [setting for setting in settings if setting.width >= _WIDE and setting.n <= _FEW]
    others = [setting for setting in settings if setting not in wide]
    counts = {
        name: [sum(_worse(setting, name) for setting in group) for group in (wide, others)]
        for name in _KERNELS
    }
    came_out = "; ".join(
        f"{name}: worse than both in {few} of {len(wide)} such settings, and in {rest} of the {len(others)} others"
        for name, (few, rest) in counts.items()
    )
    fewest = min(few for few, _ in counts.values())
    most = max(few for few, _ in counts.values())
    return [claim, came_out, "yes" if fewest == len(wide) else "in part" if most else "no"]


def _worse(setting: KernelLosses, method: str) -> bool:
    return all(setting.worse(method, than) for than in ("Bayes", "EM"))
