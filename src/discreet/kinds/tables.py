"""Tables: every column has a role, and rows are judged by the classes that share all quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.baskets.row_items import row_items
from discreet.core.boundary import is_on_cluster
from discreet.core.errors import ParameterError
from discreet.core.figures import Caution, PrivateFigures, PublicFigures
from discreet.core.guarantee import AllOf, Guarantee
from discreet.core.params import Constraint, InstanceOf, OneOf
from discreet.core.registry import Method
from discreet.core.release import Release, is_counted_privately
from discreet.core.schema import Column, Schema
from discreet.core.tables.groups import Groups
from discreet.core.tables.table import Table
from discreet.core.verdict import Verdict, claimed, conjunction
from discreet.engines.formats import WRITTEN, format_of, output_format
from discreet.engines.inputs import files_of
from discreet.guarantees import (
    DistinctDiversity,
    KAnonymity,
    PerUnit,
    RulesHidden,
    SampledPrivacy,
    TCloseness,
)
from discreet.kinds.kind import TEXT, TEXTS, Input, Kind, Line
from discreet.kinds.roles import column_from, complete
from discreet.kinds.wording import nearest_name, number, percent, span
from discreet.measure import (
    Belief,
    Loss,
    Prediction,
    Risk,
    SinglingOut,
    belief,
    loss,
    prediction,
    risk,
    singling_out,
)
from discreet.measure.spelling import twins_of_values
from discreet.measure.tables.prediction import predictable
from discreet.measure.tables.table_cautions import table_cautions

if TYPE_CHECKING:
    from discreet.kinds.blocks import Block
    from discreet.kinds.codebook import DescribedColumn
    from discreet.kinds.judging import Judgment
    from discreet.kinds.wording import About
    from discreet.kinds.written import Written

OWNERS_RULES = "the files cannot show it: which rules are hidden only the owner knows"
"""Why hidden rules cannot be judged without the owner's folder."""
_UNITS_GONE = "the files cannot show it: whose rows they are was not published"
_TREE_GONE = "the files cannot show it: the hierarchy or order it is judged by was not published"
_SEARCHED = ("measure", "cost", "bound", "optimal", "n_nodes")
MOST_LABELS = 3
"""How many sensitive columns are predicted."""


class PublicTableFigures(PublicFigures):
    """What the released rows of a table show: their risk, whom columns single out, and what can be predicted."""

    @property
    def n_released(self) -> int:
        """The number of released rows."""
        return self.release.table.n_rows

    @cached_property
    def risk(self) -> Risk:
        """The risk that is left, by the released rows alone."""
        return risk(self.release.table)

    @cached_property
    def singling_out(self) -> SinglingOut:
        """The rows that columns published as they are single out."""
        return singling_out(self.release)

    @cached_property
    def predictions(self) -> tuple[Prediction, ...]:
        """How well the columns that were named, or the first sensitive ones, are predicted from the released rows."""
        named = self.release.recipe.get("predicted")
        names = predictable(self.release.table)[:MOST_LABELS] if named is None else named
        return tuple(prediction(self.release, name) for name in names)

    @cached_property
    def codebook(self) -> tuple[DescribedColumn, ...]:
        """What each column is, and what its labels cover."""
        from discreet.kinds.codebook import codebook_of

        return codebook_of(self.release)

    def to_dict(self) -> dict[str, Any]:
        """Return the number of rows and the risk that is left; where people are counted privately, only its bound."""
        rows = {"rows": self.counts.to_dict()}
        if is_counted_privately(self.release):
            return rows | {"risk": {"highest_at_most": 1 / max(self.release.guarantee.smallest, 1)}}
        return rows | {"risk": self.risk.to_dict()}


