"""Slow definitions for noise: the papers' steps value by value, and integrals by brute force."""

from __future__ import annotations

import math

import numpy as np


def bayes_step(noisy, middles, shares, noise):
    """Agrawal & Srikant's step over all values: (1/n) sum of fY(z - a) f(a) / sum of fY(z - w) f(w)."""
    fresh = np.zeros(len(shares))
    for z in noisy:
        at = noise.pdf(z - np.asarray(middles)) * shares
        if at.sum() > 0:
            fresh += at / at.sum()
    return fresh / fresh.sum()


def em_step(counts, chances, shares):
    """One step of EM for a mixture on bins, written out."""
    n = sum(counts)
    fresh = np.zeros(len(shares))
    for count, row in zip(counts, chances, strict=True):
        total = sum(chance * share for chance, share in zip(row, shares, strict=True))
        if count:
            for j, (chance, share) in enumerate(zip(row, shares, strict=True)):
                fresh[j] += count / n * chance * share / total
    return fresh


def chance_of_bin(noise, low, high, left, right, points=20_000):
    """The chance that a value even on [left, right] comes out in [low, high], by summing over the interval."""
    at = left + (np.arange(points) + 0.5) / points * (right - left)
    return float((noise.cdf(high - at) - noise.cdf(low - at)).mean())


def conditional_privacy(noise, edges, shares, points=4_001):
    """2^h(X|Z) by integrating the posterior's entropy over a grid of noisy values."""
    edges, shares = np.asarray(edges, float), np.asarray(shares, float)
    reach = noise.width(1 - 1e-9) / 2
    xs = np.linspace(edges[0], edges[-1], points)
    xs = (xs[1:] + xs[:-1]) / 2
    dx = (edges[-1] - edges[0]) / (points - 1)
    height = (shares / np.diff(edges))[np.searchsorted(edges, xs, side="right") - 1]
    zs = np.linspace(edges[0] - reach, edges[-1] + reach, points)
    dz = zs[1] - zs[0]
    total = 0.0
    for z in zs:
        joint = height * noise.pdf(z - xs)
        density = joint.sum() * dx
        held = joint > 0
        if density > 0:
            total -= (joint[held] * np.log2(joint[held] / density)).sum() * dx * dz
    return 2**total


def geometric_logs(scale, grid, steps):
    """The log-chance of each number of grid steps of two-sided geometric noise, up to a constant."""
    return -np.abs(steps) * (grid / scale)


def laplace_loss(scale, grid, low, high):
    """The largest log-ratio of any report's chances for two values on the grid between two ends."""
    first, last = round(low / grid), round(high / grid)
    reports = np.arange(first - 5_000, last + 5_001)
    worst = 0.0
    for one, other in ((first, last), (last, first)):
        ratio = geometric_logs(scale, grid, reports - one) - geometric_logs(scale, grid, reports - other)
        worst = max(worst, float(ratio.max()))
    return worst


def log_likelihood(counts, chances, shares):
    return sum(c * math.log(p) for c, p in zip(counts, np.asarray(chances) @ shares, strict=True) if c)


def kernel_density(values, at, noise, bandwidth, steps=20_000):
    """The deconvolved kernel density at points, by summing over frequencies and over every value."""
    values, n = np.asarray(values, float), len(values)
    frequencies = (np.arange(steps) + 0.5) / steps / bandwidth
    total = np.zeros(len(at))
    for t in frequencies:
        seen = np.exp(1j * t * values).mean()
        left = float(noise.characteristic(np.array([t]))[0])
        restored = seen * (1 - (bandwidth * t) ** 2) ** 3 * left / max(left**2, 1 / n)
        total += np.real(np.exp(-1j * t * np.asarray(at)) * restored)
    return total / (math.pi * steps * bandwidth)


def characteristic(noise, t, points=400_001):
    """The mean of cos(ty) over the noise, by summing its density."""
    ys = np.linspace(-60 * noise.spread, 60 * noise.spread, points)
    return float((np.cos(t * ys) * noise.pdf(ys)).sum() * (ys[1] - ys[0]))


def likelihood_ranks(noisy, records, noise):
    """The rank of each row's own record by the product of densities, ties at random: mean rank, and chance of first."""
    ranks, first = [], []
    for own, row in enumerate(noisy):
        scores = [float(np.log(np.maximum(noise.pdf(row - record), 1e-300)).sum()) for record in records]
        better = sum(score > scores[own] + 1e-9 for score in scores)
        ties = sum(abs(score - scores[own]) <= 1e-9 for score in scores)
        ranks.append(1 + better + (ties - 1) / 2)
        first.append(0 if better else 1 / ties)
    return ranks, first


def mixture_step(rows, weights, centers, covariances, noise):
    """One step of EM for a normal mixture seen through normal noise, record by record, as the formulas are written."""
    k, width = np.shape(centers)
    chances, guesses, rests = np.zeros((len(rows), k)), np.zeros((len(rows), k, width)), []
    for c in range(k):
        total = covariances[c] + noise
        inverse, determinant = np.linalg.inv(total), np.linalg.det(total)
        rests.append(covariances[c] - covariances[c] @ inverse @ covariances[c])
        for i, z in enumerate(rows):
            away = z - centers[c]
            density = math.exp(-0.5 * away @ inverse @ away) / math.sqrt((2 * math.pi) ** width * determinant)
            chances[i, c] = weights[c] * density
            guesses[i, c] = centers[c] + covariances[c] @ inverse @ away
    likelihood = float(np.log(chances.sum(axis=1)).sum())
    chances /= chances.sum(axis=1, keepdims=True)
    fresh = []
    for c in range(k):
        total = chances[:, c].sum()
        center = sum(r * b for r, b in zip(chances[:, c], guesses[:, c], strict=True)) / total
        spread = sum(
            r * (np.outer(b - center, b - center) + rests[c])
            for r, b in zip(chances[:, c], guesses[:, c], strict=True)
        )
        fresh.append((total / len(rows), center, spread / total))
    return chances, likelihood, *(np.array(part) for part in zip(*fresh, strict=True))


def predicted_rating(reports, variance, shrink, items, ratings, wanted):
    """A rating predicted by sums over reports, term by term: mean + sd · Σ z_k G_kq / (Σ |G_kq| + shrink), k ≠ q."""
    mean = sum(ratings.values()) / len(ratings)
    sd = math.sqrt(sum((value - mean) ** 2 for value in ratings.values()) / len(ratings))
    if len(set(ratings.values())) == 1:
        return mean
    above, below = 0.0, shrink
    for item, value in ratings.items():
        if item == wanted:
            continue
        k, q = items.index(item), items.index(wanted)
        product = sum(row[k] * row[q] for row in reports)
        above += (value - mean) / sd * product
        below += abs(product)
    del variance  # it is taken off the diagonal, which no prediction uses
    return mean + sd * above / below if below else mean
