"""Synthetic data: rows drawn from a model of noisy counts, differentially private whatever else is known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from discreet.core.figures import Caution
from discreet.core.registry import Method
from discreet.core.release import Release
from discreet.core.schema import Column
from discreet.kinds.drawn.pseudo_data import PrivatePseudoFigures, PseudoKind
from discreet.kinds.kind import Line
from discreet.kinds.wording import number, percent
from discreet.measure import PairFidelity, pair_fidelity

if TYPE_CHECKING:
    from discreet.kinds.blocks import Block
    from discreet.kinds.wording import About

_LARGE = math.log(9)
"""The epsilon above which even odds may become nine in ten."""


class PrivateSyntheticFigures(PrivatePseudoFigures):
    """How like the original the rows are, by columns and by pairs of columns, and how many are copies by chance."""

    @cached_property
    def pairs(self) -> PairFidelity:
        """How far the counts of pairs of columns are from the original's."""
        return pair_fidelity(self.release)

    def to_dict(self) -> dict[str, Any]:
        """Return what compares with the original."""
        return super().to_dict() | {"pairs": self.pairs.to_dict()}


class SyntheticKind(PseudoKind):
    """Rows of a model: nobody's, and judged by what the counts that the model was fitted to cost."""

    name = "synthetic-data"
    title = "Synthetic rows"
    private_half = PrivateSyntheticFigures
    not_for_rows = "synthetic data, which is drawn from a model of a whole table"
    basis = "from what each measurement of the original cost"

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about parameters under which the guarantee says little."""
        del public, private
        guarantee: Any = release.guarantee
        if guarantee.epsilon > _LARGE:
            yield Caution(
                "large-epsilon",
                f"An epsilon of {guarantee.epsilon:g} hides little: the release may make a value as good as known.",
            )
        n_rows = release.evidence.n_rows
        if guarantee.delta * n_rows > 1:
            yield Caution(
                "large-delta",
                f"With a delta of {guarantee.delta:g} the promise may fail for one of {n_rows:,} rows; take one far "
                f"below 1/{n_rows:,}.",
            )

    def blocks(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        """Return the sections of the report."""
        from discreet.kinds.blocks import Tiles
        from discreet.kinds.sections import distributions, provenance, pseudo
        from discreet.kinds.sections.risk import MIN_PEOPLE, guarantee

        counts = release.figures.public.counts
        checked = f"{counts.n_out:,} rows were drawn from a model of noisy counts."
        verdict = guarantee(release.guarantee, release.verdict, checked=checked)
        last = [provenance.columns(release, self.cells), provenance.method(release, internal=internal)]
        tiles = [("Synthetic rows", f"{counts.n_out:,}", f"drawn for {counts.n_in:,} records")]
        if not internal:
            tiles.append(("Columns", f"{len(release.schema):,}", "drawn together from one model"))
            return [verdict, Tiles(tiles), distributions.examples(release), *last]
        private, schema = release.figures.private, release.schema
        measured: Any = release.evidence.details["measured"]
        tiles += [
            ("Measured", f"{len(measured):,}", "sets of columns were counted with noise"),
            (
                "Pairs of columns",
                percent(private.pairs.mean),
                "mean distance to the original; 0% is the same",
            ),
        ]
        names = (*schema.quasi, *schema.sensitive)
        return [
            verdict,
            Tiles(tiles),
            pseudo.distances(private.closeness, private.copies),
            pseudo.moved_columns(private.fidelity),
            distributions.compared_section(release, names, MIN_PEOPLE),
            *last,
        ]

    def cells(self, name: str, column: Column, release: Release, *, internal: bool) -> str:
        """Return what the cells of every column are: drawn."""
        del name, column, release, internal
        return "drawn from a model of noisy counts"

    def terms(self, release: Release) -> Mapping[str, str]:
        """Return the terms of reports on synthetic data."""
        del release
        return {
            "Synthetic row": "a row that was drawn from a model of the table, and belongs to nobody",
            "Differential privacy": "whatever one person's row is, the release is nearly as likely to be what it is",
            "Epsilon, delta": "how nearly, and the probability with which that may fail",
        }

    def rerun(self, release: Release, about: About, method: Method) -> str | None:
        """Return code that draws anew."""
        from discreet.kinds.sections.provenance import constructor, set_parameters, table_code

        parameters = set_parameters(release.recipe.get("parameters", {}), method.parameters(), release)
        return table_code(
            release, about, method, "", constructor(method, repr(release.guarantee), parameters)
        )

    def outcome(self, release: Release) -> dict[str, Any]:
        """Return the rows, and how like the original they are."""
        private = release.figures.private
        return {
            "rows": release.figures.public.counts.to_dict(),
            "fidelity": private.fidelity.to_dict(),
            "pairs": private.pairs.to_dict(),
            "copies": private.copies.to_dict(),
        }

    def lines(self, release: Release) -> list[Line]:
        """Return the guarantee in words, the rows, and how like the original they are."""
        counts, private = release.figures.public.counts, release.figures.private
        measured: Any = release.evidence.details["measured"]
        pairs, largest = private.pairs, private.fidelity.largest_distance
        by_chance = percent(pairs.by_chance)
        return [
            ("", release.guarantee.describe()),
            ("", self.basis),
            ("rows", f"{counts.n_in:,} records, {counts.n_out:,} synthetic rows"),
            ("measured", f"{len(measured):,} sets of columns, with noise"),
            ("columns", f"off by {percent(largest)} at the most (0% is the same)"),
            ("pairs", f"off by {percent(pairs.mean)} on average; halves of the original are by {by_chance}"),
            (
                "alike",
                f"covariance compatibility {number(private.fidelity.covariance_compatibility)} (1 is best)",
            ),
        ]
