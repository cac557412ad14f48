"""The space spanned by query sets over atoms, reduced modulo a secret prime and confirmed by exact arithmetic.

If the rank modulo the prime equals the true rank, then every integer vector in the true row space is also in the
row space modulo the prime. Each set that raises the rank modulo the prime raises the true rank, and one that does
not is confirmed to be spanned over the rationals (otherwise another prime is drawn). So no disclosure is ever missed,
and the prime matters for speed alone.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import BoolArray, IntArray
from discreet.kernels.audit.row_space import LARGEST_PRIME, eliminate, independent, lightest, reduced
from discreet.output.audit.space.atoms import Atoms

_SEARCH_STEPS, _SEARCH_CELLS = 20_000, 20_000_000
_CONFIRMED_CELLS = 1 << 20

Bits = NDArray[np.int8]
Residues = NDArray[np.int32]


def secret_prime() -> int:
    """Return a random prime between 2**25 and 2**26, drawn from the operating system."""
    half = LARGEST_PRIME // 2
    while True:
        candidate = half + 1 + 2 * secrets.randbelow(half // 2)
        # Trial division up to 2^13 is a proof, as candidates are odd and below 2^26.
        if all(candidate % divisor for divisor in range(3, 1 << 13, 2)):
            return candidate


@dataclass(frozen=True)
class RowSpace:
    """Query sets over atoms; an atom holds the records that have been in the same sets so far.

    Attributes
    ----------
    labels : array
        The atom of every element; -1 for an element without records.
    sizes : array
        How many records every atom holds.
    sets : array
        The independent query sets, one row each, a column for each atom.
    rows, pivots : array
        The reduced row echelon form of ``sets`` modulo the prime.
    """

    prime: int
    labels: IntArray
    sizes: IntArray
    sets: Bits
    rows: Residues
    pivots: IntArray

    @classmethod
    def over(cls, sizes: IntArray, prime: int | None = None) -> RowSpace:
        """Return the empty space over elements of these sizes."""
        atoms = Atoms.over(sizes)
        n_atoms = atoms.sizes.size
        return cls(
            prime or secret_prime(),
            atoms.labels,
            atoms.sizes,
            np.zeros((0, n_atoms), np.int8),
            np.zeros((0, n_atoms), np.int32),
            np.zeros(0, np.int64),
        )

    @property
    def rank(self) -> int:
        """The number of independent query sets."""
        return len(self.pivots)

    def with_set(self, members: BoolArray, element_sizes: IntArray) -> RowSpace:
        """Return the space with one more query set."""
        atoms, vector, cut = Atoms(self.labels, self.sizes).cut(members, element_sizes)
        split = replace(self, labels=atoms.labels, sizes=atoms.sizes)
        rows, sets = _widened(self.rows, cut), _widened(self.sets, cut)
        left = reduced(vector, rows[:-1], self.pivots, self.prime)
        sets[-1] = vector
        pivots = np.flatnonzero(left)
        if not pivots.size:
            return self if self._spans(vector) else _rebuilt(split, sets)
        return split._grown(sets, rows, left, int(pivots[0]))

    def exposes(self, group: int) -> bool:
        """Whether some combination of the sets involves fewer than ``group`` records."""
        # A unit vector in the row space is a row of the reduced form itself, so that for groups of 2 this is
        # all; lighter combinations of several rows need the search.
        light = np.flatnonzero(lightest(self.rows, self.sizes, group) < group)
        if any(self._confirmed(int(row)) for row in light):
            return True
        if group <= 2 or self._has_disjoint_bases(group):
            return False
        return _has_light(self.rows, self.sizes, group - 1, self.prime)

    def _has_disjoint_bases(self, group: int) -> bool:
        """Whether as many disjoint sets of records are found, on each of which the sets keep their full rank.

        Then no combination involves fewer records than there are such sets: it would be zero on one of them, and so
        everywhere. Full rank modulo the prime is full rank. Bases are taken one after the other, so that one may be
        missed; the search decides then.
        """
        left = np.minimum(self.sizes, group)
        if int(left.sum()) < group * self.rank:
            return False
        # The pivots are the first basis. An atom serves in as many
        # bases as it has records, and in no more than ``group``.
        left[self.pivots] -= 1
        for _ in range(group - 1):
            atoms = np.flatnonzero(left)
            large = atoms[np.argsort(-left[atoms], kind="stable")]
            spread = np.random.default_rng(0).permutation(atoms)[: 2 * self.rank + 64]
            for atoms in (spread, large):  # a few columns from everywhere are enough as a rule
                columns = np.ascontiguousarray(self.rows[:, atoms].T, dtype=np.int64)
                chosen = independent(columns, self.prime)
                if chosen.size == self.rank:
                    break
            else:
                return False
            left[atoms[chosen]] -= 1
        return True

    def exposed_records(self) -> int:
        """Return how many records' values the sets determine, reduced anew modulo another prime."""
        fresh = _rebuilt(self, self.sets)
        alone = np.flatnonzero(lightest(fresh.rows, self.sizes, 2) == 1)
        return sum(fresh._confirmed(int(row)) for row in alone)

    def carried(self, origins: IntArray, sizes: IntArray, element_sizes: IntArray) -> RowSpace:
        """Return the same sets over the elements of a new version of the data."""
        atoms = Atoms(self.labels, self.sizes).carried(origins, sizes, element_sizes)
        width = atoms.sizes.size
        return replace(
            self,
            labels=atoms.labels,
            sizes=atoms.sizes,
            sets=_padded(self.sets, width),
            rows=_padded(self.rows, width),
        )

    def _grown(self, sets: Bits, rows: Residues, left: Residues, pivot: int) -> RowSpace:
        """Return the space with one more row, which is brought to 1 at its pivot; ``rows`` has room for it."""
        inverse = pow(int(left[pivot]), -1, self.prime)
        rows[-1] = left.astype(np.int64) * inverse % self.prime
        eliminate(rows[:-1], rows[-1], pivot, self.prime)
        return replace(self, sets=sets, rows=rows, pivots=np.append(self.pivots, pivot))

    def _confirmed(self, row: int) -> bool:
        """Whether a combination with a row's support exists over the rationals; taken for granted where that is long.

        A wrong alarm is as rare as a multiple of the secret prime, and denies a set needlessly.
        """
        if self.sets.size > _CONFIRMED_CELLS:
            return True
        return _rank(self.sets[:, self.rows[row] == 0]) < self.rank

    def _spans(self, vector: Bits) -> bool:
        """Whether the sets span a vector over the rationals."""
        if not vector.any() or (self.sets == vector).all(axis=1).any():
            return True
        return _rank(np.vstack([self.sets, vector])) == self.rank


