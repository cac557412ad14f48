"""Sketches: published random projections, each as long as its record allows, and what can be estimated from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import IntIn, require
from discreet.kernels.ragged import bounds, entries_of
from discreet.kernels.threads import in_threads

SHORT_KEY = "short_key"
"""What the evidence of a release calls the fact that its key may be guessed."""
_MANY = 1 << 20
"""The components that are looked at by several threads."""


class Signs(Protocol):
    """What knows the signs of items, such as a SketchFamily."""

    @property
    def fingerprint(self) -> str:
        """What distinguishes keys."""
        ...

    @property
    def components(self) -> int:
        """The longest sketch there is."""
        ...

    def signs(self, names: Iterable[Any], *, length: int | None = None) -> NDArray[np.uint64]:
        """Tabulate the signs of items, in bits."""
        ...


class Estimates(NamedTuple):
    """Estimated values and their estimated standard errors, a row for each record and a column for each item."""

    values: FloatArray
    standard_errors: FloatArray


@public
@dataclass(frozen=True, repr=False, eq=False)
class Sketches:
    """Sketches of records, of unequal lengths.

    Sketch i is ``values[indptr[i]:indptr[i + 1]]``. A function of several sketches uses the components that all of
    them have. Where there are none (a record that was suppressed), the answer is NaN. Sketches made with different
    keys cannot be compared with each other, and are refused.

    Parameters
    ----------
    values, indptr
        The components of all sketches, and where each begins and the last ends. Those of records of ones are whole
        numbers of one byte or two, all others floats; estimates are floats always.
    family
        The fingerprint of the key they were made with.

    Examples
    --------
    >>> both = Sketches(np.array([1.0, -1, 3, 1, 1]), np.array([0, 3, 5]), "a key's fingerprint")
    >>> both
    Sketches(2 records, 2 to 3 components)
    >>> both.dot().tolist()
    [[3.6666666666666665, 0.0], [0.0, 1.0]]
    >>> both.centroid().dense().tolist()
    [[1.0, 0.0, 3.0]]
    """

    values: FloatArray | NDArray[np.int8] | NDArray[np.int16]
    indptr: IntArray
    family: str

    def __post_init__(self) -> None:
        small = np.asarray(self.values).dtype in (np.int8, np.int16)
        values = np.ascontiguousarray(self.values if small else _numbers(self.values))
        indptr = np.ascontiguousarray(_whole(self.indptr, "The bounds of the sketches"))
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "indptr", indptr)
        fits = values.ndim == indptr.ndim == 1 and indptr.size > 0 and indptr[0] == 0
        if not fits or indptr[-1] != values.size or (np.diff(indptr) < 0).any():
            raise InputError("The bounds of the sketches do not fit their components.")
        if not small and not _all_finite(values):
            raise InputError("Some components of the sketches are NaN or infinite.")

    @classmethod
    def from_dense(cls, array: ArrayLike, *, family: str = "", lengths: ArrayLike | None = None) -> Sketches:
        """Take sketches from the rows of an array: all of its width, or of the lengths given."""
        rows = _numbers(array)
        if rows.ndim != 2:
            raise InputError(f"An array of sketches has 2 dimensions; this one has {rows.ndim}.")
        n, width = rows.shape
        sizes = np.full(n, width) if lengths is None else _whole(lengths, "'lengths'")
        if sizes.shape != (n,) or (sizes < 0).any() or (sizes > width).any():
            raise InputError(
                f"'lengths' must be a whole number in [0, {width}] for each of the {n} sketches."
            )
        return cls(rows[np.arange(width) < sizes[:, None]], bounds(sizes), family)

    @cached_property
    def lengths(self) -> IntArray:
        """The number of components of each sketch."""
        return np.diff(self.indptr)

    def text_frames(self) -> Iterator[Any]:
        """Iterate over the frames that hold every text: sketches are numbers alone."""
        return iter(())

    @property
    def longest(self) -> int:
        """The number of components of the longest sketch."""
        return int(self.lengths.max(initial=0))

    @property
    def suppressed(self) -> BoolArray:
        """Which records have no component at all."""
        return np.asarray(self.lengths == 0)

    def squared_norm(self) -> FloatArray:
        """Estimate the squared length of every record: the mean of its squared components."""
        nonempty = self.lengths > 0
        squares = np.square(self.values, dtype=np.float64)
        norms = np.full(len(self), np.nan)
        if nonempty.any():
            norms[nonempty] = np.add.reduceat(squares, self.indptr[:-1][nonempty]) / self.lengths[nonempty]
        return norms

    def dot(self, other: Sketches | None = None, *, paired: bool = False) -> FloatArray:
        """Estimate dot products: of every record with every other one, or in pairs.

        Parameters
        ----------
        other
            The sketches to compare with; by default these themselves.
        paired
            Whether record i is compared with record i alone; a single sketch on either side is compared with each.
            Otherwise the answer is a matrix.
        """
        return self._compared("dot", other, paired)

    def squared_distance(self, other: Sketches | None = None, *, paired: bool = False) -> FloatArray:
        """Estimate squared distances, as :meth:`dot` does dot products: the mean of the squared differences."""
        return self._compared("squared distance", other, paired)

    def cosine(self, other: Sketches | None = None, *, paired: bool = False) -> FloatArray:
        """Estimate cosines, as :meth:`dot` does dot products; both lengths come from the common components too.

        Where either is zero, the answer is 0.
        """
        return self._compared("cosine", other, paired)

    def centroid(self) -> Sketches:
        """Return the sketch of the mean record: each component averaged over the records that have it."""
        return self.centroids(np.zeros(len(self), np.int64), n=1)

    def centroids(self, labels: ArrayLike, *, n: int) -> Sketches:
        """Return the sketch of the mean record of each of n groups; a group without components has none."""
        from discreet.kernels.sketches.distances import component_sums

        require(self, "n", n, IntIn(0))
        groups = np.asarray(labels)
        if groups.shape != (len(self),) or groups.dtype.kind not in "iu":
            raise InputError(f"'labels' must be a whole number for each of the {len(self)} sketches.")
        if groups.size and (groups.min() < 0 or groups.max() >= n):
            raise InputError(f"The 'labels' must lie in [0, {n - 1}].")
        sums, counts = component_sums(self.values, self.indptr, groups.astype(np.int64), n, self.longest)
        means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
        return Sketches.from_dense(means, family=self.family, lengths=(counts > 0).sum(axis=1))

    def reconstruct(self, items: Sequence[Any], family: Signs) -> Estimates:
        """Estimate the values of chosen items in every record, with standard errors.

        The estimates are unbiased; the variance of one is (‖X‖² − x²)/m for a sketch of m components, and its
        standard error is estimated from the spread of the components. A single component shows no spread: its
        standard error is NaN.

        Parameters
        ----------
        items
            The names of the items.
        family
            The family that made the sketches, which knows the signs.
        """
        from discreet.kernels.sketches.signs import expand

        self.require_signs(family)
        signs = expand(family.signs(items, length=self.longest), 0, self.longest)
        lengths = self.lengths[:, None].astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = (self.dense() @ signs.T.astype(np.float64)) / lengths
            spread = np.maximum(self.squared_norm()[:, None] - values**2, 0.0)
            errors = np.where(lengths > 1, np.sqrt(spread / (lengths - 1)), np.nan)
        return Estimates(values, errors)

    def dense(self) -> FloatArray:
        """Return a matrix with a row for each sketch; beyond its length stand zeros."""
        matrix = np.zeros((len(self), self.longest))
        matrix[np.arange(self.longest) < self.lengths[:, None]] = self.values
        return matrix

    def take(self, records: ArrayLike | slice) -> Sketches:
        """Keep some sketches, by number in the order given or by one truth value each."""
        try:
            chosen = np.arange(len(self))[_places(records)]
        except IndexError:
            raise InputError(
                f"'records' must be numbers in [0, {len(self) - 1}], or a truth value for each of {len(self)} sketches."
            ) from None
        indptr, entries = entries_of(self.indptr, chosen)
        return Sketches(self.values[entries], indptr, self.family)

    def shortened(self, lengths: ArrayLike) -> Sketches:
        """Cut every sketch to a length, one for all or one for each; those that are shorter stay as they are."""
        limits = _whole(lengths, "'lengths'")
        if limits.shape not in ((), (len(self),)):
            raise InputError(
                f"'lengths' must be one whole number, or one for each of the {len(self)} sketches."
            )
        sizes = np.minimum(self.lengths, np.maximum(limits, 0))
        indptr, entries = entries_of(self.indptr, np.arange(len(self)), sizes)
        return Sketches(self.values[entries], indptr, self.family)

    @staticmethod
    def concat(parts: Sequence[Sketches]) -> Sketches:
        """Put sketches of the same family one after the other."""
        if not parts:
            raise InputError("There are no sketches to put together.")
        for part in parts:
            parts[0].require_family(part.family)
        indptr = bounds(np.concatenate([part.lengths for part in parts]))
        return Sketches(np.concatenate([part.values for part in parts]), indptr, parts[0].family)

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with a column ``sketch`` of lists of components."""
        return pa.table(
            {"sketch": pa.LargeListArray.from_arrays(pa.array(self.indptr), pa.array(self.values))}
        )

    def equals(self, other: Sketches) -> bool:
        """Return whether the other sketches are the same ones, in the same order and with the same key."""
        return (
            self.family == other.family
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.values, other.values)
        )

    def require_family(self, family: str) -> None:
        """Refuse sketches or signs of another key."""
        if family != self.family:
            raise InputError("The sketches were made with different keys; they cannot be compared.")

    def require_signs(self, family: Signs) -> None:
        """Refuse a family of another key, or one that has fewer components than the sketches."""
        self.require_family(family.fingerprint)
        if self.longest > family.components:
            raise InputError(
                f"The sketches have up to {self.longest} components, the family only {family.components}."
            )

    def __len__(self) -> int:
        return self.indptr.size - 1

    def __repr__(self) -> str:
        shortest = int(self.lengths.min(initial=self.longest))
        return f"Sketches({len(self)} records, {shortest} to {self.longest} components)"

    def _compared(self, kind: str, other: Sketches | None, paired: bool) -> FloatArray:
        from discreet.kernels.sketches.distances import compare_all, compare_pairs

        against = self if other is None else other
        self.require_family(against.family)
        if not paired:
            return compare_all(self.values, self.indptr, against.values, against.indptr, kind)
        if len(self) != len(against) and 1 not in (len(self), len(against)):
            raise InputError(f"{len(self)} sketches cannot be compared in pairs with {len(against)}.")
        return compare_pairs(self.values, self.indptr, against.values, against.indptr, kind)


def _numbers(values: ArrayLike) -> FloatArray:
    """Bring numbers to floats; what is none is refused, and not shown."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biuf":
            return np.asarray(array, np.float64)
    except ValueError:
        pass
    raise InputError("Sketches must be rows of numbers, all as long as the others.")


def _all_finite(values: NDArray[Any]) -> bool:
    threads = None if values.size >= _MANY else 1
    return all(in_threads(lambda a, b: bool(np.isfinite(values[a:b]).all()), values.size, threads=threads))


def _whole(values: ArrayLike, called: str) -> IntArray:
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise InputError(f"{called} must be whole numbers.")
    return array.astype(np.int64)


def _places(records: ArrayLike | slice) -> Any:
    if isinstance(records, slice):
        return records
    positions = np.atleast_1d(np.asarray(records))
    return positions if positions.size else positions.astype(np.int64)
