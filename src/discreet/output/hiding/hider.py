"""Hider: what every method that hides rules has: the promise, the verb, and how the release is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from discreet.core.arrays import IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import InfeasibleError, InputError, ParameterError
from discreet.core.params import InstanceOf, IntIn, require
from discreet.core.release import Evidence, Release
from discreet.core.rng import RandomState, generator, seed_of
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


class Hider(ABC):
    """A method that changes baskets, or the rows of a table, so that sensitive rules are no longer found.

    The promise is a `RulesHidden`, or the rules with their thresholds, from which one is made.
    """

    def __init__(
        self,
        rules: RulesHidden | Iterable[Any] | str,
        *,
        min_support: float | None = None,
        min_confidence: float | None = None,
        margin: float = 0.0,
        random_state: RandomState = None,
    ) -> None:
        self.rules = rules
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.margin = margin
        self.random_state = random_state

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

    def hide(
        self,
        data: Any,
        *,
        levels: Mapping[str, int] | None = None,
        cells: Literal["null", "coarser"] = "null",
    ) -> Any:
        """Return a release of the data in which no sensitive rule is found.

        Parameters
        ----------
        data
            Baskets, or a Table, whose rows are read as baskets of ``column=value`` items.
        levels
            For a table: the level of a column's hierarchy at which its values are items. By default the level of the
            labels that the rules name; numbers with a hierarchy that no rule names are items at level 1.
        cells
            For a table: whether a cell that must not be seen becomes null, or the node one level up.
        """
        if isinstance(data, Table):
            from discreet.output.hiding.tables import hide_table

            return hide_table(self, data, levels=levels, cells=cells)
        if levels is not None:
            raise ParameterError("Levels are for tables; baskets have no hierarchies.")
        require(self, "data", data, InstanceOf((Baskets,), "Baskets or a Table"))
        rng = generator(self.random_state, owner=self)
        return released(self, data, self.sanitize(data, rng), rng)

    def sanitize(self, baskets: Baskets, rng: np.random.Generator) -> Sanitized:
        """Return sanitized baskets in the order of the originals, which is for the owner and not to be published."""
        self._check()
        guarantee = self.guarantee
        if not len(baskets):
            raise InputError("There are no baskets.")
        problem = Problem(baskets, guarantee)
        told = {"already_hidden": problem.already_hidden, "covered": problem.covered}
        if problem.already_hidden == len(guarantee.rules):
            return Sanitized(baskets, told | _UNTOUCHED)
        made = self._sanitized(problem, rng)
        if made.baskets.items.size == 0 or not guarantee.check(made.baskets).ok:
            raise InfeasibleError(
                "The rules cannot be hidden this way without emptying the data. Name fewer rules, raise min_support or "
                "min_confidence, lower the margin, or take another method."
            )
        return Sanitized(made.baskets, told | dict(made.details), made.rows)

    def parameters(self) -> dict[str, object]:
        """Return the parameters that a recipe may name: nothing about the rules, nor their thresholds."""
        return {}

    @abstractmethod
    def _check(self) -> None:
        """Refuse parameters outside their constraints."""

    @abstractmethod
    def _sanitized(self, problem: Problem, rng: np.random.Generator) -> Sanitized:
        """Return baskets in which every target of the problem is hidden."""


_UNTOUCHED = {"changed_baskets": 0, "removed_items": 0, "added_items": 0}


def edited(editing: Editing, **details: object) -> Sanitized:
    """Return what an `Editing` has come to, and how much of it was changed."""
    kept = editing.kept
    told = {
        "changed_baskets": int(np.count_nonzero(editing.changed)),
        "removed_baskets": int(np.count_nonzero(~kept)),
        "removed_items": int(np.count_nonzero((editing.before & ~editing.held)[:, kept])),
        "added_items": int(np.count_nonzero(editing.held & ~editing.before)),
    }
    rows = None if kept.all() else np.flatnonzero(kept)
    return Sanitized(editing.baskets(), {**told, **details}, rows)


def released(hider: Hider, original: Baskets, made: Sanitized, rng: np.random.Generator) -> Release:
    """Make the release: the baskets shuffled, and without the names of items that none of them holds.

    Everything the recipe says is published, so it names neither rules nor thresholds. The evidence is the owner's.
    """
    data = made.baskets.take(rng.permutation(len(made.baskets)))
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
            details=dict(made.details),
        ),
        recipe={**recipe_of(hider), "items": items},
        kind="sanitized-baskets",
        original=original,
    )


def recipe_of(hider: Hider) -> dict[str, Any]:
    """Return what is published about how a release was made: neither rules nor thresholds."""
    return {
        "format": 1,
        "method": type(hider).__name__,
        "parameters": hider.parameters(),
        "guarantee": hider.guarantee.to_dict(),
        "seed": seed_of(hider.random_state),
    }
