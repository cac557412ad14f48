"""AIM: a synthetic table whose measurements adapt to what the model still gets wrong (McKenna et al. 2022)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.boundary import public
from discreet.core.params import Constraints, IntIn
from discreet.publish.synthetic.junction_tree import Clique, JunctionTree
from discreet.publish.synthetic.marginal_model import MarginalModel, Measurement
from discreet.publish.synthetic.noisy_counts import Budget
from discreet.publish.synthetic.synthesizer import CONSTRAINTS, ExactCounts, Synthesizer

_ROUNDS = 16
"""The most rounds for each column."""
_MEASURING = 0.9
"""The share of a round's budget that is measured with; the rest chooses what to measure."""
_NOISE = math.sqrt(2 / math.pi)
"""The mean of the absolute value of a standard normal number."""
_MOST_OF_BUDGET = 1 - 1e-9


@public
@dataclass(kw_only=True, repr=False, eq=False)
class Aim(Synthesizer):
    """Publish a synthetic table with differential privacy: round by round, what the model gets wrong is counted.

    Each column is counted with noise. Then every round chooses, with noise, the set of columns on which the model is
    farthest off beyond what noise explains, counts it and fits the model again. Where a round brought less than its
    noise, later ones get more of the budget. It takes longer than MST and is nearer to the truth, the more so the
    larger the budget is.

    Parameters
    ----------
    degree
        How many columns the sets have at most that the table is to be true for; the paper takes 3.
    max_cells
        The most cells of all cliques of the model together, which bounds time and memory.
    n_steps
        The most steps of a fit between rounds; the last takes ten times as many.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> frame = pa.table({"smoker": [True, False] * 500, "ill": ["yes", "no"] * 500})
    >>> people = Table(frame, {"smoker": quasi(), "ill": sensitive()})
    >>> release = Aim(10, domains={"ill": ["yes", "no"]}).release(people)
    >>> release.frame.num_rows, release.verdict.ok, release.verdict.basis.value
    (1000, True, 'by construction')

    References
    ----------
    R. McKenna, B. Mullins, D. Sheldon, G. Miklau: AIM: an adaptive and iterative mechanism for differentially private
    synthetic data. PVLDB 15(11), 2022.
    """

    degree: int = 2
    max_cells: int = 200_000
    n_steps: int = 100

    constraints: ClassVar[Constraints] = {**CONSTRAINTS, "degree": IntIn(1, 5)}

    def _synthesized(
        self, counts: ExactCounts, budget: Budget, rng: np.random.Generator
    ) -> tuple[IntArray, list[Clique]]:
        run = _Run(counts, budget, self)
        run.measure_columns()
        while run.has_next():
            run.measure_next()
        model = run.fitted(10 * self.n_steps)
        return model.draw(rng).astype(np.int64), [noisy.columns for noisy in run.measured]


@dataclass
class _Run:
    """One run: what was measured, the model that fits it, and the noise and the budget of the next round."""

    counts: ExactCounts
    budget: Budget
    parameters: Aim
    measured: list[Measurement] = field(default_factory=list)
    model: MarginalModel | None = None

    def __post_init__(self) -> None:
        columns = range(len(self.counts.shape))
        rounds = _ROUNDS * len(columns)
        self.per_round = self.budget.rho / rounds
        degree = min(self.parameters.degree, len(columns))
        workload = list(combinations(columns, degree))
        closed = {part for each in workload for n in range(1, degree + 1) for part in combinations(each, n)}
        # As in the paper, a set weighs as many columns as it shares with the sets of the workload together.
        # The largest weight becomes 1: choices are charged for scores that move as far as a distance does,
        # and no farther.
        weights = {part: sum(len({*part} & {*each}) for each in workload) for part in sorted(closed)}
        self.weights = {part: weight / max(weights.values()) for part, weight in weights.items()}

    def measure_columns(self) -> None:
        """Count each column with the noise of a round."""
        sigma = self.budget.sigma_of(_MEASURING * self.per_round)
        for column in range(len(self.counts.shape)):
            self._measure((column,), sigma)
        self.model = self.fitted(self.parameters.n_steps)

    def has_next(self) -> bool:
        """Whether a round's worth of the budget is left, but for rounding, and there are columns to choose from."""
        return len(self.counts.shape) > 1 and self.budget.left > 1e-6 * self.budget.rho

    def measure_next(self) -> None:
        """Choose a set of columns, count it and fit again; where that gained little, later rounds get more."""
        assert self.model is not None
        # What would not do for two rounds goes into one.
        if self.budget.left < 2 * self.per_round:
            self.per_round = self.budget.left * _MOST_OF_BUDGET
        sigma = self.budget.sigma_of(_MEASURING * self.per_round)
        candidates = self._candidates()
        # What the model is off by, less what noise of this round would leave on average.
        scores = [
            weight
            * (
                self.counts.distance(columns, self.model)
                - _NOISE * sigma * math.prod(self.counts.shape[column] for column in columns)
            )
            for columns, weight in candidates.items()
        ]
        columns = list(candidates)[self.budget.choose(scores, (1 - _MEASURING) * self.per_round)]
        before = self.model.marginal(columns)
        self._measure(columns, sigma)
        self.model = self.fitted(self.parameters.n_steps)
        moved = float(np.abs(self.model.marginal(columns) - before).sum())
        # The paper's annealing: half the noise, at four times the cost.
        if moved <= _NOISE * sigma * before.size:
            self.per_round *= 4

    def fitted(self, n_steps: int) -> MarginalModel:
        """Fit the model to all that was measured, from the earlier one on."""
        return MarginalModel.fitted(
            self.counts.shape, self.counts.n_rows, self.measured, start=self.model, n_steps=n_steps
        )

    def _measure(self, columns: Clique, sigma: float) -> None:
        noisy = self.budget.count(self.counts.of(columns), sigma)
        self.measured.append(Measurement(columns, noisy, sigma))

    def _candidates(self) -> dict[Clique, float]:
        """Return the sets that the model may take: the larger the part of the budget spent, the larger it may be."""
        spent = 1 - (self.budget.left - self.per_round) / self.budget.rho
        most = self.parameters.max_cells * min(spent, 1.0)
        sets = [noisy.columns for noisy in self.measured]
        fitting = {
            columns: weight
            for columns, weight in self.weights.items()
            if self.model is not None
            and (
                self.model.tree.home(columns) is not None
                or JunctionTree.of([*sets, columns], self.counts.shape).n_cells(self.counts.shape) <= most
            )
        }
        return fitting or {columns: self.weights[columns] for columns in self.weights if len(columns) == 1}