class PrivateTableFigures(PrivateFigures):
    """What a release cost, and the risk before and after."""

    def __init__(self, release: Release, public: PublicTableFigures) -> None:
        super().__init__(release)
        self._public = public

    @cached_property
    def risk_before(self) -> Risk:
        """The risk of the original."""
        return risk(self.release.original)

    @cached_property
    def risk(self) -> Risk:
        """The risk that is left, counted by people where it is known whose rows they are."""
        return risk(self.release) if is_counted_privately(self.release) else self._public.risk

    @cached_property
    def loss(self) -> Loss:
        """The loss of detail."""
        return loss(self.release)

    @cached_property
    def predictions_before(self) -> tuple[Prediction, ...] | None:
        """How well the same columns are predicted from the original; None where its tuples exceed memory."""
        if self.release.original.exceeds_memory:
            return None
        return tuple(
            prediction(self.release.original, predicted.column) for predicted in self._public.predictions
        )

    @cached_property
    def beliefs(self) -> tuple[Belief, ...]:
        """How far the release moves what readers believe about each sensitive column; computed on demand alone."""
        return tuple(belief(self.release, of=name) for name in self.release.schema.sensitive)

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each column, where whole columns were generalized."""
        levels = self.release.evidence.levels
        return None if levels is None else dict(levels)

    @property
    def search(self) -> dict[str, Any] | None:
        """What a search for levels found, if there was one."""
        details = self.release.evidence.details
        if not all(name in details for name in _SEARCHED):
            return None
        return {name: details[name] for name in _SEARCHED}

    def to_dict(self) -> dict[str, Any]:
        """Return the loss and the risk of the original."""
        return {"loss": self.loss.to_dict(), "risk_before": self.risk_before.to_dict()}


class TableKind(Kind):
    """Tables of people's own rows."""

    name = "table"
    formats = WRITTEN
    title = "A table"
    public_half: ClassVar[type[PublicFigures]] = PublicTableFigures
    private_half: ClassVar[type[PrivateFigures]] = PrivateTableFigures
    records_name = "rows"
    section: ClassVar[str | None] = "columns"
    takes = "table"
    noun = "tables"
    reading: ClassVar[Mapping[str, Constraint]] = {
        "delimiter": TEXT,
        "encoding": TEXT,
        "quote": TEXT,
        "header": InstanceOf((bool,), "true or false"),
        "decimal": TEXT,
        "thousands": TEXT,
        "nulls": TEXTS,
        "dates": TEXT,
        "text": TEXTS,
        "sheet": InstanceOf((str, int), "a name or a number"),
        "labels": InstanceOf((bool,), "true or false"),
        "engine": OneOf(("spark",)),
        "master": TEXT,
        "remote": TEXT,
    }

    def parse(self, section: Mapping[str, Any], folder: Path) -> dict[str, Column]:
        """Read the roles of the columns."""
        return {str(name): column_from(name, entry, folder) for name, entry in section.items()}

    def read(self, job: Input) -> Any:
        """Read the table, with a role for every column."""
        from discreet.core.tables.source import source_of
        from discreet.engines.files import read

        frame = read(job.data, **job.reading) if job.is_file else job.data
        source = source_of(frame)
        roles = complete(job.section or {}, source.names, rest=job.rest)
        return Table(source, roles, spreadsheet_safe=job.spreadsheet_safe)

    def stays_on_cluster(self, job: Input) -> bool:
        """Whether the rows are on a cluster, or are read there."""
        return is_on_cluster(job.data) or (job.is_file and job.reading.get("engine") == "spark")

    def usual_format(self, release: Release) -> str:
        """Return Parquet for rows on a cluster, and CSV for others."""
        return "parquet" if is_on_cluster(release.data) else self.formats[0]

    def output_format(self, job: Input) -> str | None:
        """Return the format of the input, or CSV; on a cluster Parquet."""
        if self.stays_on_cluster(job):
            return "parquet"
        if not job.is_file:
            return "csv"
        path = Path(job.data)
        return output_format(files_of(path).paths[0] if path.is_dir() else path)

    def subject(self, release: Release) -> Any:
        """Return the released rows, with their units beside them where those are counted."""
        return release.judged_table

    def frame(self, release: Release) -> Any:
        """Return the released frame."""
        return release.data

    def groups(self, release: Release) -> Groups:
        """Return the equivalence classes of the released rows."""
        return release.table.groups()

    def counted(self, release: Release) -> Groups:
        """Return the classes with their units counted."""
        return release.judged_table.counted

    def published_texts(self, release: Release) -> Sequence[Any]:
        """Return the released rows."""
        return (release.table.source.rows,)

    def judged_values(self, release: Release) -> Mapping[str, tuple[Any, Any]]:
        """Return the different values of the columns that classes are made and judged by."""
        table = release.table
        return {name: (table.encoded[name].values, table.overall(name)) for name in table.judged}

    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the rows."""
        from discreet.kinds.written import DATA, write_table

        return [write_table(release, release.frame, folder / f"{DATA}.{format}", format)]

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return the written rows as a table, text in the types the release has."""
        from discreet.kinds.written import DATA, read_table

        table = read_table(release, folder / f"{DATA}.{format}", format)
        return release.with_units(table) if table.n_rows == release.table.n_rows else None

    def of_table(self, release: Release, rows: Any) -> Any:
        """Return the rows at their destination, a table or a file, in the types the release has."""
        from discreet.kinds.written import judged_columns, read_table

        file_format = format_of(rows) if isinstance(rows, Path) else None
        if file_format is None:
            table = judged_columns(rows, release, "")
        else:
            table = read_table(release, rows, file_format.name)
        return release.with_units(table) if table.n_rows == release.table.n_rows else None

    def read_released(self, written: Written, *, texts: bool) -> Any:
        """Return the rows of a folder as a table; quasi-identifiers hold labels, which are text."""
        columns = written.columns()
        frame = written.frame("data", tuple(columns) if texts else self.text_columns(written, columns))
        return Table(frame, {name: column for name, column in columns.items() if name in frame.columns})

    def text_columns(self, written: Written, columns: Mapping[str, Column]) -> tuple[str, ...]:
        """Return the columns of a written table whose cells are text, whatever they look like."""
        del written
        return Schema(columns).quasi

    def judge_written(
        self, written: Written, data: Any, guarantee: Guarantee | None, *, is_named: bool
    ) -> Judgment:
        """Judge rows by a guarantee, as far as they show it, and by all other measures on demand."""
        from discreet.kinds.judging import judge_table

        if is_named and isinstance(guarantee, RulesHidden):
            guarantee = with_reading(guarantee, data)
        parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
        hidden = () if is_named else written.hidden_columns
        reasons = [_not_shown(part, data, hidden, is_named=is_named) for part in parts]
        shows_all = guarantee is not None and not any(reasons)
        judgment = judge_table(
            data,
            guarantee if shows_all else None,
            population=written.population,
            measured=written.is_measured,
        )
        if guarantee is None:
            return replace(judgment, verdict=written.claims(), why=OWNERS_RULES)
        if judgment.verdict is not None:
            return judgment
        verdicts = (
            verdict
            for part, reason in zip(parts, reasons, strict=True)
            for verdict in _partly(part, data, reason)
        )
        return replace(judgment, verdict=conjunction(tuple(verdicts)), why=next(filter(None, reasons)))

    def released_parts(self, data: Any, record: Mapping[str, Any]) -> tuple[Any, Schema]:
        """Return the frame that was read, and the roles of its columns."""
        del record
        return data.frame, data.schema

    def columns(self, data: Any) -> tuple[set[str], set[str]] | None:
        """Return the names of the columns that were read; the method made none of them."""
        return set(data.source.names), set()

    def codebook(self, release: Release) -> Sequence[DescribedColumn]:
        """Return what the codebook says of the columns."""
        public = release.figures.public
        return public.codebook if isinstance(public, PublicTableFigures) else ()

    def with_bounds(self, release: Release) -> Release:
        """Return the release with the bounds of intervals as columns after its own."""
        from discreet.kinds.codebook import with_bounds

        return replace(release, data=with_bounds(release.data, self.codebook(release)))

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about generalized rows, and about sensitive values that are spelled alike."""
        is_measured = private is not None and bool(release.evidence.cells)
        yield from table_cautions(release, public.singling_out, private.loss.total if is_measured else None)
        # The released roles name no person; the table that was judged knows whose rows they are.
        if release.judged_table.units is not None:
            from discreet.guarantees.row_knowledge import known_row_counts

            yield from known_row_counts(release)
        yield from twins_of_values(release)

    def blocks(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        """Return the sections of the report."""
        from discreet.kinds.sections import distributions, provenance
        from discreet.kinds.sections import risk as risks
        from discreet.kinds.sections.risk import guarantee
        from discreet.kinds.sections.usefulness import cost

        figures = release.figures
        verdict = guarantee(release.guarantee, release.verdict)
        last = [
            provenance.columns(release, self.cells, internal=internal),
            provenance.method(release, internal=internal),
        ]
        useful = self.usefulness(release, internal=internal)
        sensitive = distributions.sensitive_columns(release)
        if not internal:
            tiles, left = risks.released_risk(release, figures.public.risk)
            examples, shares = distributions.examples(release), distributions.released_section(release)
            return [verdict, tiles, examples, left, shares, sensitive, *useful, *last]
        private = figures.private
        return [
            verdict,
            risks.risk_summary(release, private.risk_before, private.risk, private.loss),
            risks.risk_change(release, private.risk_before, private.risk),
            cost(private.loss),
            _lattice(release),
            distributions.compared_section(release, release.schema.quasi, risks.min_people(release)),
            sensitive,
            *useful,
            *last,
        ]

    def identifiability(self, release: Release) -> Sequence[Block]:
        """Return the risk that is left; where people were counted, rows do not show it, and nothing is said."""
        from discreet.kinds.sections.risk import released_risk

        guarantee = release.guarantee
        parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
        if any(isinstance(part, PerUnit) for part in parts):
            return ()
        return released_risk(release, release.figures.public.risk)

    def usefulness(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        """Return the sections on what can be done with the release."""
        from discreet.kinds.sections import usefulness
        from discreet.kinds.sections.risk import min_people

        figures = release.figures
        before = figures.private.predictions_before if internal else None
        return [
            usefulness.predictions(figures.public.predictions, before),
            usefulness.pairs(release, min_people(release), internal=internal),
        ]

    def cells(self, name: str, column: Column, release: Release, *, internal: bool) -> str:
        """Return what the cells of a column became, in words; publicly, by the recipe alone."""
        from discreet.kinds.wording import generalized_cells, original_cells

        describe = original_cells if internal else generalized_cells
        return describe(name, column, release)

    def terms(self, release: Release) -> Mapping[str, str]:
        """Return the terms of reports on tables."""
        del release
        return {
            "Quasi-identifier": "a column that others may know of a person, such as age or ZIP code",
            "Class": "the rows that share all quasi-identifiers; an attacker finds a person's class, not the row",
            "Sensitive": "a column that nobody may learn about a person",
            "Suppressed": "rows that were not published, because they would stand out",
        }

    def rerun(self, release: Release, about: About, method: Method) -> str | None:
        """Return code that reads the table and publishes it again; a population is not in the release."""
        from discreet.kinds.sections.provenance import constructor, expression, set_parameters, table_code

        parameters, values = method.parameters(), {**release.recipe.get("parameters", {})}
        if "levels" in parameters:
            values["levels"] = dict(release.recipe.get("levels", {}))
        guarantee = expression(release.guarantee)
        if "population=" in guarantee:
            return None
        call = constructor(method, guarantee, set_parameters(values, parameters, release))
        return table_code(release, about, method, guarantee, call)

    def outcome(self, release: Release) -> dict[str, Any]:
        """Return the rows, the classes, what a search found, the loss, and the risk before and after."""
        counts, private = release.figures.public.counts, release.figures.private
        return {
            "rows": counts.n_in,
            "suppressed": counts.suppressed,
            "classes": private.risk.n_classes,
            "levels": private.levels,
            "search": private.search,
            "loss": private.loss.to_dict(),
            "risk": {"before": private.risk_before.to_dict(), "after": private.risk.to_dict()},
        }

    def lines(self, release: Release) -> list[Line]:
        """Return what the verdict rests on, the rows, the classes, the loss and the risk."""
        counts, private = release.figures.public.counts, release.figures.private
        suppressed = f"{counts.suppressed:,} left out" if counts.suppressed else "none left out"
        person = release.original.schema.person
        counted = "rows" if person is None else f"people (by {person})"
        sizes = f"{span(private.risk.smallest_class, private.risk.largest_class)} {counted} in each"
        before, after = (
            percent(measured.prosecutor.highest) for measured in (private.risk_before, private.risk)
        )
        basis = self.basis
        if is_counted_privately(release):
            basis = "by the released rows and by whose rows they are, which is private: others cannot recompute it"
        elif release.guarantee.needs_original:
            basis = "by the released rows and by the original, which is private: others cannot recompute it"
        return [
            ("", basis),
            ("rows", f"{counts.n_out:,} released, {suppressed}"),
            ("classes", f"{private.risk.n_classes:,}, with {sizes}"),
            *_search_lines(private),
            ("loss", f"{percent(private.loss.total)} of the quasi-identifiers' detail"),
            ("risk", f"highest re-identification risk: {before} → {after}"),
        ]


def require_predictable(release: Release, names: Sequence[str]) -> None:
    """Refuse columns that the report of a release cannot predict."""
    known = predictable(release.table) if release.kind == "table" else []
    for name in names:
        if name not in known:
            raise ParameterError(
                f"'{name}' cannot be predicted: a prediction is of a sensitive column of numbers or few values"
                f"{nearest_name(name, known)}"
            )


def _lattice(release: Release) -> Block | None:
    """Return what the search saw of a lattice; what draws it is loaded only where there was one."""
    if "visited" not in release.evidence.details:
        return None
    from discreet.kinds.sections.nodes import lattice

    return lattice(release)


def _search_lines(private: PrivateTableFigures) -> Iterator[Line]:
    """Say which levels were chosen, and how sure it is that they are the best."""
    if private.levels is not None:
        yield "levels", ", ".join(f"{name} {level}" for name, level in private.levels.items())
    if (search := private.search) is not None:
        least = f"least {search['measure']} of {search['n_nodes']:,} nodes: {number(search['cost'])}"
        sure = "" if search["optimal"] else f", found in time; the best may cost {number(search['bound'])}"
        yield "search", least + sure


def with_reading(guarantee: RulesHidden, table: Table) -> RulesHidden:
    """Return a guarantee that reads the rows of a table on the levels that its rules name."""
    named = [str(name) for rule in guarantee.rules for name in rule.items]
    return replace(guarantee, reading=row_items(table, None, named, owner="check"))


def _not_shown(part: Guarantee | None, data: Table, hidden: tuple[str, ...], *, is_named: bool) -> str:
    """Return why the rows of a table cannot show a guarantee; empty where they can."""
    if isinstance(part, PerUnit) and data.schema.person is None:
        return _UNITS_GONE
    if part is not None and part.not_shown and not is_named:
        return part.not_shown
    inner = part.guarantee if isinstance(part, PerUnit) else part
    if not isinstance(inner, TCloseness) or inner.distance not in ("ordered", "hierarchical"):
        return ""
    return _TREE_GONE if set(hidden) & set(inner.columns(data.schema.sensitive)) else ""


def _partly(part: Guarantee | None, data: Table, reason: str) -> Iterator[Verdict]:
    """Judge what rows show of a guarantee: a class of too few rows, or values, has too few units as well."""
    if part is None or not reason:
        if part is not None:
            yield part.check(data)
        return
    if isinstance(part, PerUnit) and isinstance(part.guarantee, KAnonymity | DistinctDiversity):
        by_rows = part.guarantee.check(data)
        yield replace(by_rows, guarantee=f"{part.guarantee!r} by rows")
    if isinstance(part, SampledPrivacy):
        yield KAnonymity(part.smallest).check(data)
    yield claimed(repr(part))
