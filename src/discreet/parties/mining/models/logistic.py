"""Logistic regression over rows that are split between parties: secure sums of gradients and Hessians, by Newton."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import POSITIVE, IntIn, require
from discreet.parties.mining.models import fitted
from discreet.parties.mining.models.columns import codes, finite_numbers, own_columns, sort_classes
from discreet.parties.mining.models.horizontal import WIDE, HorizontalProtocol, TotalFrames, Totals
from discreet.parties.mining.models.model_protocol import VALUE_COUNTS, Fitted
from discreet.parties.protocol import Facts, Party
from discreet.parties.transcript import FrameShape

Floats = NDArray[np.float64]
_MOST_VALUE = 2.0**30
"""The largest value of a column, so that the Hessian of all rows fits into 128 bits in fixed point."""
_ROUNDS = 10
"""The rounds that there must be rows for; Newton's method takes about as many."""
_MOST_SUM_BITS = 120
"""The bits of a party's summand. A loss beyond them is cut off there, which is larger than any before, so that the step
to it is halved."""


@public
@dataclass(frozen=True, kw_only=True)
class HorizontalLogistic(HorizontalProtocol):
    """Logistic regression on the rows of all parties, of two classes or more, with a quadratic penalty.

    In every round one secure sum has the loss, the gradient and the Hessian of all rows at the current coefficients,
    rounded to multiples of 2^−``fraction_bits`` at each party; a step of Newton follows, halved where the loss grew.
    The loss is convex, so the coefficients are those of the pooled rows up to the tolerance. The output has a fitted
    ``LogisticRegression``. Columns of very different scale should be scaled first.

    Parameters
    ----------
    columns : tuple of str
        The columns of numbers to learn from.
    target : str
        The column of classes.
    classes : tuple of str or int
        The public list of classes. Those that no row has, or fewer than ``min_count``, are left out with their rows.
    C : float
        The inverse of the strength of the penalty, as scikit-learn has it.
    tol : float
        The largest entry of the gradient, over the number of rows, at which it stops.
    max_rounds : int
        The most rounds.
    fraction_bits : int
        The bits after the binary point of sums.
    min_honest, threshold, min_count, two_parties_see_each_other
        As in every protocol of sums; this one adds no noise.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = HorizontalLogistic(columns=("x",), target="y", classes=(0, 1), min_count=1)
    >>> run = simulate(protocol, {
    ...     "a": {"x": [0, 1], "y": [0, 0]}, "b": {"x": [2, 4], "y": [0, 1]}, "c": {"x": [3], "y": [1]}})
    >>> run.outputs["a"].model.coef_.round(3).tolist()
    [[1.047]]
    """

    name: ClassVar[str] = "logistic-regression"
    private_sums: ClassVar[bool] = False

    target: str
    classes: tuple[Any, ...]
    C: float = 1.0
    tol: float = 1e-8
    max_rounds: int = 50
    fraction_bits: int = 40

    def __post_init__(self) -> None:
        super().__post_init__()
        sort_classes(self)
        require(self, "C", self.C, POSITIVE)
        require(self, "tol", self.tol, POSITIVE)
        require(self, "max_rounds", self.max_rounds, IntIn(1, 1000))
        require(self, "fraction_bits", self.fraction_bits, IntIn(8, 50))

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond the model."""
        return (
            "Every party learns the loss, the gradient and the Hessian of all rows at the coefficients of all rounds.",
            "Every party learns the number of rows of each class with rows enough, and the number of rounds.",
            "The first Hessian has the sums of values and of products of two, the first gradient those of each class.",
            "Rounds stop before as many sums are opened as the rows have values, which could be computed from them."
            if self.holds_back
            else "The sums of all rounds can determine the values of few rows.",
            VALUE_COUNTS,
            *self._sum_leaks,
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run by its rounds, and the classes with rows enough."""
        facts = {"rounds": self.max_rounds, "classes": len(self.classes), **(revealed or {})}
        length = WIDE * self._n_opened(facts["classes"])
        frames = TotalFrames(names, self)
        yield from frames.counts(len(self.classes))
        for _ in range(facts["rounds"]):
            yield from frames.add(length)

    def _run(self, party: Party, data: tuple[Floats, NDArray[np.int64]]) -> Fitted:
        rows, labels = data
        totals = Totals(party, self)
        counts = totals.counts(np.bincount(labels, minlength=len(self.classes)))
        learned = [label for label, count in enumerate(counts) if count > 0]
        party.reveal("classes", len(learned))
        if len(learned) < 2:
            raise InputError(
                "The rows of all parties have fewer than two classes with rows enough; there is nothing to distinguish."
            )
        here = np.isin(labels, learned)
        codes_among = np.searchsorted(learned, labels[here])
        max_rounds = self._most_rounds(sum(counts), len(learned))
        problem = _Problem(rows[here], codes_among, len(learned), sum(counts), self, totals, max_rounds)
        coefficients, n_rounds = problem.solve(party)
        party.reveal("rounds", n_rounds)
        classes = [self.classes[label] for label in learned]
        model = fitted.logistic(coefficients, classes, self.columns, C=self.C, n_iter=n_rounds)
        stopped = (
            f"The coefficients did not converge within {n_rounds} rounds: the gradient is above 'tol'. Scale the "
            "columns, or agree on more rounds or a smaller 'C'."
        )
        opened = "Sums of values and of their products"
        few_values = self.few_values_caution(rows[here, 1:], self.columns, opened=opened)
        cautions = [*self.count_cautions(self.class_caution(counts), few_values)]
        cautions += [] if problem.converged else [stopped]
        return totals.fitted(model, cautions)

    def _n_opened(self, n_classes: int) -> int:
        """Return how many sums a round opens: the loss, the gradient and the Hessian."""
        size = _n_free(n_classes) * (len(self.columns) + 1)
        return 1 + size + size * (size + 1) // 2

    def _most_rounds(self, n_rows: int, n_classes: int) -> int:
        """Return how many rounds may run: all sums together must be fewer than the values, as they are equations."""
        if not self.holds_back:
            return self.max_rounds
        d, n_opened = len(self.columns), self._n_opened(n_classes)
        least = -(-min(_ROUNDS, self.max_rounds) * n_opened // d)
        if n_rows < least:
            raise InputError(
                f"Classes with rows enough have {n_rows} rows together, and {least} are needed: the values of fewer "
                "may follow from the sums of the rounds, which were not opened."
            )
        return min(self.max_rounds, n_rows * d // n_opened)

    def read(self, data: Any) -> tuple[Floats, NDArray[np.int64]]:
        """Return the party's rows with a one before them, and their classes."""
        *columns, target = own_columns(data, self.names_read)
        features = [finite_numbers(column, name) for column, name in zip(columns, self.columns, strict=True)]
        for values, name in zip(features, self.columns, strict=True):
            if values.size and np.abs(values).max() > _MOST_VALUE:
                raise InputError(f"Column '{name}' holds values beyond ±{_MOST_VALUE:g}; rescale it.")
        return np.column_stack([np.ones(len(target)), *features]), codes(target, self.target, self.classes)


class _Problem:
    """The penalized loss of all rows; of two classes the second has coefficients, of more every one."""

    def __init__(
        self,
        rows: Floats,
        labels: NDArray[np.int64],
        n_classes: int,
        n_rows: int,
        protocol: HorizontalLogistic,
        totals: Totals,
        max_rounds: int,
    ) -> None:
        self.rows, self.n_rows, self.protocol, self.totals = rows, n_rows, protocol, totals
        self.max_rounds = max_rounds
        self.n_free, self.first, self.converged = _n_free(n_classes), False, False
        self.truth = np.eye(n_classes)[labels][:, -self.n_free :]
        self.penalty = np.tile(np.concatenate([[0.0], np.ones(rows.shape[1] - 1)]), self.n_free) / protocol.C

    def solve(self, party: Party) -> tuple[Floats, int]:
        """Return the coefficients, a row for each class that has them, and the number of rounds."""
        size = self.penalty.size
        at: Floats = np.zeros(size)
        step, reached = at, np.inf
        n_rounds = 0
        self.first = party.index == 0
        while n_rounds < self.max_rounds:
            with party.step("round"):
                loss, gradient, hessian = self._summed(at)
            n_rounds += 1
            # The coefficients are those before plus the step; half of
            # the step is taken back, and the loss looked at again.
            if loss > reached:
                step = step / 2
                at = at - step
                continue
            if np.abs(gradient).max() <= self.protocol.tol * self.n_rows:
                self.converged = True
                break
            reached = loss
            # The Hessian is singular where classes have a coefficient each, as adding a constant to all
            # intercepts changes nothing. Least squares takes the shortest step then.
            step = -np.asarray(np.linalg.lstsq(hessian, gradient, rcond=1e-10)[0], np.float64)
            at = at + step
        coefficients = at.reshape(self.n_free, -1)
        if self.n_free > 1:
            # Intercepts of several classes are free up to a constant; a mean of zero makes them unique.
            coefficients[:, 0] -= coefficients[:, 0].mean()
        return coefficients, n_rounds

    def _summed(self, at: Floats) -> tuple[float, Floats, Floats]:
        """Return loss, gradient and Hessian of all rows at these coefficients, with the penalty.

        The first party adds the penalty, so that whether to go on follows from opened sums alone: coefficients may
        differ in the last digits between machines, and decisions must not.
        """
        loss, gradient, hessian = self._own(at.reshape(self.n_free, -1))
        if self.first:
            loss += float(self.penalty @ at**2) / 2
            gradient = gradient + self.penalty * at
            hessian = hessian + np.diag(self.penalty)
        upper = np.triu_indices(at.size)
        bits = self.protocol.fraction_bits
        most = 2.0 ** (_MOST_SUM_BITS - bits)
        summands = np.nan_to_num(np.concatenate([[loss], gradient, hessian[upper]]), nan=most, posinf=most)
        summands = np.clip(summands, -most, most)
        words = [_scaled(value, bits) for value in summands.tolist()]
        sums = [value / (1 << bits) for value in self.totals.add(words, words=WIDE)]
        half = np.zeros((at.size, at.size))
        half[upper] = sums[1 + at.size :]
        return sums[0], np.array(sums[1 : 1 + at.size]), half + np.triu(half, 1).T

    def _own(self, at: Floats) -> tuple[float, Floats, Floats]:
        """Return loss, gradient and Hessian of the party's rows."""
        scores = self.rows @ at.T
        if self.n_free == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        highest = scores.max(axis=1, keepdims=True)
        # The highest score is subtracted first, so that no exponential overflows.
        logs = scores - highest - np.log(np.exp(scores - highest).sum(axis=1, keepdims=True))
        chances = np.exp(logs)[:, -self.n_free :]
        truth = self.truth if self.n_free > 1 else np.column_stack([1 - self.truth, self.truth])
        loss = -float((truth * logs).sum())
        gradient = ((chances - self.truth).T @ self.rows).reshape(-1)
        d = self.rows.shape[1]
        hessian = np.empty((at.size, at.size))
        for i in range(self.n_free):
            for j in range(self.n_free):
                weights = chances[:, i] * ((i == j) - chances[:, j])
                hessian[i * d : (i + 1) * d, j * d : (j + 1) * d] = (
                    self.rows * weights[:, None]
                ).T @ self.rows
        return loss, gradient, hessian


def _n_free(n_classes: int) -> int:
    """Return how many classes have coefficients.

    >>> _n_free(2), _n_free(3)
    (1, 3)
    """
    return 1 if n_classes == 2 else n_classes


def _scaled(value: float, bits: int) -> int:
    """Return a number in fixed point; exact, as integers have no limit."""
    numerator, denominator = float(value).as_integer_ratio()
    return (2 * (numerator << bits) + denominator) // (2 * denominator)
