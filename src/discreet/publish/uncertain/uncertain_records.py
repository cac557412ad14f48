"""Uncertain records: every record published as a probability distribution, wide enough for k (Aggarwal 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import NONE, Constraints, InstanceOf, IntIn, OneOf, check_parameters, require
from discreet.core.records.uncertain_points import SPREADS, SUFFIX, Spread
from discreet.core.release import Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, generator
from discreet.core.schema import Column, Role, Schema, other
from discreet.core.tables import labels
from discreet.core.tables.encoding import value_codes
from discreet.core.tables.table import Table
from discreet.guarantees.expected_anonymity import (
    ANONYMITY,
    ATTACKER,
    ATTACKERS,
    LEVELS,
    Attacker,
    ExpectedAnonymity,
)
from discreet.guarantees.per_unit import refuse_units
from discreet.publish.pseudo.privacy_levels import OnePerRow, read_levels
from discreet.publish.recipes.recipe_parts import recipe_header
from discreet.publish.uncertain.calibration import Calibrated, own_spreads, shared_spreads

_DIGITS = 3
"""How many digits of a center are published beyond the first of its spread."""
_RESOLUTION = 1e-12
"""The least share of a column's largest number that its unit must be, so that noise is not rounded off."""


@public
@dataclass(repr=False, eq=False)
class UncertainRecords(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Publish every record as a probability distribution around a noisy center, wide enough that k records explain it.

    Columns are measured in units of their standard deviations. A record X with the spread s is published as a center
    Z = X + s·N(0, I), or a uniform draw from the cube of side s around X, together with the spread. An attacker with
    all original records finds the true one at rank k or lower on average: see `ExpectedAnonymity` for what that
    promises and what it does not. Mining works on the distributions: `discreet.mine.expected_range_counts`,
    `discreet.mine.KernelVote`, or anything that takes the centers alone.

    In the paper each record has the least spread that suffices for it. That number is a function of the data
    which hardly two records share, so whoever has the records finds each by its spread. Here spreads come from a fixed
    grid, and a record reaches its level among the records of the same spread alone. It costs wider spreads (about
    one and a half times as wide at the median, more for isolated records). ``attacker="naive"`` is the paper's form.

    All columns must be numbers without nulls, of which none is constant. Identifiers and the column of levels are not
    published. Whole numbers become numbers with decimals. The label is published as it is.

    Parameters
    ----------
    k
        The expected anonymity: one for all records, the name of the column that holds each record's own, an array with
        one for each row, or an `ExpectedAnonymity`.
    spread
        The shape of the distributions: ``"gaussian"``, or ``"uniform"`` cubes.
    attacker
        Against whom, where ``k`` is no guarantee: ``"informed"`` works out the spread of every record, ``"naive"`` does
        not. The verdict of a release against the second is never more than assumed.
    label
        A column that is published exactly, such as a class to learn. Records are counted among those of the same label
        alone, since the attacker knows it. Whoever finds the records of a spread and a label knows the label of all of
        them: no promise is made about it.
    random_state
        Seeds the noise and the order of the records. Keep a seed secret: with it the noise can be taken off.

    References
    ----------
    C. Aggarwal: On unifying privacy and uncertain data models. ICDE 2008.
    C. Aggarwal, P. Yu: A general survey of privacy-preserving data mining models and algorithms. 2008, 2.3.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> rng = np.random.default_rng(0)
    >>> age = rng.integers(20, 80, 200)
    >>> people = Table(pa.table({"age": age, "income": age * 900 + rng.integers(0, 9000, 200)}),
    ...     {"age": quasi(), "income": sensitive()})
    >>> release = UncertainRecords(10, random_state=0).release(people)
    >>> release.verdict.ok, release.frame.column_names
    (True, ['age', 'age_spread', 'income', 'income_spread'])

    Two people at a distance of 2 have, with Gaussian noise of the spread 1, an expected anonymity of 1 + P(N ≥ 1):

    >>> from discreet.publish.uncertain.calibration import chances
    >>> float(1 + chances(np.array([[0.0]]), np.array([[2.0]]), np.array([1.0]), "gaussian")[0, 0].round(3))
    1.159
    """

    k: int | str | Sequence[int] | IntArray | ExpectedAnonymity = 10
    _: KW_ONLY
    spread: Spread = "gaussian"
    attacker: Attacker | None = None
    label: str | None = None
    random_state: RandomState = None

    constraints: ClassVar[Constraints] = {
        "k": (IntIn(1), InstanceOf((str, ExpectedAnonymity), "an ExpectedAnonymity"), OnePerRow()),
        "spread": OneOf(SPREADS),
        "attacker": (OneOf(ATTACKERS), NONE),
        "label": (InstanceOf((str,), "the name of a column"), NONE),
        "random_state": RANDOM_STATE,
    }

    @property
    def guarantee(self) -> ExpectedAnonymity:
        """The guarantee: every record reaches its level of expected anonymity."""
        if isinstance(self.k, ExpectedAnonymity):
            return self.k
        one_for_all = isinstance(self.k, str | int | np.integer)
        return ExpectedAnonymity(self.k if one_for_all else None, self.attacker or "informed")  # type: ignore[arg-type]

    def release(self, table: Table) -> Release:
        """Publish the rows of a table as distributions."""
        rng = self._checked()
        require(self, "table", table, InstanceOf((Table,), "a Table"))
        refuse_units(self, table)
        names = self._published(table)
        columns = table.source.columns(names)
        values = _numbers(columns, names)
        unit = _units(values, names)
        levels = read_levels(
            self, self.k.k if isinstance(self.k, ExpectedAnonymity) else self.k, table, len(values)
        )
        calibrated = self._calibrated(values / unit, levels, self._classes(table))
        order = rng.permutation(len(values))
        noise = (
            rng.standard_normal(values.shape) if self.spread == "gaussian" else rng.random(values.shape) - 0.5
        )
        spreads = _in_few_digits(calibrated.spreads[:, None] * unit, calibrated.spreads[:, None] * unit, 5)
        centers = _in_few_digits(values + spreads * noise, spreads, _DIGITS)
        return self._released(table, names, centers[order], spreads[order], calibrated, levels, order)

    def _checked(self) -> np.random.Generator:
        """Check the parameters that need no data; return the generator. A guarantee has its own attacker."""
        check_parameters(self)
        if isinstance(self.k, ExpectedAnonymity):
            require(self, "attacker", self.attacker, NONE, OneOf((self.k.attacker,)))
        return generator(self.random_state, owner=self)

    def _published(self, table: Table) -> list[str]:
        """Name the columns that get a spread: neither identifiers nor the levels, nor the label."""
        level = self.guarantee.k
        if self.label is not None and self.label not in table.schema:
            raise SchemaError(f"The label is to be column '{self.label}', which the table does not have.")
        hidden = {level, *table.schema.named(Role.IDENTIFIER), *table.schema.named(Role.DROP)}
        if self.label is not None and self.label in hidden:
            raise SchemaError(f"Column '{self.label}' cannot be the label: it is not published.")
        names = [name for name in table.schema if name not in hidden and name != self.label]
        if not names:
            raise SchemaError("Besides identifiers, levels and the label there is no column to be published.")
        for name in names:
            if f"{name}{SUFFIX}" in table.schema:
                raise SchemaError(
                    f"Rename column '{name}{SUFFIX}': the spreads of '{name}' are to be called so."
                )
        return names

    def _classes(self, table: Table) -> IntArray | None:
        """Return the class of every row by the label; null is a class as well."""
        if self.label is None:
            return None
        _, numbers = value_codes(table.source.columns([self.label])[self.label], self.label)
        return numbers.astype(np.int64)

    def _calibrated(self, points: FloatArray, levels: IntArray, classes: IntArray | None) -> Calibrated:
        """Find the spreads, in each class of the label apart."""
        calibrate = shared_spreads if self.guarantee.attacker == "informed" else own_spreads
        if classes is None:
            return calibrate(points, levels, self.spread)
        spreads, anonymity = np.empty(levels.size), np.empty(levels.size)
        for number in np.unique(classes):
            rows = np.flatnonzero(classes == number)
            part = calibrate(points[rows], levels[rows], self.spread)
            spreads[rows], anonymity[rows] = part.spreads, part.anonymity
        return Calibrated(spreads, anonymity)

    def _released(
        self,
        table: Table,
        names: list[str],
        centers: FloatArray,
        spreads: FloatArray,
        calibrated: Calibrated,
        levels: IntArray,
        order: IntArray,
    ) -> Release:
        cells: dict[str, Any] = {}
        schema: dict[str, Column] = {}
        for name in (name for name in table.schema if name in names or name == self.label):
            schema[name] = replace(table.schema[name], hierarchy=None, weight=1.0)
            if name == self.label:
                cells[name] = table.source.columns([name])[name].take(pa.array(order))
                continue
            column = names.index(name)
            cells[name], cells[f"{name}{SUFFIX}"] = centers[:, column], spreads[:, column]
            schema[f"{name}{SUFFIX}"] = other()
        k = self.guarantee.k
        parameters = {
            "k": "given apart" if k is None else k,
            "spread": self.spread,
            "attacker": self.guarantee.attacker,
            "label": self.label,
        }
        entries = [{"name": name, "role": column.role.value} for name, column in table.schema.items()]
        safe = {"spreadsheet_safe": True} if table.spreadsheet_safe else {}
        return Release(
            data=table.framed(pa.table(cells)),
            kind="uncertain-records",
            schema=Schema(schema),
            guarantee=self.guarantee,
            evidence=Evidence(
                levels.size,
                details={ATTACKER: self.guarantee.attacker},
                arrays={ANONYMITY: calibrated.anonymity, LEVELS: levels},
                order=order,
            ),
            recipe=safe | recipe_header(self, parameters) | {"columns": entries},
            original=table,
        )


def _numbers(columns: Any, names: list[str]) -> FloatArray:
    """Return the columns as a matrix; what is no number, or missing, is refused by name."""
    if not len(columns[names[0]]):
        raise SchemaError("The table has no rows.")
    for name in names:
        if labels.value_kind(columns[name].type) != "number":
            raise SchemaError(
                f"Column '{name}' does not hold numbers, so it has no spread: drop it as an identifier, or publish it "
                "as the label."
            )
        if columns[name].null_count:
            raise SchemaError(
                f"Column '{name}' lacks {columns[name].null_count} numbers; fill them in or drop those rows first."
            )
    return np.column_stack([columns[name].cast(pa.float64(), safe=False).to_numpy() for name in names])


def _units(values: FloatArray, names: list[str]) -> FloatArray:
    """Return the standard deviation of each column, in two digits: more would show a record to who has all others."""
    if len(values) == 1:
        raise SchemaError("One record has nobody to hide among: a table of two or more is needed.")
    units = np.empty(len(names))
    for number, name in enumerate(names):
        column = values[:, number]
        if column.min() == column.max():
            raise SchemaError(
                f"Column '{name}' has the same value in all rows, which would be published as it is; leave it out."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            units[number] = float(f"{column.std():.1e}")
        if not (np.isfinite(units[number]) and units[number] > _RESOLUTION * np.abs(column).max()):
            raise SchemaError(f"Column '{name}' varies too little beside its size, or too much; rescale it.")
    return units


def _in_few_digits(numbers: FloatArray, spreads: FloatArray, digits: int) -> FloatArray:
    """Round numbers well below their spreads: the last digits of a sum would show what was added."""
    power = 10.0 ** (digits - np.floor(np.log10(spreads)))
    return np.asarray(np.rint(numbers * power) / power)
