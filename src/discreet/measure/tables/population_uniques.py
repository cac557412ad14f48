"""Population uniques, estimated from a sample: Pitman, Zayatz, the shifted negative binomial, and Dankar's rule."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import InstanceOf, IntIn, require
from discreet.core.release import Release
from discreet.core.tables.table import Table
from discreet.measure.tables.risk import ClassSizes, class_size_histogram

_LARGE_SAMPLE = 0.1
"""The share of the population up to which Dankar's rule trusts Pitman's model."""
_FLATTEST, _STEEPEST = 1e-6, 1 - 1e-9
_STARTS = (0.05, 0.5, 0.95)
_SOLVED = 1e-6


@public
@dataclass(frozen=True)
class PopulationUniques:
    """How many people of a population are alone with their values, estimated from a sample of it.

    Attributes
    ----------
    n_rows, population_size
        The sizes of the sample and of the population.
    sample_uniques
        The rows alone in their class.
    pitman, zayatz, snb
        The estimated number of population uniques by each model; None where a model has no solution.
    dankar
        The estimate of the model that Dankar's rule chooses.
    model
        That model.
    """

    n_rows: int
    population_size: int
    sample_uniques: int
    pitman: float | None
    zayatz: float
    snb: float | None
    dankar: float
    model: Literal["pitman", "zayatz", "snb"]

    @property
    def share(self) -> float:
        """The share of the population that is unique, by Dankar's rule."""
        return self.dankar / self.population_size

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self) | {"share": self.share}


@public
def population_uniques(subject: Table | Release, population_size: int) -> PopulationUniques:
    """Estimate how many people of a population are unique, from a simple random sample of it.

    Dankar's rule takes Pitman's model for samples of up to a tenth of the population, and the lower one of Zayatz's and
    the shifted negative binomial for larger ones; where the model it names has no solution, Zayatz's. Where the table
    is the whole population, its uniques are those of the population.

    Parameters
    ----------
    subject
        The sample: any table, or a release. Where a column says whose row it is, people are counted.
    population_size
        How many people the population has.

    References
    ----------
    N. Hoshino: Applying Pitman's sampling formula to microdata disclosure risk assessment. J. Official Statistics 17,
    2001. L. Zayatz: Estimation of the number of unique population elements using a sample. US Census Bureau 1991.
    G. Chen, S. Keller-McNulty: Estimation of identification disclosure risk in microdata. J. Official Statistics 14,
    1998.
    F. Dankar, K. El Emam, A. Neisa, T. Roffey: Estimating the re-identification risk of clinical data sets. BMC Medical
    Informatics and Decision Making 12, 2012.

    Examples
    --------
    Ten of a hundred people, four of them unique. By Zayatz, a unique of the sample is one of the population with a
    chance of 42 %:

    >>> import pyarrow as pa
    >>> from discreet import quasi
    >>> ages = Table(pa.table({"age": [20, 21, 22, 23, 30, 30, 31, 31, 32, 32]}), {"age": quasi()})
    >>> round(population_uniques(ages, 100).zayatz, 1)
    16.9
    """
    require("population_uniques", "subject", subject, InstanceOf((Table, Release), "a Table or a Release"))
    require("population_uniques", "population_size", population_size, IntIn(1))
    classes = class_size_histogram(subject.counted)
    n = int(classes.rows.sum())
    if population_size < n:
        raise ParameterError(
            f"The 'population_size' parameter of population_uniques must be at least the {n:,} of the sample. "
            f"Got {population_size} instead."
        )
    alone = int(classes.classes[classes.sizes == 1].sum())
    if alone == 0 or population_size == n:
        known = float(alone)
        return PopulationUniques(n, population_size, alone, known, known, known, known, "zayatz")
    pitman, snb = _pitman(classes, population_size), _snb(classes, population_size)
    zayatz = _zayatz(classes, population_size)
    model: Literal["pitman", "zayatz", "snb"] = "zayatz"
    if n <= _LARGE_SAMPLE * population_size:
        model = "zayatz" if pitman is None else "pitman"
    elif snb is not None and snb <= zayatz:
        model = "snb"
    estimates = {"pitman": pitman, "zayatz": zayatz, "snb": snb}
    chosen = estimates[model]
    return PopulationUniques(
        n, population_size, alone, pitman, zayatz, snb, zayatz if chosen is None else chosen, model
    )


def _zayatz(classes: ClassSizes, population_size: int) -> float:
    """Take the sizes of the sample's classes for those of the population's, and ask which could look unique."""
    from scipy.stats import hypergeom

    n = int(classes.rows.sum())
    looks_unique = classes.classes * hypergeom.pmf(1, population_size, classes.sizes, n)
    alone = classes.sizes == 1
    chance = float(looks_unique[alone].sum() / looks_unique.sum())
    return float(classes.classes[alone].sum()) * chance * population_size / n


def _pitman(classes: ClassSizes, population_size: int) -> float | None:
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


def _snb(classes: ClassSizes, population_size: int) -> float | None:
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
