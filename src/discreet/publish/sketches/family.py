"""SketchFamily: random projections that are the same for the same key; the base of sketch publishers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import IntArray
from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, InputError
from discreet.core.guarantee import Guarantee
from discreet.core.params import Constraints, InstanceOf, IntIn, check_parameters, require
from discreet.core.records.sketches import SHORT_KEY, Sketches
from discreet.core.records.sparse_rows import SparseRows
from discreet.core.release import Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, generator
from discreet.core.schema import SHORTEST_KEY
from discreet.kernels import ragged
from discreet.publish.recipes.recipe_parts import recipe_header
from discreet.publish.sketches import client as definition


@public
@dataclass(frozen=True)
class SketchFamily:
    """Make sketches: component j of a record is the sum of its values, each with the sign of its item in component j.

    The signs are +1 and −1, 4-wise independent over the items and independent between components: a cubic polynomial
    over the field of 2^61 − 1 elements for each component. Everything follows from the key, on any machine
    (:mod:`discreet.publish.sketches.client` is the definition, in plain Python). Items are known by their names alone,
    through a keyed hash, so those who make sketches need no list of items in common.

    Whoever knows the key can estimate every value of a record from its sketch; how well, its length decides (see
    :class:`DeltaSketch`). The key itself never leaves the family: sketches carry only its fingerprint. A key that can
    be guessed can be recognized by the fingerprint, so take one from ``secrets.token_bytes(32)``; releases under a key
    of fewer than 16 bytes carry a caution, and jobs refuse them.

    Parameters
    ----------
    key
        Bytes, or text, which counts as its UTF-8.
    components
        The longest sketch there is. Shorter ones are its beginning, whatever this number.

    References
    ----------
    C. Aggarwal, P. Yu: On privacy-preservation of text and sparse binary data with sketches. SDM 2007.

    Examples
    --------
    >>> family = SketchFamily("shared key", components=6)
    >>> sketches = family.sketch([{"tea": 2, "milk": 1}, {"milk": 1}])
    >>> sketches
    Sketches(2 records, 6 to 6 components)
    >>> sketches.dense().tolist()
    [[1.0, 1.0, 1.0, 1.0, -3.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, 1.0]]
    """

    key: bytes | str = field(repr=False)
    components: int = 128

    constraints: ClassVar[Constraints] = {"components": IntIn(1, 1 << 20)}

    def __post_init__(self) -> None:
        """Check the parameters; no error shows a key."""
        require(self, "key", self.key, _Key(), secret=True)
        check_parameters(self)

    @cached_property
    def fingerprint(self) -> str:
        """Distinguishes families with different keys, without revealing the key."""
        return definition.fingerprint(self._secret)

    @property
    def has_short_key(self) -> bool:
        """Whether the key has fewer than 16 bytes, so that it may be guessed."""
        return len(self.key.encode() if isinstance(self.key, str) else self.key) < SHORTEST_KEY

    def sketch(
        self, rows: Any, *, lengths: int | IntArray | None = None, names: Iterable[Any] | None = None
    ) -> Sketches:
        """Sketch records.

        Values may be whole or not, negative too; NaN and infinite ones are refused. A record of zeros has a sketch of
        zeros.

        Parameters
        ----------
        rows
            A scipy sparse matrix (what scikit-learn's vectorizers return), ``Baskets``, mappings from names to values,
            or an array with a column for each item.
        lengths
            The number of components: of all, or of each record; 0 for none at all. By default all there are.
        names
            The names of a matrix's columns; by default their numbers.
        """
        return self._exact(SparseRows.of(rows, names=names), lengths)[0]

    def publish(
        self, rows: Any, *, lengths: int | IntArray | None = None, names: Iterable[Any] | None = None
    ) -> Sketches:
        """Sketch records as they may be published, with the parameters of :meth:`sketch`.

        Exact sums of uneven values would show without the key which values a record has. Stochastic rounding to a grid
        of about half the record's length hides them and keeps estimates unbiased; counts stay exact
        (:func:`discreet.publish.sketches.client.rounded_sketch`).
        """
        from discreet.kernels.sketches.stochastic_rounding import rounded_rows

        records = SparseRows.of(rows, names=names)
        exact, points = self._exact(records, lengths)
        # Sums of ones are counts, and stay as they are.
        if records.weights is None:
            return exact
        salts = np.array([definition.salt(self._secret, j) for j in range(exact.longest)], np.uint64)
        rounded = rounded_rows(
            records.indptr,
            points[records.items],
            records.weights,
            np.asarray(exact.values, np.float64),
            exact.indptr,
            salts,
        )
        return Sketches(rounded, exact.indptr, self.fingerprint)

    def _exact(
        self, records: SparseRows, lengths: int | IntArray | None
    ) -> tuple[Sketches, NDArray[np.uint64]]:
        """Return exact sketches, and the points of the items."""
        from discreet.kernels.sketches.exact_sums import on_grid
        from discreet.kernels.sketches.sign_sums import sum_rows
        from discreet.kernels.sketches.signs import tabulate

        bounds = ragged.bounds(self._lengths(lengths, len(records)))
        points = self._points(records.names)
        if np.unique(points).size < points.size:
            raise InputError("Several items have the same name.")
        table = tabulate(points, self._coefficients[: int(np.diff(bounds).max(initial=0))])
        weights = None if records.weights is None else on_grid(records.indptr, records.weights)
        sums = sum_rows(records.indptr, records.items, weights, table, bounds)
        return Sketches(sums, bounds, self.fingerprint), points

    def signs(self, names: Iterable[Any], *, length: int | None = None) -> NDArray[np.uint64]:
        """Tabulate the signs of items: a row of bits for each, 64 components to a word, set where the sign is −1."""
        from discreet.kernels.sketches.signs import tabulate

        return tabulate(
            self._points(names), self._coefficients[: self.components if length is None else length]
        )

    @cached_property
    def _secret(self) -> bytes:
        return definition.master(self.key)

    @cached_property
    def _coefficients(self) -> NDArray[np.uint64]:
        drawn = [definition.coefficients(self._secret, j) for j in range(self.components)]
        return np.array(drawn, np.uint64)

    def _points(self, names: Iterable[Any]) -> NDArray[np.uint64]:
        if isinstance(names, str | bytes):
            raise InputError("Names must be a sequence of names, and not a single one.")
        try:
            return np.array([definition.point(self._secret, name) for name in names], np.uint64)
        except ValueError as error:
            raise InputError(str(error)) from None

    def _lengths(self, lengths: int | IntArray | None, n: int) -> IntArray:
        if lengths is None or isinstance(lengths, int | np.integer):
            length = self.components if lengths is None else lengths
            require(self, "lengths", length, IntIn(0, self.components))
            return np.full(n, length, np.int64)
        chosen = np.asarray(lengths)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or chosen.size != n:
            raise InputError(f"'lengths' must be a whole number for each of the {n} records.")
        outside = int(((chosen < 0) | (chosen > self.components)).sum())
        if outside:
            raise InputError(
                f"{outside} of the 'lengths' lie outside [0, {self.components}], the number of components."
            )
        return chosen.astype(np.int64)


class _Key(InstanceOf):
    def __init__(self) -> None:
        super().__init__((bytes, str), "bytes or text, not empty")

    def admits(self, value: object) -> bool:
        return super().admits(value) and bool(value)


@dataclass(frozen=True)
class SketchPublisher(ABC):
    """A publisher of sketches of different lengths; a record of length 0 is suppressed.

    Parameters
    ----------
    family
        The key's signs, which make the sketches.
    random_state
        Seeds the order of the published records, which is all that is random.
    """

    family: SketchFamily = field(kw_only=True)
    random_state: RandomState = field(default=None, kw_only=True)

    constraints: ClassVar[Constraints] = {
        "family": InstanceOf((SketchFamily,), "a SketchFamily"),
        "random_state": RANDOM_STATE,
    }

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_parameters(self)

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What sketches of these lengths, or of shorter ones, keep."""

    def _order(self, lengths: IntArray, remedy: str) -> IntArray:
        """Return the records that are published, in random order; refuse to publish none of several."""
        order = generator(self.random_state, owner=self).permutation(np.flatnonzero(lengths))
        if lengths.size and not order.size:
            raise InfeasibleError(f"Each of the {lengths.size} records would be suppressed; {remedy}.")
        return order

    def _published(
        self,
        records: SparseRows,
        lengths: IntArray,
        order: IntArray,
        *,
        arrays: Mapping[str, Any],
        details: Mapping[str, object],
        parameters: Mapping[str, object],
    ) -> Release:
        """Sketch the records in an order, each to its length, and release the sketches."""
        n_capped = int((lengths == self.family.components).sum())
        return Release(
            self.family.publish(records.take(order), lengths=lengths[order]),
            self.guarantee,
            Evidence(
                n_rows=len(records),
                suppressed=len(records) - order.size,
                arrays=arrays,
                details={**details, "capped": n_capped, SHORT_KEY: self.family.has_short_key},
                order=order,
            ),
            recipe_header(self, parameters),
            kind="sketches",
            original=records,
        )
