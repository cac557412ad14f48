"""Linkage by likelihood: whose noisy record is this, to one who has the true records of many (Aggarwal, ICDE 2007)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.validation import array_of, finite

_BLOCK = 1 << 22
"""How many pairs of a noisy and a public record are compared at once."""
_TIED = 1e-9


@public
@dataclass(frozen=True, repr=False, eq=False)
class LikelihoodLinkage:
    """How well noisy records are linked to the true ones, record by record.

    Attributes
    ----------
    ranks
        The rank of the true record among the public ones by likelihood; those that fit equally well share the mean.
    first_chances
        The probability that the attacker, who takes a likeliest public record, takes the true one.
    n_public
        The number of public records.
    """

    ranks: FloatArray
    first_chances: FloatArray
    n_public: int

    @property
    def first(self) -> float:
        """The share of noisy records whose true record is ranked first, ties broken at random."""
        return float(self.first_chances.mean())

    @property
    def mean_rank(self) -> float:
        """The mean rank of the true record; (n_public + 1)/2 where nothing is learned."""
        return float(self.ranks.mean())

    def __repr__(self) -> str:
        return f"LikelihoodLinkage({self.ranks.size} noisy among {self.n_public} public, {self.first:.1%} ranked first)"


@public
def likelihood_linkage(noisy: Any, public: Any, channel: Any, *, truth: Any = None) -> LikelihoodLinkage:
    """Rank public records by how likely each is to have become a noisy one: ``Σ_d log f_Y(z_d − x_d)``.

    The attacker has true records with names, the noisy records without, and knows the noise. Every column adds to the
    sum, so that noise that hides each number by itself may hide no one who has many.

    Parameters
    ----------
    noisy
        The noisy records: rows of numbers.
    public
        True records of the same columns, those of the noisy ones among them.
    channel
        The noise: ``AdditiveNoise`` or ``Gaussian(2.0)`` for all columns, one for each (None for a column that was not
        hidden), or ``CorrelatedNoise``.
    truth
        The number of each noisy record's own public record; by default they stand in the same order.

    Examples
    --------
    >>> from discreet.collect import AdditiveNoise, Gaussian
    >>> people = np.random.default_rng(0).normal(size=(500, 8))
    >>> noise = AdditiveNoise(Gaussian(0.5))
    >>> likelihood_linkage(noise.perturb(people, random_state=1), people, noise)
    LikelihoodLinkage(500 noisy among 500 public, 70.6% ranked first)

    References
    ----------
    C. Aggarwal: On randomization, public information and the curse of dimensionality. ICDE 2007.
    """
    rows, public_rows = _rows(noisy, "noisy"), _rows(public, "public")
    if rows.shape[1] != public_rows.shape[1]:
        raise InputError("'noisy' and 'public' must have the same columns.")
    own = _own(truth, len(rows), len(public_rows))
    noises, rows, public_rows = _column_noises(channel, rows, public_rows)
    block = max(1, _BLOCK // len(public_rows))
    parts = [
        _ranked(rows[start : start + block], public_rows, own[start : start + block], noises)
        for start in range(0, len(rows), block)
    ]
    better, ties = (np.concatenate(counts) for counts in zip(*parts, strict=True))
    return LikelihoodLinkage(
        1 + better + (ties - 1) / 2, np.where(better == 0, 1 / ties, 0.0), len(public_rows)
    )


def _ranked(
    rows: FloatArray, public_rows: FloatArray, own: IntArray, noises: Sequence[Any]
) -> tuple[IntArray, IntArray]:
    """Return how many public records fit better than each row's own, and how many fit as well, itself among them."""
    scores = np.zeros((len(rows), len(public_rows)))
    for column, noise in enumerate(noises):
        away = rows[:, column, None] - public_rows[None, :, column]
        scores += np.where(away == 0, 0.0, -np.inf) if noise is None else noise.log_density(away)
    mine = scores[np.arange(len(rows)), own][:, None]
    impossible = int((mine == -np.inf).sum())
    if impossible:
        raise InputError(
            f"{impossible} noisy records could not have come from their own by this noise: the noise or the order of "
            "the records is not the one that was used."
        )
    # Scores that rounding alone sets apart are ties.
    near = _TIED * np.maximum(np.abs(mine), 1)
    return (scores > mine + near).sum(axis=1), (np.abs(scores - mine) <= near).sum(axis=1)


def _column_noises(
    channel: Any, rows: FloatArray, public_rows: FloatArray
) -> tuple[list[Any], FloatArray, FloatArray]:
    """Return the noise of each column; rows with correlated noise are turned so that it is independent."""
    width = rows.shape[1]
    if hasattr(channel, "covariance"):
        if channel.covariance.shape != (width, width):
            raise ParameterError(
                f"The 'channel' parameter must describe the noise of each of {width} columns."
            )
        # Times the inverse of the Cholesky factor, noise is independent and has the variance 1.
        turned = np.linalg.inv(np.linalg.cholesky(channel.covariance)).T
        return [_Standard()] * width, rows @ turned, public_rows @ turned
    several = isinstance(channel, Sequence) and not isinstance(channel, str)
    listed = list(channel) if several else [channel] * width
    if len(listed) != width:
        raise ParameterError(f"The 'channel' parameter must describe the noise of each of {width} columns.")
    if any(hasattr(noise, "additive") for noise in listed):
        raise ParameterError(
            "Pass the logarithms of what a factor hides, with 'channel.additive' for its noise."
        )
    noises = [getattr(noise, "noise", noise) for noise in listed]
    if all(noise is None for noise in noises) or not all(
        noise is None or hasattr(noise, "log_density") for noise in noises
    ):
        raise ParameterError(
            "The 'channel' parameter must be a noise such as Gaussian(sd), or one for each column."
        )
    return noises, rows, public_rows


class _Standard:
    """Normal noise of variance 1."""

    def log_density(self, away: FloatArray) -> FloatArray:
        """Return the logarithm of the density, up to a constant."""
        return np.asarray(-0.5 * away**2)


def _rows(data: Any, label: str) -> FloatArray:
    rows = array_of(data, shown=label)
    if rows.ndim != 2 or rows.dtype.kind not in "iuf" or not rows.size:
        raise InputError(f"'{label}' must hold rows of numbers.")
    return finite(rows, f"values of '{label}'", then="drop the rows first")


def _own(truth: Any, n_noisy: int, n_public: int) -> IntArray:
    if truth is None and n_noisy == n_public:
        return np.arange(n_noisy)
    own = array_of([] if truth is None else truth, shown="truth")
    if own.shape != (n_noisy,) or own.dtype.kind not in "iu" or ((own < 0) | (own >= n_public)).any():
        raise InputError(
            f"'truth' must hold, for each of {n_noisy} noisy records, the number of one of {n_public} public ones."
        )
    return own.astype(np.int64)
