"""Blocking: entries are published as unknown instead of deleted, among others that are unknown to no purpose."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.names import sorted_items
from discreet.core.baskets.sensitive_rules import SensitiveRule
from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import Constraints, FloatIn
from discreet.output.hiding.border import spare
from discreet.output.hiding.editing import Editing
from discreet.output.hiding.hider import Hider, Sanitized, emptied
from discreet.output.hiding.problem import Problem

UNKNOWN = "?"
"""What stands before the name of an item of which it is not said whether the basket holds it."""


@public
@dataclass(kw_only=True, repr=False, eq=False)
class Blocking(Hider):
    """Hide rules by unknown entries: nothing false is published, and what is certain does not show the rules.

    The entries that `BorderHiding` would delete are published as unknown: the item ``beer`` becomes ``?beer``, and the
    cell of a table null. A rule then has no support but an interval: at least the baskets that certainly hold it, at
    most those that may hold it (`support_interval`). The rules are hidden at the lower ends.

    Where only held entries were unknown, everybody would read ``?beer`` as beer. So entries that are not held are
    published as unknown too, first in baskets that hold another item of the same rule. How many is drawn, since the
    middle of the interval would be the true support otherwise.

    Parameters
    ----------
    rules
        A `RulesHidden`, or the sensitive rules.
    min_support, min_confidence, margin
        The thresholds, where no `RulesHidden` has them; see there. The margin is the paper's safety margin.
    camouflage
        How many entries that are not held become unknown for each one that is, on average and where there are that
        many; each item's number is drawn from half to one and a half of it.
    random_state
        Seeds the order of the released baskets and which entries become unknown.

    Examples
    --------
    >>> from discreet import Baskets
    >>> shop = Baskets.from_lists([["diapers", "beer"]] * 3 + [["diapers"]] * 2 + [["milk"]] * 2)
    >>> release = Blocking(["diapers => beer"], min_support=2, min_confidence=0.5, random_state=1).hide(shop)
    >>> support_interval(release.data, "diapers => beer"), support_interval(shop, "diapers => beer")
    ((1, 3), (3, 3))

    References
    ----------
    Y. Saygin, V. S. Verykios, C. Clifton: Using unknowns to prevent discovery of association rules. SIGMOD Record
    30(4), 2001.
    """

    camouflage: float = 1.0

    constraints: ClassVar[Constraints] = {**Hider.constraints, "camouflage": FloatIn(0)}

    def parameters(self) -> dict[str, object]:
        """Return the parameters that a recipe may name."""
        return {"unknown": UNKNOWN}

    def _sanitized(self, problem: Problem, rng: np.random.Generator) -> Sanitized:
        names = [str(name) for name in problem.baskets.names.to_pylist()]
        if any(name.startswith(UNKNOWN) for name in names):
            raise ParameterError(
                f"Some items' names begin with '{UNKNOWN}', which marks unknown entries; rename them."
            )
        editing = spare(problem, "maxmin2", rng)
        if editing.baskets().items.size == 0:
            raise emptied()
        true = editing.before & ~editing.held
        fake = np.zeros_like(true)
        for column in np.flatnonzero(true.any(axis=1)).tolist():
            fake[column] = self._fakes(problem, editing, column, int(true[column].sum()), rng)
        marked = _marked(problem, editing, true | fake, names)
        changed = int(np.count_nonzero((true | fake).any(axis=0)))
        counts = {"unknown_items": int(true.sum()), "camouflage": int(fake.sum()), "changed_baskets": changed}
        return Sanitized(marked, {**counts, "removed_items": int(true.sum()), "added_items": 0})

    def _fakes(
        self, problem: Problem, editing: Editing, column: int, n_true: int, rng: np.random.Generator
    ) -> BoolArray:
        """Choose baskets that do not hold an item and may seem to: those with other items of its rules first."""
        alike = np.zeros(editing.kept.size, np.int64)
        for target in problem.targets:
            if column in target.items:
                others = [item for item in target.items if item != column]
                alike = np.maximum(alike, editing.before[others].sum(axis=0))
        # Shuffled before the stable sort, so that among equally plausible baskets chance decides.
        absent = rng.permutation(np.flatnonzero(~editing.before[column]))
        n = min(math.ceil(self.camouflage * n_true * rng.uniform(0.5, 1.5)), absent.size)
        chosen = absent[np.argsort(-alike[absent], kind="stable")][:n]
        fakes = np.zeros(editing.kept.size, np.bool_)
        fakes[chosen] = True
        return fakes


def _marked(problem: Problem, editing: Editing, unknown: BoolArray, names: list[str]) -> Baskets:
    """Return baskets with an item more for each item that is unknown somewhere, named after it."""
    certain = editing.baskets()
    columns = np.flatnonzero(unknown.any(axis=1))
    marks = [UNKNOWN + names[int(problem.codes[column])] for column in columns]
    column, row = np.nonzero(unknown[columns])
    rows = np.concatenate([certain.rows(), row])
    ordered, code = sorted_items(pa.array([*names, *marks], pa.string()))
    # The marks are numbered behind the names, until both are put in order together.
    items = code[np.concatenate([certain.items, len(names) + column])]
    return Baskets.from_entries(rows, items, ordered, n=len(certain))


@public
def support_interval(data: Baskets, rule: Any) -> tuple[int, int]:
    """Return how many baskets certainly hold all items of a rule or an itemset, and how many may hold them."""
    sure, maybe = _holders(data, SensitiveRule.of(rule).items)
    return int(sure.sum()), int(maybe.sum())


@public
def confidence_interval(data: Baskets, rule: Any) -> tuple[float, float]:
    """Return the least and the greatest confidence a rule may have, as Saygın et al. define them; nan where unknown.

    The least is that of all certain supporters among all baskets that may hold the left-hand side, the greatest that of
    all possible supporters among the baskets that certainly hold it, and at most 1.
    """
    parsed = SensitiveRule.of(rule)
    sure, maybe = _holders(data, parsed.items)
    left, may_left = _holders(data, parsed.lhs)
    least = float(sure.sum() / may_left.sum()) if may_left.any() else math.nan
    most = min(float(maybe.sum() / left.sum()), 1.0) if left.any() else math.nan
    return least, most


def _holders(data: Baskets, items: Iterable[Any]) -> tuple[BoolArray, BoolArray]:
    """Return which baskets certainly hold all items, and which may."""
    codes = {str(name): code for code, name in enumerate(data.names.to_pylist())}
    sure, maybe = np.ones(len(data), np.bool_), np.ones(len(data), np.bool_)
    rows: IntArray = data.rows()
    for name in items:
        certain_rows, open_ = (
            np.bincount(rows[data.items == codes.get(mark + str(name), -1)], minlength=len(data)) > 0
            for mark in ("", UNKNOWN)
        )
        sure &= certain_rows
        maybe &= certain_rows | open_
    return sure, maybe


def certain(data: Baskets) -> Baskets:
    """Return baskets without the entries that are unknown."""
    names = [str(name) for name in data.names.to_pylist()]
    return data.keep(np.array([not name.startswith(UNKNOWN) for name in names], np.bool_))
