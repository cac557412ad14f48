"""What MST and AIM share: parameters, the way from a table to cells and back, and the release."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from discreet.core.arrays import IntArray
from discreet.core.errors import InputError, SchemaError
from discreet.core.params import (
    NONE,
    Constraints,
    FloatIn,
    InstanceOf,
    IntIn,
    MappingOf,
    check_parameters,
    require,
)
from discreet.core.release import Evidence, Release
from discreet.core.rng import generator
from discreet.core.schema import DROPPED, Schema
from discreet.core.tables.table import Table
from discreet.guarantees import DifferentialPrivacy
from discreet.guarantees.answers import COSTS, rho_of
from discreet.guarantees.per_unit import refuse_units
from discreet.publish.recipes.recipe_parts import recipe_header
from discreet.publish.synthetic.domains import ColumnDomain, Domain, domains_of
from discreet.publish.synthetic.junction_tree import Clique
from discreet.publish.synthetic.marginal_model import MarginalModel
from discreet.publish.synthetic.noisy_counts import Budget, opendp

_RESERVED = 1 - 1e-6
"""The share of the budget that is spent; the rest is for the rounding of sums."""
DELTA = 1e-9
"""The delta where only an epsilon is named."""
CONSTRAINTS: Constraints = {
    "epsilon": (FloatIn(0, 1e6, closed="right"), InstanceOf((DifferentialPrivacy,), "a DifferentialPrivacy")),
    "domains": (
        MappingOf(
            InstanceOf((str, list, tuple), "LOW:HIGH:WIDTH, a list of values, or tree"),
            "a mapping from columns to their domains",
        ),
        NONE,
    ),
    "nullable": InstanceOf((list, tuple), "a list of columns"),
    "max_cells": IntIn(1),
    "n_steps": IntIn(1),
}


@dataclass(repr=False, eq=False)
class Synthesizer:
    """A publisher of synthetic rows: counts with noise, a model that fits them, and rows drawn from the model.

    The number of rows is public. Two tables are neighbors where one row differs, so that noise hides what any one
    person's row is. The papers add or remove a row instead, which costs half as much for every count, but hides the
    number of rows.

    Parameters
    ----------
    epsilon
        How much of a row the release may show, as an epsilon with a delta of 1e-9, or a `DifferentialPrivacy`.
    domains
        What each column may hold, which is public: bins of numbers and dates as LOW:HIGH:WIDTH, a list of categories,
        or ``tree`` for the leaves of its hierarchy. Only columns of truth values need none.
    nullable
        The columns that may be null.
    """

    epsilon: float | DifferentialPrivacy = 1.0
    _: KW_ONLY
    domains: Mapping[str, Domain] | None = None
    nullable: Sequence[str] = ()

    constraints: ClassVar[Constraints] = CONSTRAINTS
    random_state: ClassVar[None] = None

    @property
    def guarantee(self) -> DifferentialPrivacy:
        """The guarantee: differential privacy of every row."""
        if isinstance(self.epsilon, DifferentialPrivacy):
            return self.epsilon
        return DifferentialPrivacy(float(self.epsilon), DELTA)

    def release(self, table: Table) -> Release:
        """Measure a table with noise and publish rows of a model of it."""
        check_parameters(self)
        require(self, "table", table, InstanceOf((Table,), "a Table"))
        require(
            f"guarantee of {type(self).__name__}",
            "delta",
            self.guarantee.delta,
            FloatIn(0, 1, closed="neither"),
        )
        refuse_units(self, table)
        # Where OpenDP is missing, that is said before any row is looked at.
        opendp()
        # Never seeded: whoever knew the seed could repeat the draws.
        rng = generator(None, owner=self)
        columns = table.source.columns(
            [name for name in table.schema if table.schema[name].role not in DROPPED]
        )
        if not table.n_rows:
            raise InputError("The table has no rows.")
        domains = domains_of(columns, table.schema, self.domains or {}, self.nullable)
        counts = ExactCounts(
            np.stack([domain.encode(columns[domain.name]) for domain in domains], axis=1),
            tuple(domain.n_cells for domain in domains),
        )
        budget = Budget(rho_of(self.guarantee.epsilon, self.guarantee.delta) * _RESERVED)
        if not budget.rho > 0:
            raise SchemaError("The guarantee leaves no budget for any noise; raise epsilon.")
        cells, measured = self._synthesized(counts, budget, rng)
        return self._released(table, domains, cells, budget, measured)

    @abstractmethod
    def _synthesized(
        self, counts: ExactCounts, budget: Budget, rng: np.random.Generator
    ) -> tuple[IntArray, list[Clique]]:
        """Return the cells of synthetic rows, and the sets of columns that were counted together."""

    def _released(
        self,
        table: Table,
        domains: list[ColumnDomain],
        cells: IntArray,
        budget: Budget,
        measured: list[Clique],
    ) -> Release:
        rng = generator(None, owner=self)
        rows = {domain.name: domain.decode(cells[:, at], rng) for at, domain in enumerate(domains)}
        names = [[domains[column].name for column in clique] for clique in measured]
        parameters = {name: value for name, value in vars(self).items() if name != "epsilon"}
        parameters["domains"] = {name: _as_written(domain) for name, domain in (self.domains or {}).items()}
        entries = [{"name": name, "role": column.role.value} for name, column in table.schema.items()]
        return Release(
            data=table.framed(pa.table(rows)),
            kind="synthetic-data",
            schema=Schema({name: replace(table.schema[name], hierarchy=None, weight=1.0) for name in rows}),
            guarantee=self.guarantee,
            evidence=Evidence(table.n_rows, details={COSTS: list(budget.costs), "measured": names}),
            recipe=({"spreadsheet_safe": True} if table.spreadsheet_safe else {})
            | recipe_header(self, parameters)
            | {"columns": entries},
            original=table,
        )


class ExactCounts:
    """The rows as cells of public domains, and their exact counts, which only noise may look at."""

    def __init__(self, cells: IntArray, shape: tuple[int, ...]) -> None:
        self.cells, self.shape = cells, shape

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.cells)

    def of(self, columns: Clique) -> IntArray:
        """Count all combinations of some columns."""
        shape = tuple(self.shape[column] for column in columns)
        places = np.ravel_multi_index(tuple(self.cells[:, columns].T), shape)
        return np.bincount(places, minlength=int(np.prod(shape))).reshape(shape)

    def distance(self, columns: Clique, model: MarginalModel) -> float:
        """Return the summed difference between the true counts and those of a model."""
        return float(np.abs(self.of(columns) - model.marginal(columns)).sum())


def _as_written(domain: Domain) -> Any:
    return domain if isinstance(domain, str) else list(domain)
