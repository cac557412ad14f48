"""Models of how many people of a population are unique, by the class sizes of a sample of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.tables.groups import Groups

PopulationModel = Literal["pitman", "zayatz", "snb"]

_LARGE_SAMPLE = 0.1
"""The share of the population up to which Dankar's rule trusts Pitman's model."""
_FLATTEST, _STEEPEST = 1e-6, 1 - 1e-9
_STARTS = (0.05, 0.5, 0.95)
_SOLVED = 1e-6


@public
@dataclass(frozen=True, repr=False)
class ClassSizes:
    """How many classes, and how many rows, there are of each class size; sizes ascend."""

    sizes: IntArray
    classes: IntArray
    rows: IntArray

    def __repr__(self) -> str:
        return f"ClassSizes({self.sizes.size} sizes, {self.classes.sum()} classes, {self.rows.sum()} rows)"


@public
def class_size_histogram(groups: Groups) -> ClassSizes:
    """Count classes and rows by class size.

    >>> import numpy as np
    >>> class_size_histogram(Groups(np.array([2, 5, 2])))
    ClassSizes(2 sizes, 3 classes, 9 rows)
    """
    sizes, places = np.unique(groups.sizes, return_inverse=True)
    classes = np.bincount(places, weights=groups.repeats).astype(np.int64)
    return ClassSizes(sizes, classes, sizes * classes)


def dankar_uniques(classes: ClassSizes, population_size: int) -> tuple[float, PopulationModel]:
    """Return the estimate of the model that Dankar's rule chooses, and that model.

    It takes Pitman's for samples of up to a tenth of the population, and the lower one of Zayatz's and the shifted
    negative binomial for larger ones; where the model it names has no solution, Zayatz's.
    """
    is_small = int(classes.rows.sum()) <= _LARGE_SAMPLE * population_size
    if is_small and (pitman := pitman_uniques(classes, population_size)) is not None:
        return pitman, "pitman"
    zayatz = zayatz_uniques(classes, population_size)
    snb = None if is_small else snb_uniques(classes, population_size)
    return (zayatz, "zayatz") if snb is None or snb > zayatz else (snb, "snb")


def zayatz_uniques(classes: ClassSizes, population_size: int) -> float:
    """Take the sizes of the sample's classes for those of the population's, and ask which could look unique."""
    from scipy.stats import hypergeom

    n = int(classes.rows.sum())
    looks_unique = classes.classes * hypergeom.pmf(1, population_size, classes.sizes, n)
    alone = classes.sizes == 1
    chance = float(looks_unique[alone].sum() / looks_unique.sum())
    return float(classes.classes[alone].sum()) * chance * population_size / n


def pitman_uniques(classes: ClassSizes, population_size: int) -> float | None:
    """Fit Ewens' and Pitman's partition of the sample by maximum likelihood, and expect the uniques of a larger one."""
    from scipy.optimize import brentq
    from scipy.special import gammaln

    n, n_classes = int(classes.rows.sum()), int(classes.classes.sum())
    if n_classes == n or n_classes < 2:
        return None
    # By the envelope theorem the slope of the profile likelihood in alpha is the partial one at the best theta.
    low, high = (_slope(alpha, classes, n, n_classes) for alpha in (_FLATTEST, _STEEPEST))
    if low <= 0:
        alpha = _FLATTEST
    elif high >= 0:
        return None
    else:
        alpha = brentq(_slope, _FLATTEST, _STEEPEST, args=(classes, n, n_classes))
    theta = _theta(alpha, n, n_classes)
    size = population_size
    later = gammaln(theta + alpha + size - 1) - gammaln(theta + size)
    return float(min(size * math.exp(gammaln(theta + 1) - gammaln(theta + alpha) + later), size))


def _theta(alpha: float, n: int, n_classes: int) -> float:
    """Return the likeliest theta for an alpha: where as many classes as there are would be expected."""
    from scipy.optimize import brentq

    def slope(log_shifted: float) -> float:
        theta = math.exp(log_shifted) - alpha
        return _harmonic(theta, alpha, n_classes) - _harmonic(theta, 1.0, n)

    # The slope is positive near -alpha, where the first new class has a likelihood near 0, and negative far out.
    far = 1.0
    while slope(far) > 0 and far < 60:
        far += 2
    return float(math.exp(brentq(slope, -40.0, far)) - alpha)


def _slope(alpha: float, classes: ClassSizes, n: int, n_classes: int) -> float:
    """Return the derivative of the log likelihood in alpha, at the likeliest theta."""
    from scipy.special import digamma

    theta = _theta(alpha, n, n_classes)
    new = ((n_classes - 1) - theta * _harmonic(theta, alpha, n_classes)) / alpha
    return float(new - classes.classes @ (digamma(classes.sizes - alpha) - digamma(1 - alpha)))


def _harmonic(theta: float, step: float, n: int) -> float:
    """Return the sum of 1 / (theta + i step) for i from 1 to n - 1."""
    from scipy.special import digamma

    start = theta / step
    return float((digamma(start + n) - digamma(start + 1)) / step)


def snb_uniques(classes: ClassSizes, population_size: int) -> float | None:
    """Let sizes of the population's classes be 1 plus a negative binomial; match the sample's uniques and pairs."""
    from scipy.optimize import least_squares

    share = int(classes.rows.sum()) / population_size
    n_classes = _population_classes(classes, share)
    ones, twos = (float(classes.classes[classes.sizes == size].sum()) for size in (1, 2))
    if twos == 0 or not math.isfinite(n_classes):
        return None

    def residuals(at: FloatArray) -> FloatArray:
        # As a logarithm and a logit, any two numbers are an alpha above 0 and a beta between 0 and 1.
        alpha, beta = math.exp(at[0]), 1 / (1 + math.exp(-at[1]))
        gap = (1 - share) * (1 - beta)
        likely = (beta / (1 - gap)) ** alpha
        expected_ones = n_classes * share * likely * (alpha * gap / (1 - gap) + 1)
        pairs = alpha * share**2 * (1 - beta) * (2 - (1 - alpha) * gap) / (2 * (1 - gap) ** 2)
        return np.array([expected_ones / ones - 1, n_classes * likely * pairs / twos - 1])

    for beta in _STARTS:
        start = np.array([0.0, math.log(beta / (1 - beta))])
        solved = least_squares(residuals, start, bounds=([-30, -30], [10, 30]))
        if np.abs(solved.fun).max() < _SOLVED:
            alpha, beta_ = math.exp(solved.x[0]), 1 / (1 + math.exp(-solved.x[1]))
            return float(n_classes * beta_**alpha)
    return None


def _population_classes(classes: ClassSizes, share: float) -> float:
    """Estimate the classes of the population: Shlosser's estimator as Haas and Stokes (1998) modified it."""
    sizes, counts = classes.sizes.astype(np.float64), classes.classes
    unseen = (1 - share) ** sizes
    again = sizes * share**2 * (1 - share**2) ** (sizes - 1)
    first = float(again @ counts) / float((unseen * ((1 + share) ** sizes - 1)) @ counts)
    second = float(unseen @ counts) / float((sizes * share * (1 - share) ** (sizes - 1)) @ counts)
    alone: IntArray = counts[classes.sizes == 1]
    return float(counts.sum() + alone.sum() * first * second**2)
