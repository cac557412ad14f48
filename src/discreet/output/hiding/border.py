"""Border-based hiding: delete the entries that cost the border of the other itemsets least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.boundary import public
from discreet.core.params import Constraints, OneOf
from discreet.output.hiding.classes import memberships
from discreet.output.hiding.editing import Editing
from discreet.output.hiding.hider import Hider, Sanitized, edited
from discreet.output.hiding.problem import Problem, Target

Method = Literal["bba", "maxmin1", "maxmin2"]


@public
@dataclass(kw_only=True, repr=False, eq=False)
class BorderHiding(Hider):
    """Hide rules one after another, and keep the positive border of the other itemsets.

    While all maximal itemsets are still frequent, nothing is lost. So each deletion is weighed by the border itemsets
    that the basket holds: ``"bba"`` weighs each by how near it is to being lost and takes the least sum;
    ``"maxmin1"`` takes the item whose rarest border itemset is the most frequent, from the supporters as they come;
    ``"maxmin2"`` weighs basket and item together: first that nothing is lost, then that the rarest border itemset that
    is hit is as frequent as can be, then that few are hit.

    Parameters
    ----------
    rules
        A `RulesHidden`, or the sensitive rules.
    method
        ``"bba"``, ``"maxmin1"`` or ``"maxmin2"``.
    min_support, min_confidence, margin
        The thresholds, where no `RulesHidden` has them; see there.
    random_state
        Seeds the order of the released baskets, and which of several alike baskets are changed.

    Examples
    --------
    Deleting b would cost the frequent itemset {b, d} a supporter in both baskets of "abd", and a costs nothing.

    >>> from discreet import Baskets
    >>> bought = Baskets.from_lists([list("abd"), list("abd"), list("ab"), list("a")])
    >>> release = BorderHiding([["a", "b"]], min_support=2).hide(bought)
    >>> sorted("".join(one) for one in release.data.lists())
    ['a', 'abd', 'b', 'bd']

    References
    ----------
    X. Sun, P. S. Yu: A border-based approach for hiding sensitive frequent itemsets. ICDM 2005.
    G. V. Moustakides, V. S. Verykios: A max-min approach for hiding frequent itemsets. ICDM workshops 2006.
    """

    method: Method = "maxmin2"

    constraints: ClassVar[Constraints] = {**Hider.constraints, "method": OneOf(get_args(Method))}

    def parameters(self) -> dict[str, object]:
        """Return the parameters that a recipe may name."""
        return {"method": self.method}

    def _sanitized(self, problem: Problem, rng: np.random.Generator) -> Sanitized:
        return edited(spare(problem, self.method, rng))


def spare(problem: Problem, method: Method, rng: np.random.Generator) -> Editing:
    """Return the entries after one of the methods; rules of the least support come first, of these the longest."""
    editing = problem.editing()
    border = _Border(problem)
    while open_ := problem.open_targets(editing):
        # Hiding one rule may hide others, so each is looked at again when its turn comes.
        order = sorted(open_, key=lambda one: (editing.count(one.items), -len(one.items)))
        for target in order:
            if problem.is_open(target, editing):
                _hide(problem, editing, border, target, method, rng)
    return editing


class _Border:
    """The border itemsets that can be lost, and their supports now."""

    def __init__(self, problem: Problem) -> None:
        self.sets = problem.border
        self.first: IntArray = self.sets.counts.astype(np.int64)
        self.support = self.first.copy()
        owner = np.repeat(np.arange(len(self.sets)), self.sets.lengths)
        place = np.searchsorted(problem.codes, self.sets.codes).clip(max=problem.codes.size - 1)
        mine = problem.codes[place] == self.sets.codes
        self.columns: BoolArray = np.zeros((len(self.sets), problem.codes.size), np.bool_)
        self.columns[owner[mine], place[mine]] = True

    def inside(self, problem: Problem, editing: Editing, rows: IntArray, which: IntArray) -> BoolArray:
        """Return which of some border itemsets each of some baskets holds now."""
        wanted = np.zeros(len(self.sets), np.bool_)
        wanted[which] = True
        # Membership in the original baskets, of which a border itemset
        # is lost where one of its sensitive items is gone by now.
        held = memberships(problem.baskets.take(rows), self.sets.keep(wanted))
        gone = (~editing.held[:, rows].T).astype(np.float32) @ self.columns[which].T.astype(np.float32)
        return np.asarray(held & (gone == 0))


def _hide(
    problem: Problem,
    editing: Editing,
    border: _Border,
    target: Target,
    method: Method,
    rng: np.random.Generator,
) -> None:
    """Hide one rule, and bring the border's supports up to date."""
    from discreet.kernels.hiding.border import BBA, MAXMIN2, maximum_minimum, spare_border

    items = np.array(target.items, np.int64)
    is_left = np.isin(items, target.lhs)
    least = problem.guarantee.least_confidence if target.by_confidence else None
    # The least confidence as a ratio, so that the kernel compares whole numbers; zeros stand for none.
    p, q = (0, 0) if least is None else (least.numerator, least.denominator)
    both, left = editing.count(target.items), editing.count(target.lhs)
    counts = np.array([both, left, problem.guarantee.least_support(editing.n), p, q], np.int64)
    # Supporters that hold the same border itemsets cost the
    # same, so they are judged as one class with a size.
    rows = editing.supporters(target.items)
    which = np.flatnonzero(border.columns[:, items].any(axis=1))
    inside = border.inside(problem, editing, rows, which)
    columns, support = np.ascontiguousarray(border.columns[which][:, items]), border.support[which]
    signs, first, label, sizes = np.unique(
        np.packbits(inside, axis=1), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    del signs
    label, alike = label.reshape(-1), np.ascontiguousarray(inside[first])
    if method == "maxmin1":
        victims = maximum_minimum(label, alike, columns, is_left, support, counts, problem.min_count)
        changed = np.flatnonzero(victims >= 0)
        editing.remove(rows[changed], items[victims[changed]])
    else:
        kind = BBA if method == "bba" else MAXMIN2
        plan = spare_border(
            kind, sizes, alike, columns, is_left, border.first[which], support, counts, problem.min_count
        )
        _apply(editing, rows, label, plan, items, rng)
    border.support[which] = support


def _apply(
    editing: Editing,
    rows: IntArray,
    label: IntArray,
    plan: IntArray,
    items: IntArray,
    rng: np.random.Generator,
) -> None:
    """Delete as many entries in each class as planned, from baskets that are drawn."""
    order = rng.permutation(rows.size)
    order = order[np.argsort(label[order], kind="stable")]
    begin = np.searchsorted(label[order], np.arange(len(plan)))
    for owner, at in zip(*np.nonzero(plan), strict=True):
        n = int(plan[owner, at])
        editing.remove(rows[order[begin[owner] : begin[owner] + n]], int(items[at]))
        begin[owner] += n
