"""GroupStatistics: all that condensation keeps of groups of records; two groups' statistics merge into the union's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError


@public
@dataclass(frozen=True, repr=False)
class GroupStatistics:
    """Sizes, means, sums of squares and privacy levels of many groups of records; no record is in it.

    The paper keeps the sums ``Fs`` and ``Sc``; they lose their digits where the mean is large against the spread. So
    the mean and the squares about the mean are kept instead. They are additive as well: ``merged`` gives the
    statistics of the unions, to rounding, whatever the order. ``sums`` and ``second_sums`` give the paper's.

    Attributes
    ----------
    n
        The number of records of each group.
    mean
        The mean of each group, a column per dimension.
    scatter
        The sums of squares and products about the mean, a matrix per group.
    levels
        The sum of the records' privacy levels, the paper's ``Ps``.
    largest
        The largest privacy level in each group.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[1.0, 2.0], [3.0, 2.0], [9.0, 9.0]])
    >>> two = GroupStatistics.of(values, np.array([0, 0, 1]), np.array([2, 1, 1]), 2)
    >>> two.mean.tolist(), two.ssq.tolist(), two.levels.tolist()
    ([[2.0, 2.0], [9.0, 9.0]], [2.0, 0.0], [3, 1])
    >>> two.merged(np.array([0, 0]), 1).mean.round(3).tolist()
    [[4.333, 4.333]]
    """

    n: IntArray
    mean: FloatArray
    scatter: FloatArray
    levels: IntArray
    largest: IntArray

    @classmethod
    def of(cls, values: FloatArray, labels: IntArray, levels: IntArray, n_groups: int) -> GroupStatistics:
        """Make the statistics of records from the group and the privacy level of each."""
        from discreet.kernels.points.moments import moments

        n, mean, scatter = moments(values, np.ones(len(labels), np.int64), labels, n_groups)
        return cls(n, mean, scatter, *_levels(labels, levels, levels, n_groups))

    @classmethod
    def empty(cls, n_columns: int) -> GroupStatistics:
        """Make the statistics of no group."""
        none = np.empty(0, np.int64)
        return cls(none, np.empty((0, n_columns)), np.empty((0, n_columns, n_columns)), none, none)

    @classmethod
    def concat(cls, several: Sequence[GroupStatistics]) -> GroupStatistics:
        """Put the groups of several statistics side by side, unmerged."""
        return cls(
            *(
                np.concatenate([getattr(statistics, field.name) for statistics in several])
                for field in fields(cls)
            )
        )

    def merged(self, labels: IntArray, n_groups: int) -> GroupStatistics:
        """Merge the groups with the same label; the result is as if their records had been one group."""
        from discreet.kernels.points.moments import added, moments

        # The squares about the new mean are those of the old means about it, by their sizes, and those within
        # groups.
        n, mean, between = moments(self.mean, self.n, labels, n_groups)
        scatter = between + added(self.scatter, labels, n_groups)
        return GroupStatistics(n, mean, scatter, *_levels(labels, self.levels, self.largest, n_groups))

    def take(self, index: Any) -> GroupStatistics:
        """Return some of the groups: an index array, a mask or a slice."""
        return GroupStatistics(*(getattr(self, field.name)[index] for field in fields(self)))

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self.n.size)

    @property
    def n_columns(self) -> int:
        """The number of dimensions."""
        return int(self.mean.shape[1])

    @property
    def n_rows(self) -> int:
        """The number of records in all groups."""
        return int(self.n.sum())

    @property
    def sums(self) -> FloatArray:
        """The first-order sums of each group, the paper's ``Fs``."""
        return np.asarray(self.n[:, None] * self.mean)

    @property
    def second_sums(self) -> FloatArray:
        """The second-order sums of each group, the paper's ``Sc``."""
        about_zero = self.mean[:, :, None] * self.mean[:, None, :]
        return np.asarray(self.scatter + self.n[:, None, None] * about_zero)

    @property
    def covariance(self) -> FloatArray:
        """The covariance of each group about its mean, over its own records alone (divided by n)."""
        return np.asarray(self.scatter / np.maximum(self.n, 1)[:, None, None])

    @property
    def ssq(self) -> FloatArray:
        """The sum of squared distances of each group's records to its mean."""
        return np.asarray(np.trace(self.scatter, axis1=1, axis2=2))

    def eigen(self) -> tuple[FloatArray, FloatArray]:
        """Decompose every covariance: eigenvalues ascending, none below 0, and the eigenvectors as columns."""
        return eigen(self.covariance)

    def to_arrays(self) -> dict[str, Any]:
        """Return the statistics as named arrays, for saving."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> GroupStatistics:
        """Read what ``to_arrays`` gave; arrays that do not fit together are refused."""
        names = [field.name for field in fields(cls)]
        if any(name not in arrays for name in names):
            raise InputError("These are no group statistics: an array is missing.")
        n, mean, scatter, levels, largest = (np.asarray(arrays[name]) for name in names)
        counted = all(array.dtype.kind in "iu" and array.shape == (n.size,) for array in (n, levels, largest))
        real = all(array.dtype.kind == "f" and np.isfinite(array).all() for array in (mean, scatter))
        square = mean.ndim == 2 and scatter.shape == (*mean.shape, mean.shape[-1])
        if not (counted and real and square and len(mean) == n.size and (n.min(initial=0) >= 0)):
            raise InputError("These are no group statistics: the arrays do not fit together.")
        return cls(
            n.astype(np.int64),
            mean.astype(np.float64),
            scatter.astype(np.float64),
            levels.astype(np.int64),
            largest.astype(np.int64),
        )

    def __repr__(self) -> str:
        return f"GroupStatistics({self.n_groups} groups, {self.n_rows} rows, {self.n_columns} columns)"


def eigen(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Decompose covariances: eigenvalues ascending, none below 0, and the eigenvectors as columns."""
    values, vectors = np.linalg.eigh(covariance)
    return np.maximum(values, 0.0), vectors


def _levels(labels: IntArray, sums: IntArray, largest: IntArray, n_groups: int) -> tuple[IntArray, IntArray]:
    """Return the sum and the largest of the levels of each group."""
    total = np.zeros(n_groups, np.int64)
    top = np.zeros(n_groups, np.int64)
    np.add.at(total, labels, sums)
    np.maximum.at(top, labels, largest)
    return total, top
