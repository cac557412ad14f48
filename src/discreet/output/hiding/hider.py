"""Hider: what every method that hides rules has: the promise, the verb, and how the release is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from discreet.core.arrays import IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.sensitive_rules import SensitiveRule
from discreet.core.baskets.supports import Support, drawn_order
from discreet.core.errors import InfeasibleError, InputError, ParameterError
from discreet.core.params import (
    BY_COLUMN,
    NONE,
    Constraints,
    InstanceOf,
    IntIn,
    OneOf,
    check_parameters,
    require,
)
from discreet.core.release import Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, generator, seed_of
from discreet.core.tables.table import Table
from discreet.guarantees import RulesHidden
from discreet.output.hiding.editing import Editing
from discreet.output.hiding.problem import Problem


@dataclass(frozen=True)
class Sanitized:
    """Baskets in which the rules are hidden, in the order of the originals, and figures about how that was done."""

    baskets: Baskets
    details: Mapping[str, object] = field(default_factory=dict)
    rows: IntArray | None = None
    """The originals that these are, where some were left out."""


RULES = InstanceOf(
    (RulesHidden, SensitiveRule, str, list, tuple, set, frozenset),
    "a list of sensitive rules, or a RulesHidden",
)
"""What hiders take first."""


@dataclass(kw_only=True, repr=False, eq=False)
class Hider(ABC):
    """A method that changes baskets, or the rows of a table, so that sensitive rules are no longer found.

    Parameters
    ----------
    rules
        A `RulesHidden`, or the sensitive rules, from which one is made with the thresholds.
    min_support, min_confidence, margin
        The thresholds, where no `RulesHidden` has them; see there.
    levels
        For a table: the level of a column's hierarchy at which its values are items. By default the level of the
        labels that the rules name; numbers with a hierarchy that no rule names are items at level 1.
    cells
        For a table: whether a cell that must not be seen becomes null, or the node one level up (``"coarser"``).
    random_state
        Seeds the order of what is released, and what is drawn.
    """

    rules: RulesHidden | Collection[Any] = field(kw_only=False)
    min_support: float | None = None
    min_confidence: float | None = None
    margin: float = 0.0
    levels: Mapping[str, int] | None = None
    cells: Literal["null", "coarser"] = "null"
    random_state: RandomState = None

    constraints: ClassVar[Constraints] = {
        "rules": RULES,
        "min_support": (Support(), NONE),
        "min_confidence": RulesHidden.constraints["min_confidence"],
        "margin": RulesHidden.constraints["margin"],
        "levels": BY_COLUMN,
        "cells": OneOf(("null", "coarser")),
        "random_state": RANDOM_STATE,
    }

    @property
    def guarantee(self) -> RulesHidden:
        """What the release keeps."""
        if not isinstance(self.rules, RulesHidden):
            if self.min_support is None:
                require(self, "min_support", None, IntIn(1))
            rules: Any = self.rules
            return RulesHidden(rules, self.min_support or 0, self.min_confidence, self.margin)
        if self.min_support is not None or self.min_confidence is not None or self.margin:
            raise ParameterError("The thresholds are in the RulesHidden already; name them once.")
        return self.rules

    def hide(self, data: Any) -> Release:
        """Return a release of the data in which no sensitive rule is found.

        Baskets are taken in an order that is drawn: what is changed does not depend on the order in which they came,
        and nobody who has the release knows which of them came first.

        Parameters
        ----------
        data
            Baskets, or a Table, whose rows are read as baskets of ``column=value`` items.
        """
        check_parameters(self)
        if isinstance(data, Table):
            from discreet.output.hiding.tables import hide_table

            return hide_table(self, data)
        require(self, "data", data, InstanceOf((Baskets,), "Baskets or a Table"))
        if self.levels is not None or self.cells != "null":
            raise ParameterError("Levels are for tables, and cells too; baskets have neither.")
        rng = generator(self.random_state, owner=self)
        drawn = data.take(drawn_order(data, rng))
        return hidden_release(self, data, self.sanitize(drawn, rng), rng)

    def sanitize(self, baskets: Baskets, rng: np.random.Generator) -> Sanitized:
        """Return sanitized baskets in the order of the originals, which is for the owner and not to be published."""
        check_parameters(self)
        guarantee = self.guarantee
        if not len(baskets):
            raise InputError("There are no baskets.")
        problem = Problem(baskets, guarantee)
        details = {"already_hidden": problem.already_hidden, "covered": problem.covered}
        if problem.already_hidden == len(guarantee.rules):
            return Sanitized(baskets, details | _UNTOUCHED)
        sanitized = self._sanitized(problem, rng)
        if sanitized.baskets.items.size == 0 or not guarantee.check(sanitized.baskets).ok:
            raise emptied()
        return Sanitized(sanitized.baskets, details | dict(sanitized.details), sanitized.rows)

    def parameters(self) -> dict[str, object]:
        """Return the parameters that a recipe may name: nothing about the rules, nor their thresholds."""
        return {}

    @abstractmethod
    def _sanitized(self, problem: Problem, rng: np.random.Generator) -> Sanitized:
        """Return baskets in which every target of the problem is hidden."""


_UNTOUCHED = {"changed_baskets": 0, "removed_items": 0, "added_items": 0}


def emptied() -> InfeasibleError:
    """Make the error for rules that cannot be hidden while anything is left."""
    return InfeasibleError(
        "The rules cannot be hidden this way without emptying the data. Name fewer rules, raise min_support or "
        "min_confidence, lower the margin, or take another method."
    )


def edited(editing: Editing, **details: object) -> Sanitized:
    """Return what an `Editing` has come to, and how much of it was changed."""
    rows_kept = editing.kept
    counts = {
        "changed_baskets": int(np.count_nonzero(editing.changed)),
        "removed_baskets": int(np.count_nonzero(~rows_kept)),
        "removed_items": int(np.count_nonzero((editing.before & ~editing.held)[:, rows_kept])),
        "added_items": int(np.count_nonzero(editing.held & ~editing.before)),
    }
    rows = None if rows_kept.all() else np.flatnonzero(rows_kept)
    return Sanitized(editing.baskets(), {**counts, **details}, rows)


def hidden_release(
    hider: Hider, original: Baskets, sanitized: Sanitized, rng: np.random.Generator
) -> Release:
    """Make the release: the baskets shuffled, and without the names of items that none of them holds.

    Everything the recipe says is published, so it names neither rules nor thresholds. The evidence is the owner's.
    """
    data = sanitized.baskets.take(rng.permutation(len(sanitized.baskets)))
    data = data.keep(data.counts > 0)
    guarantee = hider.guarantee
    items = "numbers" if pa.types.is_integer(data.names.type) else "text"
    return Release(
        data=data,
        guarantee=guarantee,
        evidence=Evidence(
            len(original),
            np.empty(0, np.int64),
            {},
            max(len(original) - len(data), 0),
            details=dict(sanitized.details),
        ),
        recipe={**hiding_recipe(hider), "items": items},
        kind="baskets",
        original=original,
        private={"guarantee": guarantee.to_private_dict()},
    )


def hiding_recipe(hider: Hider) -> dict[str, Any]:
    """Return what is published about how a release was made: neither rules nor thresholds."""
    return {
        "format": 1,
        "method": type(hider).__name__,
        "parameters": hider.parameters(),
        "guarantee": hider.guarantee.to_dict(),
        "seed": seed_of(hider.random_state),
    }
