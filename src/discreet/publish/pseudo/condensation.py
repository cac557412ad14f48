"""Condensation: a privacy level for every record, and pseudo-data drawn from group statistics (Aggarwal & Yu 2005)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import (
    BOOL,
    NONE,
    POSITIVE,
    Constraints,
    FloatIn,
    InstanceOf,
    IntIn,
    OneOf,
    check_parameters,
    require,
)
from discreet.core.records.vectors import WIDEST, Line, Vectors
from discreet.core.release import Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, generator
from discreet.core.schema import Column, Role
from discreet.core.tables import labels
from discreet.core.tables.encoding import value_codes
from discreet.core.tables.table import Table
from discreet.core.validation import matrix_of, validated
from discreet.guarantees import Indistinguishability
from discreet.guarantees.indistinguishability import LARGEST
from discreet.guarantees.per_unit import refuse_units
from discreet.measure.pseudo.copies import compared_columns
from discreet.measure.tables.risk import refuse_keys, refuse_singletons
from discreet.publish.pseudo.construct_groups import Grouping, construct_by_class, construct_groups
from discreet.publish.pseudo.microaggregation import METHODS, SegmentMethod
from discreet.publish.pseudo.privacy_levels import OnePerRow, levels_of, read_levels
from discreet.publish.pseudo.pseudo_data import (
    SPREADS,
    Condensed,
    Drawn,
    Spread,
    bounded,
    draw,
    draw_for,
    followed,
    pseudo_release,
)
from discreet.publish.pseudo.redraw import Redrawn, SingledOut, redrawn

_LONE_TEXTS = 8
"""The fewest texts that one row each has for a column to count as one of names."""


@public
@dataclass(repr=False, eq=False)
class Condensation(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Keep only statistics of groups of records, and publish pseudo-records drawn from them.

    Every record names its own privacy level p: it is condensed with at least p − 1 others. Groups are made of near
    records; their sizes, means and covariances are kept, and pseudo-records are drawn along the eigenvectors of each
    covariance. So the release looks like the original to most analyses, its correlations included. Rows are drawn and
    not taken from anyone, but a drawn row can equal a record by chance (see ``avoid_copies``). Distances are between
    standardized columns; categories count by indicators.

    All columns are condensed, but for identifiers, which are dropped (pseudonyms too: a pseudo-record is nobody's), and
    the column of levels, which is not published. A quasi-identifier of texts that hardly two rows share is refused.
    Whole numbers, dates and ordered categories stay such, within the observed range unless ``bounded`` is False.
    Categories are drawn by their frequencies in the group, each column on its own. Whether a cell is null is drawn by
    the share of nulls in the group; among the others the column has the mean and the variance it had.

    Parameters
    ----------
    k
        The privacy level: one for all records, the name of the column that holds each record's own, an array with one
        for each row, or an `Indistinguishability`.
    segment
        How the records of one level are grouped: ``"nearest"`` is the paper's, ``"mdav"`` starts from the farthest
        records, ``"blocked"`` does so within blocks of near records; ``"auto"`` takes blocks above 50,000 rows.
    spread
        How pseudo-records are spread along an eigenvector: ``"uniform"`` as in the paper, or ``"gaussian"``.
    alpha
        How many pseudo-records to draw for each record.
    noise
        The standard deviation of additional Gaussian noise, as a share of each column's own.
    label
        A column whose values are condensed apart from one another, so that classes keep their shapes.
    target
        What ``y`` is in `fit`: ``"class"`` is condensed apart, ``"number"`` along with the columns; ``"auto"`` decides
        by its values.
    bounded
        Whether pseudo-values beyond the observed range are mirrored back into it.
    avoid_copies
        Whether `release` draws a pseudo-record again, from the same group, where its quasi-identifiers are those of a
        record that nobody else shares and whose level is above 1; one that cannot be avoided is left out. The
        sensitive values and the label are not compared: otherwise a published row would prove which value a person
        does *not* have. Groups are made and rows drawn by quasi-identifiers alone then, and the other columns follow
        by the group's covariance and frequencies, so that no sensitive value decides which rows are left out; a label
        or levels of the records' own still do. Otherwise groups are made by all columns, as in the paper. What is left
        to learn is membership: a published combination of quasi-identifiers is not that of one person alone, and one
        that is missing although it should have been drawn several times probably is.
        Set it to False where membership itself is the secret. `fit` keeps no record, so `sample` cannot avoid copies.
    random_state
        Seeds the groups of ``"nearest"``, the draws and the order of the rows. Keep a seed secret: with it the
        statistics of each group can be worked out from the pseudo-records.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> rng = np.random.default_rng(0)
    >>> age = rng.integers(20, 80, 500)
    >>> people = Table(pa.table({"age": age, "income": age * 900 + rng.integers(0, 9000, 500)}),
    ...     {"age": quasi(), "income": sensitive()})
    >>> release = Condensation(10, random_state=0).release(people)
    >>> release.frame.num_rows, release.verdict.ok, release.verdict.basis.value
    (500, True, 'by construction')
    >>> bool(np.corrcoef(release.frame["age"], release.frame["income"])[0, 1] > 0.97)
    True

    As a scikit-learn estimator:

    >>> X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3))
    >>> made = Condensation(5, random_state=0).fit(X)
    >>> made.statistics_, made.sample(1000).shape
    (GroupStatistics(60 groups, 300 rows, 3 columns), (1000, 3))

    References
    ----------
    C. Aggarwal, P. Yu: On variable constraints in privacy preserving data mining. SDM 2005.
    C. Aggarwal, P. Yu: A condensation approach to privacy preserving data mining. EDBT 2004.
    """

    k: int | str | Sequence[int] | IntArray | Indistinguishability = 10
    _: KW_ONLY
    segment: SegmentMethod = "auto"
    spread: Spread = "uniform"
    alpha: float = 1.0
    noise: float = 0.0
    label: str | None = None
    target: Literal["auto", "class", "number"] = "auto"
    bounded: bool = True
    avoid_copies: bool = True
    random_state: RandomState = None

    constraints: ClassVar[Constraints] = {
        "k": (IntIn(1), InstanceOf((str, Indistinguishability), "an Indistinguishability"), OnePerRow()),
        "segment": OneOf(METHODS),
        "spread": OneOf(SPREADS),
        "alpha": POSITIVE,
        "noise": FloatIn(0),
        "label": (InstanceOf((str,), "the name of a column"), NONE),
        "target": OneOf(("auto", "class", "number")),
        "bounded": BOOL,
        "avoid_copies": BOOL,
        "random_state": RANDOM_STATE,
    }

    @property
    def guarantee(self) -> Indistinguishability:
        """The guarantee: every group is at least as large as the largest level in it."""
        if isinstance(self.k, Indistinguishability):
            return self.k
        one_for_all = isinstance(self.k, str | int | np.integer)
        return Indistinguishability(self.k if one_for_all else None)  # type: ignore[arg-type]

    @property
    def _levels(self) -> Any:
        """The privacy levels, whether in a guarantee or not."""
        return self.k.k if isinstance(self.k, Indistinguishability) else self.k

    def release(self, table: Table) -> Release:
        """Condense a table and publish pseudo-records."""
        rng = self._checked()
        require(self, "table", table, InstanceOf((Table,), "a Table"))
        refuse_units(self, table)
        names = self._published(table)
        compared = self._compared(table, names)
        leading = Vectors.of(table, compared or names)
        others = [name for name in names if name not in compared] if compared else []
        vectors = leading.beside(Vectors.of(table, others)) if others else leading
        n = len(vectors.places)
        levels = read_levels(self, self._levels, table, n)
        grouping = self._grouped(leading.points(), levels, self._classes(table), rng)
        condensed = Condensed.of(vectors, grouping.labels, levels, grouping.n_groups)
        singled_out = SingledOut.of(table, compared, leading, levels) if compared else None
        result = self._drawn(leading, vectors, condensed, singled_out, rng)
        return pseudo_release(
            self,
            table.framed(vectors.frame(result.drawn.places, result.drawn.codes, names)),
            {name: _released(table.schema[name]) for name in names},
            _evidence(n, condensed, grouping, result),
            parameters=self._parameters(),
            columns={name: column.role.value for name, column in table.schema.items()},
            original=table,
        )

    def fit(self, X: Any, y: Any = None) -> Condensation:
        """Condense the rows of a matrix; only ``statistics_`` and what is needed to draw from them are kept."""
        rng = self._checked()
        lone = isinstance(self._levels, int | np.integer) and self._levels > 1
        values = matrix_of(self, X, ensure_min_samples=2 if lone else 1)
        if max(values.max(), -values.min()) > WIDEST:
            raise SchemaError("X holds numbers too large to be squared; rescale it.")
        values, classes = self._with_target(values, y)
        levels = levels_of(self, self._levels, len(values))
        vectors = Vectors((), values, (), np.empty((len(values), 0), np.int32))
        grouping = self._grouped(vectors.points(), levels, classes, rng)
        condensed = Condensed.of(vectors, grouping.labels, levels, grouping.n_groups)
        self.statistics_ = condensed.statistics
        self.scale_ = condensed.scale
        self.steps_ = grouping.steps
        self.range_ = np.stack([values.min(axis=0), values.max(axis=0)])
        self.group_classes_ = None
        if classes is not None:
            self.group_classes_ = np.empty(grouping.n_groups, np.int64)
            self.group_classes_[grouping.labels] = classes
        return self

    def sample(self, n: int | None = None) -> Any:
        """Draw pseudo-rows: ``alpha`` for each row that was fitted, or n; with their y where one was fitted."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "statistics_")
        rng = self._checked()
        require(self, "n", n, IntIn(0), NONE)
        statistics = self.statistics_
        condensed = Condensed.of_numbers(statistics, self.scale_)
        count = round(self.alpha * statistics.n_rows) if n is None else int(n)
        ends = (*self.range_, np.ones(statistics.n_columns))
        drawn = self._bounded(self._draw(condensed, count, ends, rng), ends)
        places, groups = drawn.places, drawn.groups
        if self.group_classes_ is not None:
            return places, self.classes_[self.group_classes_[groups]]
        if statistics.n_columns > self.n_features_in_:
            return places[:, :-1], places[:, -1]
        return places

    def fit_resample(self, X: Any, y: Any = None) -> Any:
        """Condense rows and return pseudo-rows in their place: X alone, or X and y."""
        return self.fit(X, y).sample()

    def _checked(self) -> np.random.Generator:
        """Check the parameters that need no data; return the generator."""
        check_parameters(self)
        return generator(self.random_state, owner=self)

    def _published(self, table: Table) -> list[str]:
        """Name the columns that are condensed: neither identifiers nor the levels."""
        if self.label is not None and self.label not in table.schema:
            raise SchemaError(f"The label is to be column '{self.label}', which the table does not have.")
        hidden = {self._levels} if isinstance(self._levels, str) else set()
        hidden |= {*table.schema.named(Role.IDENTIFIER), *table.schema.named(Role.DROP)}
        if self.label in hidden:
            raise SchemaError(f"Column '{self.label}' cannot be the label: it is not published.")
        names = [name for name in table.schema if name not in hidden]
        if not any(table.schema[name].role is Role.QUASI for name in names):
            raise SchemaError("Besides identifiers and levels there is no quasi-identifier to be condensed.")
        judged = [
            name for name in names if table.schema[name].role is not Role.SENSITIVE and name != self.label
        ]
        _refuse_singling_out(table, [name for name in judged if not table.schema[name].allow_unique])
        return names

    def _compared(self, table: Table, names: list[str]) -> list[str]:
        """Name the columns by which copies are avoided; none where they are not.

        Groups are made and rows drawn by these alone, and the other columns follow. So neither which rows are drawn
        again nor how many are left out depends on a sensitive value.
        """
        if not self.avoid_copies:
            return []
        return [name for name in compared_columns(table.schema, self.label) if name in names]

    def _classes(self, table: Table) -> IntArray | None:
        """Return the class of every row by the label; null is a class as well."""
        if self.label is None:
            return None
        _, numbers = value_codes(table.source.columns([self.label])[self.label], self.label)
        return numbers.astype(np.int64)

    def _with_target(self, values: FloatArray, y: Any) -> tuple[FloatArray, IntArray | None]:
        """Return the classes of y, or the rows with y as another column."""
        from sklearn.utils.multiclass import type_of_target
        from sklearn.utils.validation import check_consistent_length, column_or_1d

        if y is None:
            return values, None
        y = validated(column_or_1d, y, warn=True)
        validated(check_consistent_length, values, y)
        kind = validated(type_of_target, y, raise_unknown=True)
        if self.target == "number" or (self.target == "auto" and kind == "continuous"):
            numbers = np.asarray(y, np.float64)
            if not np.isfinite(numbers).all():
                raise SchemaError("y holds numbers that are missing or infinite; clean or drop them first.")
            return np.column_stack([values, numbers]), None
        self.classes_, places = np.unique(y, return_inverse=True)
        return values, places.astype(np.int64)

    def _grouped(
        self, points: FloatArray, levels: IntArray, classes: IntArray | None, rng: np.random.Generator
    ) -> Grouping:
        if classes is None:
            return construct_groups(points, levels, method=self.segment, rng=rng)
        return construct_by_class(points, levels, classes, method=self.segment, rng=rng)

    def _drawn(
        self,
        leading: Vectors,
        vectors: Vectors,
        condensed: Condensed,
        singled_out: SingledOut | None,
        rng: np.random.Generator,
    ) -> Redrawn:
        """Draw the leading columns of pseudo-records, again where they are one person's, and then the other columns."""
        part = condensed.part(slice(len(leading.lines)), slice(len(leading.books)))
        ends = _ends(leading.lines, self.label)
        drawn = self._bounded(self._draw(part, round(self.alpha * len(vectors.places)), ends, rng), ends)

        def again(groups: IntArray) -> Drawn:
            noise = self.noise * ends[2]
            return self._bounded(draw_for(part, groups, spread=self.spread, noise=noise, rng=rng), ends)

        result = Redrawn(drawn, 0, 0) if singled_out is None else redrawn(drawn, singled_out, again)
        if leading is vectors:
            return result
        ends = _ends(vectors.lines, self.label)
        noise = self.noise * ends[2]
        both = followed(condensed, result.drawn, spread=self.spread, noise=noise, rng=rng)
        return replace(result, drawn=self._bounded(both, ends))

    def _draw(
        self, condensed: Condensed, n: int, ends: tuple[FloatArray, ...], rng: np.random.Generator
    ) -> Drawn:
        """Draw pseudo-records; ``ends`` are the observed range of each column and whether it takes noise."""
        return draw(condensed, n, spread=self.spread, noise=self.noise * ends[2], rng=rng)

    def _bounded(self, drawn: Drawn, ends: tuple[FloatArray, ...]) -> Drawn:
        return replace(drawn, places=bounded(drawn.places, *ends[:2])) if self.bounded else drawn

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters that are written into a recipe; levels of single records are not."""
        names = ("segment", "spread", "alpha", "noise", "label", "bounded", "avoid_copies")
        k = self.guarantee.k
        return {"k": "given apart" if k is None else k} | {name: getattr(self, name) for name in names}


def _refuse_singling_out(table: Table, names: list[str]) -> None:
    """Refuse texts that many rows have for themselves, which are published as they are, and keys."""
    columns = table.source.columns(names)
    texts = [name for name in names if labels.value_kind(columns[name].type) == "text"]
    for name in texts:
        lone = table.source.singletons([name])
        if lone.n_singletons >= _LONE_TEXTS:
            refuse_singletons(name, lone)
    for name in names:
        if pa.types.is_integer(columns[name].type):
            values = columns[name].to_numpy(zero_copy_only=False).astype(np.float64)
            refuse_keys([name], values[:, None], ())


def _ends(lines: tuple[Line, ...], label: str | None) -> tuple[FloatArray, ...]:
    """Return the observed ends of lines, and which of them take noise: a label is no number."""
    return (
        np.array([line.low for line in lines]),
        np.array([line.high for line in lines]),
        np.array([line.name != label for line in lines], np.float64),
    )


def _released(column: Column) -> Column:
    """Return a column's role in the release, without the tree it has no use for."""
    return replace(column, hierarchy=None, weight=1.0)


def _evidence(n: int, condensed: Condensed, grouping: Grouping, result: Redrawn) -> Evidence:
    statistics = condensed.statistics
    steps = [asdict(step) for step in grouping.steps]
    details = {LARGEST: statistics.largest, "steps": steps, "redrawn": result.n_redrawn}
    return Evidence(n, statistics.n, suppressed=result.n_left_out, details=details)
