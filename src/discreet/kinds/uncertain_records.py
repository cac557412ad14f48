"""Uncertain records: a probability distribution for every record, as a center and a spread in each column."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.core.figures import Caution, PrivateFigures
from discreet.core.records.uncertain_points import SUFFIX, UncertainPoints
from discreet.core.release import Release
from discreet.core.schema import Column, other
from discreet.core.tables.table import Table
from discreet.guarantees.expected_anonymity import ANONYMITY
from discreet.kinds.drawn.pseudo_data import PseudoKind, seeded_noise
from discreet.kinds.kind import Line
from discreet.kinds.tables import PublicTableFigures
from discreet.kinds.wording import number, percent
from discreet.measure import LikelihoodRanks, likelihood_ranks
from discreet.measure.tables.table_cautions import single_values

if TYPE_CHECKING:
    from discreet.kinds.blocks import Block
    from discreet.kinds.written import Written

WIDE = 2.0
"""A spread above so many standard deviations of the published centers' columns says hardly anything of a record."""


class PublicUncertainFigures(PublicTableFigures):
    """What the published distributions show: how many there are, and how many records share a spread."""

    @cached_property
    def sharing(self) -> np.ndarray[Any, Any]:
        """The number of records in each class of published spread and label."""
        return np.bincount(UncertainPoints.of(self.release).classes)

    def to_dict(self) -> dict[str, Any]:
        """Return the number of rows."""
        return {"rows": self.counts.to_dict()}


class PrivateUncertainFigures(PrivateFigures):
    """How many original records explain a published one, and how wide spreads are."""

    @cached_property
    def ranks(self) -> LikelihoodRanks:
        """At which rank an attacker with all records finds the true one, in this draw."""
        return likelihood_ranks(self.release)

    @cached_property
    def widths(self) -> np.ndarray[Any, Any]:
        """The spread of every record, in standard deviations of the original's first column."""
        published = UncertainPoints.of(self.release)
        column = self.release.original.source.columns(published.names[:1])[published.names[0]]
        # Each column has the same spread in its own unit, so that the first will do.
        return np.asarray(published.spreads[:, 0] / column.to_numpy().astype(np.float64).std())

    def to_dict(self) -> dict[str, Any]:
        """Return the ranks, the least anonymity and the median spread."""
        return {
            "ranks": self.ranks.to_dict(),
            "least_anonymity": float(self.release.evidence.arrays[ANONYMITY].min()),
            "median_spread": float(np.median(self.widths)),
        }