def _rebuilt(space: RowSpace, sets: Bits) -> RowSpace:
    """Reduce independent sets anew, modulo a prime that keeps them independent."""
    while True:
        prime = secret_prime()
        rows = np.zeros(sets.shape, np.int32)
        pivots = np.zeros(len(sets), np.int64)
        for count, vector in enumerate(sets):
            left = reduced(vector, rows[:count], pivots[:count], prime)
            nonzero = np.flatnonzero(left)
            if not nonzero.size:
                break
            pivots[count] = nonzero[0]
            rows[count] = left.astype(np.int64) * pow(int(left[nonzero[0]]), -1, prime) % prime
            eliminate(rows[:count], rows[count], int(nonzero[0]), prime)
        else:
            return replace(space, prime=prime, sets=sets, rows=rows, pivots=pivots)


def _rank(matrix: Bits) -> int:
    """Return the rank over the rationals, by exact arithmetic."""
    from flint import fmpz_mat

    if not matrix.size:
        return 0
    return int(fmpz_mat(*matrix.shape, matrix.ravel().tolist()).rank())


def _widened(matrix: Any, cut: IntArray) -> Any:
    """Copy a matrix with some columns repeated at the end, and room for one more row."""
    count, width = matrix.shape
    wide = np.empty((count + 1, width + cut.size), matrix.dtype)
    wide[:-1, :width] = matrix
    wide[:-1, width:] = matrix[:, cut]
    return wide


def _padded(matrix: Any, width: int) -> Any:
    return np.pad(matrix, ((0, 0), (0, width - matrix.shape[1])))


def _has_light(rows: Residues, sizes: IntArray, budget: int, prime: int) -> bool:
    """Whether some combination of the rows involves at most ``budget`` records.

    A search that branches on columns, heaviest first: the combination is 0 there, or the column is paid for.
    A search that is too long counts as found, so that a denial may be needless but never missing.
    """
    order = np.argsort(-sizes, kind="stable")
    stack = [(rows[:, order].astype(np.int64), sizes[order], budget)]
    cells = _SEARCH_CELLS
    for _ in range(_SEARCH_STEPS):
        if not stack:
            return False
        matrix, weights, left = stack.pop()
        cells -= matrix.size
        if cells < 0:
            return True
        used = matrix.any(axis=0)
        matrix, weights = matrix[:, used], weights[used]
        if len(matrix) == 0:
            continue
        # Either all columns that remain can be paid for, or a row
        # is zero on them: a combination that is paid for already.
        if int(weights.sum()) <= left or not matrix.any(axis=1).all():
            return True
        column = matrix[:, 0]
        pivot = int(np.flatnonzero(column)[0])
        factor = column * pow(int(column[pivot]), -1, prime) % prime
        # The combinations that are zero in this column: it is eliminated, at the price of one row.
        without = (matrix - factor[:, None] * matrix[pivot]) % prime
        if weights[0] <= left:
            stack.append((matrix[:, 1:], weights[1:], left - int(weights[0])))
        stack.append((np.delete(without, pivot, axis=0)[:, 1:], weights[1:], left))
    return True
