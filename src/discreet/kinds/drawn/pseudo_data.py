"""Pseudo-data: rows that are drawn from statistics of groups of people, and belong to nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.core.figures import Caution, PrivateFigures, PublicFigures
from discreet.core.guarantee import Guarantee
from discreet.core.registry import Method
from discreet.core.release import Release
from discreet.core.schema import Column
from discreet.core.tables.encoding import ColumnType
from discreet.core.tables.table import Table
from discreet.core.verdict import Basis
from discreet.kinds.kind import KEPT_EVIDENCE, Line
from discreet.kinds.tables import PublicTableFigures, TableKind
from discreet.kinds.wording import number, quoted_list, span
from discreet.measure import Closeness, Copies, Fidelity, closeness, copies, fidelity
from discreet.measure.tables.table_cautions import single_values

if TYPE_CHECKING:
    from discreet.kinds.blocks import Block
    from discreet.kinds.judging import Judgment
    from discreet.kinds.wording import About
    from discreet.kinds.written import Written

RARE = 50
"""The most rows of a category that counts as rare."""
RARE_SHARE = 0.05
"""The least share of rows with rare categories for a caution about them."""
ASSUMED = (
    "it is assumed, and nothing can show it: a group that was divided may be smaller than a level in it, and the "
    "record may be in either half"
)
"""Why nobody can recompute a guarantee by the mean level."""
GAIN = 0.1
"""How much better than the commonest value a guess must be for a caution."""
FEW_VALUES = 20
"""Up to this number of values, that a person does not have one of them says something about the others."""


class PublicPseudoFigures(PublicTableFigures):
    """What drawn rows show: how many there are, and whom columns single out."""

    def to_dict(self) -> dict[str, Any]:
        """Return the number of rows."""
        return {"rows": self.counts.to_dict()}


class PrivatePseudoFigures(PrivateFigures):
    """How like the original the rows are, how near they come to people, and how many are copies."""

    @cached_property
    def fidelity(self) -> Fidelity:
        """How like the original the rows are."""
        return fidelity(self.release)

    @cached_property
    def closeness(self) -> Closeness:
        """How near the rows come to people."""
        return closeness(self.release)

    @cached_property
    def copies(self) -> Copies:
        """How many rows equal a record."""
        return copies(self.release)

    def to_dict(self) -> dict[str, Any]:
        """Return what compares with the original."""
        return {
            "fidelity": self.fidelity.to_dict(),
            "closeness": self.closeness.to_dict(),
            "copies": self.copies.to_dict(),
        }


class PseudoKind(TableKind):
    """Drawn rows: there are no classes of people to be judged, but groups whose sizes were kept."""

    assumption: ClassVar[str] = ASSUMED
    """Why nobody can recompute a guarantee that is assumed."""

    name = "pseudo-data"
    section = None
    title = "Pseudo-records"
    public_half: ClassVar[type[PublicFigures]] = PublicPseudoFigures
    private_half: ClassVar[type[PrivateFigures]] = PrivatePseudoFigures
    not_for_rows = "pseudo-data, which is drawn anew from a whole table"
    basis = "from the sizes and levels of the groups"
    by_evidence = True
    draws_records = True

    def subject(self, release: Release) -> Any:
        """Return the release: only its evidence can judge it."""
        return release

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return the release itself, where all rows were written: only its evidence can judge them."""
        return None if super().read_back(release, folder, format) is None else release

    def text_columns(self, written: Written, columns: Mapping[str, Column]) -> tuple[str, ...]:
        """Return nothing: drawn rows hold no labels."""
        del written, columns
        return ()

    def judge_written(
        self, written: Written, data: Any, guarantee: Guarantee | None, *, is_named: bool
    ) -> Judgment:
        """Return what release.json states: the rows cannot show it."""
        from discreet.kinds.judging import Judgment

        del guarantee, is_named
        is_assumed = written.record["verdict"].get("basis") == Basis.ASSUMED.value
        why = self.assumption if is_assumed else KEPT_EVIDENCE
        return Judgment({"rows": data.n_rows}, written.claims(), why=why)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about copies of people and about categories that reveal; a stream's records are gone."""
        del public
        if private is not None:
            yield from _copied_records(private.copies)
        yield from single_values(release)
        yield from _identifying_categories(release)
        yield from _compared_columns(release)
        yield from _own_levels(release)
        yield from _classes_apart(release)
        yield from seeded_noise(release)

    def blocks(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        """Return the sections of the report; the original of a stream is gone, so nothing is compared with it."""
        from discreet.kinds.blocks import Tiles
        from discreet.kinds.sections import distributions, provenance, pseudo
        from discreet.kinds.sections.risk import guarantee

        counts = release.figures.public.counts
        checked = f"{counts.n_out:,} rows were drawn. {_about_copies(release)}"
        verdict = guarantee(release.guarantee, release.verdict, checked=checked)
        last = [provenance.columns(release, self.cells), provenance.method(release, internal=internal)]
        if internal and release.original is not None:
            return [verdict, *pseudo.compared_statistics(release), *last]
        tiles = Tiles([
            ("Pseudo-records", f"{counts.n_out:,}", f"drawn for {counts.n_in:,} records"),
            ("Columns", f"{len(release.schema):,}", "drawn together, group by group"),
        ])  # fmt: skip
        return [verdict, tiles, distributions.examples(release), *last]

    def cells(self, name: str, column: Column, release: Release, *, internal: bool) -> str:
        """Return what the cells of every column are: drawn."""
        del name, column, release, internal
        return "drawn from statistics of groups"

    def terms(self, release: Release) -> Mapping[str, str]:
        """Return the terms of reports on pseudo-data."""
        del release
        return {
            "Pseudo-record": "a row that was drawn from the statistics of a group of people, and belongs to nobody",
            "Group": "people whose records were condensed into means and covariances",
            "Privacy level": "the least number of people in the group of a person",
        }

    def rerun(self, release: Release, about: About, method: Method) -> str | None:
        """Return code that condenses the table again; levels that stood apart, and a stream's records, are gone."""
        from discreet.kinds.sections.provenance import constructor, set_parameters, table_code

        parameters = {**release.recipe.get("parameters", {})}
        k = parameters.pop("k", None)
        if release.original is None or k is None or k == "given apart":
            return None
        call = constructor(method, repr(k), set_parameters(parameters, method.parameters(), release))
        return table_code(release, about, method, "", call)

    def outcome(self, release: Release) -> dict[str, Any]:
        """Return the rows, the groups, how like the original the rows are, and how many are copies."""
        private = release.figures.private
        return {
            "rows": release.figures.public.counts.to_dict(),
            "groups": int(release.evidence.sizes.size),
            "fidelity": private.fidelity.to_dict(),
            "copies": private.copies.to_dict(),
        }

    def lines(self, release: Release) -> list[Line]:
        """Return the guarantee in words, the rows, the groups, how like the original the rows are, and the copies."""
        counts, private, sizes = (
            release.figures.public.counts,
            release.figures.private,
            release.evidence.sizes,
        )
        besides = f", {counts.suppressed:,} left out as copies of one person" if counts.suppressed else ""
        compatibility = private.fidelity.covariance_compatibility
        equal, unique = private.copies.equal, private.copies.unique
        return [
            ("", release.guarantee.describe()),
            ("", self.basis),
            ("rows", f"{counts.n_in:,} records, {counts.n_out:,} pseudo-records{besides}"),
            ("groups", f"{sizes.size:,}, of {span(int(sizes.min()), int(sizes.max()))} records"),
            ("alike", f"covariance compatibility {number(compatibility)} (1 is best)"),
            ("copies", f"{equal:,} rows equal a record, {unique:,} of them one that is unique"),
        ]


def _copied_records(copies: Copies) -> Iterator[Caution]:
    """Count pseudo-records that equal a record that nobody else has."""
    if not max(copies.unique, copies.singled_out):
        return
    text = f"{copies.unique:,} of {copies.n_rows:,} released rows equal a record that is unique in the original. "
    if copies.singled_out:
        text += (
            f"{copies.singled_out:,} rows have the quasi-identifiers of one person alone, and whoever knows the person "
            "may take them for theirs. avoid_copies=True draws such rows again, but for records of level 1."
        )
    else:
        text += "None has the quasi-identifiers of one person alone: several people share them."
    yield Caution("copies", text, public=False)


def _identifying_categories(release: Release) -> Iterator[Caution]:
    """Find categories by which sensitive values of pseudo-records are guessed, from the released rows alone.

    Pseudo-records of a group keep its categories. Where few groups have a category, such as a ZIP code, its rows show
    the sensitive value of those groups. Only rows of rare categories are looked at: what holds for common ones is known
    of many people. A row is guessed by the others with the same category.
    """
    table = release.table
    for secret in table.schema.sensitive:
        if table.encoded[secret].kind is not ColumnType.CATEGORY or len(table.encoded[secret].values) < 2:
            continue
        usual = float(table.overall(secret).max()) / table.n_rows
        for name in table.schema.quasi:
            if table.encoded[name].kind is not ColumnType.CATEGORY:
                continue
            n_rare, right = _guessed(table, name, secret)
            if n_rare >= RARE_SHARE * table.n_rows and right > usual + GAIN:
                yield Caution(
                    "telling-category",
                    f"By a rare value of '{name}' one guesses '{secret}' rightly for {right:.0%} of {n_rare:,} rows; "
                    f"the commonest value alone is right for {usual:.0%}. Coarsen '{name}', or drop it.",
                )


def seeded_noise(release: Release) -> Iterator[Caution]:
    """Find releases whose noise can be drawn again: with the seed, what it hides follows from the released rows."""
    if release.recipe.get("seed") is not None:
        yield Caution(
            "seeded",
            "What is random here was drawn by a seed. Whoever knows or guesses it draws the same, takes it off and is "
            "left with the records or their statistics. Use no seed for data about people.",
        )


def _own_levels(release: Release) -> Iterator[Caution]:
    """Find releases in which a row of one person's shows the level that they set: a function of the parameters."""
    parameters = release.recipe.get("parameters", {})
    k = parameters.get("k")
    if parameters.get("avoid_copies") and k is not None and not isinstance(k, int):
        yield Caution(
            "levels-show",
            "Each record has a level of its own. Copies of people are avoided but for those of level 1, so whoever "
            "finds a person's quasi-identifiers that nobody shares learns that the person set level 1. What can be "
            "drawn, and how many rows are left out, follows from the other levels too. Where levels, or what they "
            "were chosen by, must not be known, take one level for all.",
        )


def _classes_apart(release: Release) -> Iterator[Caution]:
    """Find releases in which what is drawn and left out depends on a label: a function of the parameters."""
    parameters = release.recipe.get("parameters", {})
    label = parameters.get("label")
    if parameters.get("avoid_copies") and label is not None:
        yield Caution(
            "label-shows",
            f"Each value of '{label}' is condensed apart, so what can be drawn without copying people, and how many "
            f"rows are left out, depends on who has which. Whoever knows '{label}' of all others may learn a person's. "
            f"Where it must not be learned, mark '{label}' as sensitive and take no label.",
        )


def _compared_columns(release: Release) -> Iterator[Caution]:
    """Find columns that rows were compared by although nothing is marked sensitive: a function of the release alone.

    Rows with the quasi-identifiers of one person are drawn again. So whoever knows all of these but one, and sees a row
    with a value of the last, knows that it is not that person's; of two values the other one is.
    """
    parameters = release.recipe.get("parameters", {})
    schema = release.table.schema
    if schema.sensitive or not parameters.get("avoid_copies"):
        return
    few = [
        name
        for name in schema.quasi
        if name != parameters.get("label") and 2 <= len(release.table.encoded[name].values) <= FEW_VALUES
    ]
    if few and len(schema.quasi) > 1:
        yield Caution(
            "compared-columns",
            "No column is sensitive, so released rows were compared with people by all columns, and a row shows what a "
            f"person who is known by the other columns does not have; {quoted_list(few)} "
            f"{'has' if len(few) == 1 else 'have'} few values. Mark what must not be learned as sensitive.",
        )


def _guessed(table: Table, name: str, secret: str) -> tuple[int, float]:
    """Count the rows with a rare category, and the share of them whose value the others of the category have most."""
    width = table.encoded[secret].n_codes
    keys = table.codes(name).astype(np.int64) * width + table.codes(secret)
    cell_counts = np.bincount(
        keys, weights=table.tuples.counts, minlength=table.encoded[name].n_codes * width
    )
    counts = cell_counts.reshape(-1, width)
    sizes = counts.sum(axis=1)
    # A row alone in its category has no others to be guessed by.
    rare = (sizes > 1) & (sizes <= RARE)
    counts = counts[rare]
    if not counts.size:
        return 0, 0.0
    best = counts.max(axis=1)
    second = np.sort(counts, axis=1)[:, -2]
    # Without the row itself its value has one less; at a tie half of the guesses are right.
    right = np.where(best > second, np.where(best - 1 > second, best, best / 2), 0.0)
    return int(counts.sum()), float(right.sum() / counts.sum())


def _about_copies(release: Release) -> str:
    """Return what was done about copies of single people; a function of the parameters and counts alone."""
    parameters = release.recipe.get("parameters", {})
    if "avoid_copies" not in parameters:
        return "The records of a stream are gone, so copies of them could not be counted."
    if not parameters["avoid_copies"]:
        return "Rows that equal a record were not avoided."
    suppressed = release.evidence.suppressed
    also = f"; {suppressed:,} of them were suppressed instead" if suppressed else ""
    text = f"Rows with the quasi-identifiers of a single person were drawn again{also}."
    if parameters.get("k") is None or isinstance(parameters["k"], int):
        return text
    return (
        f"{text} People who set the level 1 for themselves are not avoided: a row that shows one person's "
        "quasi-identifiers may be their record, and shows that they did."
    )
