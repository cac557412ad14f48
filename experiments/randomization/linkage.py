"""The curse of dimensionality for noise: how often a noisy record is linked to its person, by columns and noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from discreet.collect import AdditiveNoise
from discreet.measure import likelihood_linkage
from experiments.page import Cell, Page, spread
from experiments.randomization import pictures
from experiments.randomization.kernel import NOISES

_COLUMNS = {False: (1, 2, 3, 5, 8, 12, 16, 20), True: (2, 8)}
WIDTHS = (0.25, 0.5, 1.0, 2.0)
_PUBLIC = {False: 10_000, True: 1_000}
_TARGETS = {False: 1_000, True: 200}


@dataclass
class Linked:
    """The share of noisy records whose own public record is the likeliest: a figure for each seed."""

    noise: str
    width: float
    columns: int
    first: list[float] = field(default_factory=list)


def linked(noise: str, columns: int, *, n: int, targets: int, seeds: Sequence[int]) -> list[Linked]:
    """Hide some of n uniform records by noise of every width, and rank all of them by likelihood."""
    kind = NOISES[noise]
    results = [Linked(noise, width, columns) for width in WIDTHS]
    for seed in seeds:
        rng = np.random.default_rng([seed, columns])
        records, own = rng.random((n, columns)), rng.choice(n, targets, replace=False)
        for result in results:
            scale = result.width / 12**0.5 * kind(1.0).unit_precision ** 0.5  # type: ignore[call-arg]
            channel = AdditiveNoise(kind(scale))  # type: ignore[call-arg]
            noisy = channel.perturb(records[own], random_state=rng)
            result.first.append(likelihood_linkage(noisy, records, channel, truth=own).first)
    return results


def section(page: Page, *, quick: bool, seeds: Sequence[int]) -> list[Cell]:
    """Make the table and the picture, and return the claim with what came out."""
    n, targets = _PUBLIC[quick], _TARGETS[quick]
    page.section(
        "The curse of dimensionality",
        f"An attacker has {n:,} true records with names, uniform in every column, and {targets:,} of them with noise "
        "and without names. She knows the noise, and takes the record that is likeliest to have become the noisy one. "
        "Noise of a standard deviation of 0.25 to 2 of the column's.",
    )
    results: list[Linked] = []
    for noise, columns in product(NOISES, _COLUMNS[quick]):
        page.log(f"linkage, {noise} noise, {columns} columns")
        results += linked(noise, columns, n=n, targets=targets, seeds=seeds)
    rows: list[list[Cell]] = [
        [noise, columns, *(spread(result.first, 3) for result in _at(results, noise, columns))]
        for noise, columns in product(NOISES, _COLUMNS[quick])
    ]
    page.table(
        "linkage",
        "Share of noisy records linked to their person",
        ["noise", "columns", *(f"{width:g} sd" for width in WIDTHS)],
        rows,
        note=f"Mean ± standard deviation over the seeds. A guess would be right once in {n:,} times.",
    )
    page.picture("linkage-picture", "Linkage of noisy records", pictures.linkage(results))
    return _claim(results, quick=quick)


def _at(results: Sequence[Linked], noise: str, columns: int) -> list[Linked]:
    return [result for result in results if (result.noise, result.columns) == (noise, columns)]


def _claim(results: Sequence[Linked], *, quick: bool) -> list[Cell]:
    """Judge that noise which hides a record of few columns hides none of many."""
    claim = (
        "20.3.4: the curse of dimensionality holds for perturbation as well (the share linked is higher with the most "
        "columns than with the fewest, for every noise and width)"
    )
    if quick:
        return [claim, "", "not judged in quick form"]
    lines = [
        [np.mean(result.first) for result in results if (result.noise, result.width) == (noise, width)]
        for noise, width in product(NOISES, WIDTHS)
    ]
    rising = sum(line[-1] > line[0] for line in lines)
    widest = min(line[-1] for line in lines)
    came_out = (
        f"higher in {rising} of {len(lines)} lines; with the most columns {widest:.1%} or more are linked"
    )
    return [claim, came_out, "yes" if rising == len(lines) else "in part" if rising else "no"]