class UncertainKind(PseudoKind):
    """Distributions of records: like pseudo-data they are judged by kept evidence, but each is one person's."""

    assumption: ClassVar[str] = (
        "it is assumed that nobody works out the spreads of the original records: whoever has these records and does, "
        "finds nearly every one again"
    )

    name = "uncertain-records"
    title = "Uncertain records"
    public_half = PublicUncertainFigures
    private_half = PrivateUncertainFigures
    not_for_rows = "uncertain records, whose spreads are found in a whole table"
    basis = "from the expected anonymity of each record, as it was calibrated"
    draws_records = False

    def read_released(self, written: Written, *, texts: bool) -> Any:
        """Return the rows of a folder as a table; spreads have no role of their own."""
        del texts
        frame = written.frame("data", ())
        roles = dict.fromkeys(frame.columns, other()) | written.columns()
        return Table(frame, {name: roles[name] for name in frame.columns})

    def columns(self, data: Any) -> tuple[set[str], set[str]] | None:
        """Return the names of the columns that were read, and of the spreads, which the method made."""
        names = set(data.source.names)
        return names, {name for name in names if _is_spread(name, names)}

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return what spreads show, and how many records are spread so wide that little is left of them."""
        yield from single_values(release)
        yield from _shown_by_spreads(release, public.sharing)
        yield from seeded_noise(release)
        if private is not None:
            n_wide = int((private.widths > WIDE).sum())
            if n_wide:
                yield Caution(
                    "wide-spreads",
                    f"{n_wide:,} of {len(private.widths):,} records are spread over more than {WIDE:g} standard "
                    "deviations: hardly anything is left of them. A smaller k, or leaving isolated records out, helps.",
                    public=False,
                )

    def blocks(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        """Return the sections of the report."""
        from discreet.kinds.blocks import Section, TableBlock, Tiles
        from discreet.kinds.sections import distributions, provenance
        from discreet.kinds.sections.risk import guarantee

        public = release.figures.public
        counts, sharing = public.counts, public.sharing
        verdict = guarantee(
            release.guarantee, release.verdict, checked=f"{counts.n_out:,} records were judged."
        )
        tiles = Tiles([
            ("Uncertain records", f"{counts.n_out:,}", f"of {counts.n_in:,} records"),
            ("Classes", f"{sharing.size:,}", f"of one spread and label; {int(sharing.min()):,} records or more"),
        ])  # fmt: skip
        last = [provenance.columns(release, self.cells), provenance.method(release, internal=internal)]
        if not internal or release.original is None:
            return [verdict, tiles, distributions.examples(release), *last]
        attack = Section(
            "attack",
            "Attack with all original records",
            "How many original records explain a published one at least as well as the true one, itself included, in "
            f"this draw; of {release.figures.private.ranks.n_looked_at:,} published records.",
            [TableBlock(("Measure", "Value"), _ranked(release.figures.private.ranks), "Likelihood ranks")],
        )
        return [verdict, tiles, attack, *last]

    def cells(self, name: str, column: Column, release: Release, *, internal: bool) -> str:
        """Return what the cells of a column are: centers, spreads, or exact."""
        del column, internal
        if _is_spread(name, release.schema):
            return "how wide the distribution of each value is"
        return "exact" if name == release.recipe["parameters"]["label"] else "the center of a distribution"

    def terms(self, release: Release) -> Mapping[str, str]:
        """Return the terms of reports on uncertain records."""
        spread = release.recipe["parameters"]["spread"]
        width = "the standard deviation" if spread == "gaussian" else "the side of the cube"
        return {
            "Uncertain record": "a record as a probability distribution, around the true record with noise added",
            "Spread": f"{width} of a distribution, in the unit of the column",
            "Expected anonymity": "how many original records, on average over the noise, explain a published record at "
            "least as well as the true one",
        }

    def outcome(self, release: Release) -> dict[str, Any]:
        """Return the rows, and what compares with the original."""
        return {"rows": release.figures.public.counts.to_dict(), **release.figures.private.to_dict()}

    def lines(self, release: Release) -> list[Line]:
        """Return the guarantee in words, the rows, the spreads and what an attack finds."""
        public, private = release.figures.public, release.figures.private
        ranks = private.ranks
        return [
            ("", release.guarantee.describe()),
            ("", self.basis),
            ("rows", f"{public.counts.n_out:,} records as distributions"),
            (
                "classes",
                f"{public.sharing.size:,} of one spread and label, of {public.sharing.min():,} records or more",
            ),
            ("spreads", f"{number(float(np.median(private.widths)))} standard deviations at the median"),
            ("attack", _attacked(ranks)),
        ]


def _is_spread(name: str, names: Container[str]) -> bool:
    return name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in names


def _shown_by_spreads(release: Release, sharing: np.ndarray[Any, Any]) -> Iterator[Caution]:
    """Say what the published spreads show of records."""
    alone = int((sharing == 1).sum())
    if release.guarantee.to_dict().get("attacker") == "naive":
        yield Caution(
            "own-spreads",
            f"{alone:,} of {int(sharing.sum()):,} records have a spread that no other has. Whoever has the original "
            "records can compute the spread of each, and finds these at once. Only attackers who do not are "
            "covered: share spreads where others have the originals.",
        )
    if sharing.size > 1:
        yield Caution(
            "isolated-records",
            "A wide spread shows that a record has few others near it, and a narrow one that it has many. Leave "
            "isolated records out where that must not be seen.",
        )


def _attacked(ranks: LikelihoodRanks) -> str:
    rank, share = number(ranks.same_spread_mean), percent(ranks.same_spread_first)
    return (
        f"by all records, the true one has rank {rank} on average in its class, and comes first for {share}"
    )


def _ranked(ranks: LikelihoodRanks) -> list[tuple[str, str]]:
    return [
        ("Mean rank of the true record among all", number(ranks.mean)),
        ("Median rank", number(ranks.median)),
        ("True record comes first, alone", percent(ranks.first)),
        ("Mean rank among those of the same spread and label", number(ranks.same_spread_mean)),
        ("Median rank among them", number(ranks.same_spread_median)),
        ("True record comes first among them", percent(ranks.same_spread_first)),
    ]
