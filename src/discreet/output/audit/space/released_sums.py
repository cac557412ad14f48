"""Released sums of a column with known bounds: exact where that is safe whatever the answer, else inequalities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
from discreet.output.audit.auditor import Bound, set_key
from discreet.output.audit.bounds import Domain
from discreet.output.audit.space.atoms import Atoms
from discreet.output.audit.space.region import Region

MOST_ATOMS = 300
"""How many atoms may depend on one another, for the time that a question takes."""

Ends = tuple[int | None, int | None] | None
"""Answers up to the first and from the second on are released as inequalities; None releases nothing."""


class ReleasedSums:
    """What was released of the sums of one column, and what that leaves possible."""

    def __init__(self, domain: Domain, element_sizes: IntArray) -> None:
        self.domain, self.element_sizes = domain, np.asarray(element_sizes, np.int64)
        self.atoms = Atoms.over(self.element_sizes)
        self.region = Region.over(self.atoms.sizes, domain.span)
        self.released: dict[bytes, Any] = {}
        self._ends: dict[bytes, Ends] = {}

    def withheld(self, sets: Sequence[BoolArray], rule: Callable[[Region, IntArray], Ends]) -> bool:
        """Whether nothing at all could be released of a question about one set, so that it is denied.

        Of several sets, what may be released depends on the answers to those before. They are not denied beforehand;
        an inequality that says nothing stands for a denial.
        """
        if len(sets) != 1 or not self.element_sizes[sets[0]].any() or self.known(sets[0]) is not None:
            return False
        return self.ends(sets[0], rule) is None

    def known(self, members: BoolArray) -> Any:
        """Return what was released of the same set before; None if nothing was."""
        return self.released.get(set_key(members, self.element_sizes))

    def part(self, members: BoolArray) -> tuple[Region, IntArray]:
        """Return what earlier answers connect with a set, and the set over its atoms."""
        _, region, vector = self._cut(members)
        part, chosen = region.around(vector)
        return part, vector[chosen]

    def ends(self, members: BoolArray, rule: Callable[[Region, IntArray], Ends]) -> Ends:
        """Return which answers are released as inequalities: none of an empty or implied sum, all if None.

        Whether a double can hold the inequalities is looked at for both, since a side without one would show itself.
        """
        key = set_key(members, self.element_sizes)
        if key not in self._ends:
            part, vector = self.part(members)
            count = int(self.element_sizes[members].sum())
            ends: Ends = None, None
            if not part.implies(vector):
                ends = rule(part, vector) if part.sizes.size <= MOST_ATOMS else None
            if any(end is not None and not self._representable(end, count) for end in ends or ()):
                ends = None
            # Only the latest set is remembered: the decision computes its ends and the answer uses them. Any
            # release changes all others.
            self._ends = {key: ends}
        return self._ends[key]

    def answer(self, members: BoolArray, truth: Fraction, rule: Callable[[Region, IntArray], Ends]) -> Any:
        """Release the true sum, or the inequality that the ends demand, which do not depend on it."""
        before = self.known(members)
        if before is not None:
            return before
        count = int(self.element_sizes[members].sum())
        released = self._censored(truth, count, self.ends(members, rule))
        self.restore(members, released)
        return released

    def restore(self, members: BoolArray, released: Any) -> None:
        """Take over what was released of a set."""
        key = set_key(members, self.element_sizes)
        if released is None or self.released.get(key) == released:
            return
        self.released.setdefault(key, released)  # another user may have had an inequality of the same set
        self._ends = {}
        count = int(self.element_sizes[members].sum())
        bound = released if isinstance(released, Bound) else None
        steps = self.domain.steps(Fraction(bound.value if bound else released), count)
        relation = "exact" if bound is None else self.domain.relation(bound)
        if relation == "at least" and steps <= 0:
            return  # says nothing, so that no atom needs to be cut for it
        atoms, region, vector = self._cut(members)
        part, chosen = region.around(vector)
        if part.implies(vector[chosen]):
            return
        self.atoms, self.region = atoms, region.with_sum(vector, relation, steps)

    def carry(self, origins: IntArray, sizes: IntArray) -> None:
        """Move to a new version of the data; those who left stay in their atoms."""
        self.atoms = self.atoms.carried(origins, sizes, self.element_sizes)
        self.element_sizes = np.asarray(sizes, np.int64)
        width = self.atoms.sizes.size - self.region.sizes.size
        self.region = replace(
            self.region, sizes=self.atoms.sizes, rows=np.pad(self.region.rows, ((0, 0), (0, width)))
        )
        self.released, self._ends = {}, {}

    def parts(self) -> list[tuple[Region, IntArray]]:
        """Return the parts of the region that no row connects with one another, and the atoms of each."""
        left = (self.region.rows != 0).any(axis=0)
        parts = []
        while left.any():
            start = np.zeros(left.size, np.int64)
            start[np.flatnonzero(left)[0]] = 1
            part, chosen = self.region.around(start)
            left[chosen] = False
            parts.append((part, chosen))
        return parts

    def disclosed(self) -> int:
        """Return how many records lie where no deep point is found, judged anew from what was released.

        Only the answers to several users together connect more atoms than are looked at.
        """
        return sum(
            int(part.sizes.sum())
            for part, _ in self.parts()
            if part.sizes.size > MOST_ATOMS or not part.certified()
        )

    def _cut(self, members: BoolArray) -> tuple[Atoms, Region, IntArray]:
        atoms, bits, cut = self.atoms.cut(members, self.element_sizes)
        rows = np.hstack([self.region.rows, self.region.rows[:, cut]])
        return atoms, replace(self.region, sizes=atoms.sizes, rows=rows), bits.astype(np.int64)

    def _censored(self, truth: Fraction, count: int, ends: Ends) -> Any:
        steps = self.domain.steps(truth, count)
        if ends is None:
            # Nothing may be released. "At least the least
            # possible" is true of every answer and shows nothing.
            return self.domain.bound("at least", 0, count)
        least, most = ends
        if least is not None and steps <= least:
            return self.domain.bound("at most", least, count)
        if most is not None and steps >= most:
            return self.domain.bound("at least", most, count)
        return truth

    def _representable(self, steps: int, count: int) -> bool:
        """Whether a double holds an inequality exactly enough to read the number of steps back."""
        return self.domain.steps(Fraction(self.domain.bound("at most", steps, count).value), count) == steps
