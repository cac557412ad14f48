"""Atoms: the records that have been in the same query sets so far, those who left the data among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import BoolArray, IntArray


@dataclass(frozen=True)
class Atoms:
    """The atom of every element (-1 for one without records), and how many records every atom holds."""

    labels: IntArray
    sizes: IntArray

    @classmethod
    def over(cls, element_sizes: IntArray) -> Atoms:
        """Return one atom of all records."""
        filled = element_sizes > 0
        labels = np.where(filled, 0, -1).astype(np.int64)
        return cls(labels, np.full(int(filled.any()), int(element_sizes.sum()), np.int64))

    def cut(self, members: BoolArray, element_sizes: IntArray) -> tuple[Atoms, NDArray[np.int8], IntArray]:
        """Split the atoms that a set cuts: the new atoms, the set over them, and which were cut.

        The part of an atom inside the set becomes a new atom at the end.
        """
        here = (self.labels >= 0) & members
        count = self.sizes.size
        inside = np.bincount(self.labels[here], element_sizes[here], count).astype(np.int64)
        cut = np.flatnonzero((inside > 0) & (inside < self.sizes))
        vector = np.ones(count + cut.size, np.int8)
        # The old atom keeps its number for the part outside
        # the set, so what refers to it by number stays right.
        vector[:count] = inside == self.sizes
        if not cut.size:
            return self, vector, cut
        target = np.full(count, -1, np.int64)
        target[cut] = count + np.arange(cut.size)
        moved = np.flatnonzero(here)
        moved = moved[target[self.labels[moved]] >= 0]
        labels = self.labels.copy()
        labels[moved] = target[self.labels[moved]]
        sizes = np.concatenate([self.sizes, inside[cut]])
        sizes[cut] -= inside[cut]
        return Atoms(labels, sizes), vector, cut

    def carried(self, origins: IntArray, sizes: IntArray, element_sizes: IntArray) -> Atoms:
        """Return the same atoms over the elements of a new version of the data.

        Records that are gone stay in their atoms, and new records form an atom that is in no set.
        """
        atom = np.where(origins >= 0, self.labels[np.maximum(origins, 0)], -1)
        remaining = np.bincount(atom[atom >= 0], sizes[atom >= 0], self.sizes.size).astype(np.int64)
        if (remaining > self.sizes).any() or sizes.sum() < 0 or element_sizes.size <= origins.max(initial=-1):
            raise ValueError("the new version does not follow from the old one")
        is_new = (atom < 0) & (sizes > 0)
        width = self.sizes.size + int(is_new.any())
        return Atoms(
            np.where(is_new, width - 1, np.where(sizes > 0, atom, -1)),
            np.append(self.sizes, [int(sizes[is_new].sum())] * int(is_new.any())).astype(np.int64),
        )
