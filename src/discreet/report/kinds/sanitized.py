"""Data in which rules were hidden: its figures and reports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from discreet.core.baskets.baskets import Baskets
from discreet.core.figures import Caution, PrivateFigures, PublicFigures
from discreet.core.release import Release
from discreet.measure.release_cautions import not_anonymous, unlike_others
from discreet.measure.spelling import twins_of_rules
from discreet.measure.tables.table_cautions import other_columns
from discreet.output.hiding import HidingQuality, hiding_quality
from discreet.output.hiding.quality import released_baskets
from discreet.report.blocks import Block
from discreet.report.kinds.baskets import BasketKind, PublicBasketFigures
from discreet.report.kinds.tables import PublicTableFigures, TableKind
from discreet.report.sections import hiding
from discreet.report.sections.distributions import examples


class PublicHidingFigures(PublicBasketFigures):
    """What released baskets show in which rules are hidden."""

    @cached_property
    def baskets(self) -> Baskets:
        """The baskets as far as they are certain: what is published as unknown is not held."""
        return released_baskets(self.release)


class PublicTableHidingFigures(PublicTableFigures):
    """What released rows show in which rules are hidden."""

    @cached_property
    def baskets(self) -> Baskets:
        """The rows as baskets of items."""
        guarantee: Any = self.release.guarantee
        baskets: Baskets = guarantee.reading.baskets(self.release.table)
        return baskets

    def to_dict(self) -> dict[str, Any]:
        """Return the number of rows."""
        return {"rows": self.counts.to_dict()}


class PrivateHidingFigures(PrivateFigures):
    """The rules with their counts before and after, what hiding them cost, and what the method reports."""

    def __init__(self, release: Release, original: Baskets, baskets: Baskets) -> None:
        super().__init__(release)
        self._original, self._baskets = original, baskets

    @cached_property
    def rules(self) -> tuple[hiding.RuleCounts, ...]:
        """The rules with their counts."""
        guarantee: Any = self.release.guarantee
        counts = zip(
            guarantee.rules, guarantee.counts(self._original), guarantee.counts(self._baskets), strict=True
        )
        return tuple(hiding.RuleCounts(*rule) for rule in counts)

    @cached_property
    def quality(self) -> HidingQuality:
        """What hiding cost; the original and the release are each mined once for it."""
        guarantee: Any = self.release.guarantee
        is_table = self.release.kind == "sanitized-table"
        return hiding_quality(self._original, self._baskets if is_table else self.release, guarantee)

    @property
    def details(self) -> dict[str, Any]:
        """What the method reports."""
        return dict(self.release.evidence.details)

    def to_dict(self) -> dict[str, Any]:
        """Return the rules, what hiding them cost, and what the method reports."""
        rules = [
            {"rule": str(rule.rule), "before": rule.before[0], "after": rule.after[0]} for rule in self.rules
        ]
        return {"rules": rules, "quality": self.quality.to_dict(), "details": self.details}


class SanitizedBasketKind(BasketKind):
    """Released baskets in which sensitive rules are hidden."""

    def public_figures(self, release: Release) -> PublicFigures:
        """Return what the baskets show."""
        return PublicHidingFigures(release)

    def private_figures(self, release: Release, public: Any) -> PrivateFigures:
        """Return the rules and what hiding them cost."""
        return PrivateHidingFigures(release, release.original, public.baskets)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about people that stand out, and about items spelled like those of a rule."""
        del public, private
        words = "baskets hold a combination of items that no other holds"
        yield from not_anonymous(unlike_others(release.data), len(release.data), words)
        yield from twins_of_rules(release)

    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the sections of the report; only the internal one names the rules."""
        return [*hiding.content(release, internal=internal)]


class SanitizedTableKind(TableKind):
    """Released tables in which sensitive rules are hidden."""

    def public_figures(self, release: Release) -> PublicFigures:
        """Return what the rows show."""
        return PublicTableHidingFigures(release)

    def private_figures(self, release: Release, public: Any) -> PrivateFigures:
        """Return the rules and what hiding them cost."""
        guarantee: Any = release.guarantee
        return PrivateHidingFigures(release, guarantee.reading.baskets(release.original), public.baskets)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about people that stand out, and about items spelled like those of a rule."""
        del private
        alone = int((release.groups().sizes == 1).sum())
        words = "rows have quasi-identifiers that no other row has"
        yield from not_anonymous(alone, release.table.n_rows, words)
        yield from twins_of_rules(release)
        yield from other_columns(release, public.singling_out)

    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the sections of the report; only the internal one names the rules."""
        blocks = hiding.content(release, internal=internal)
        return [*blocks[:2], examples(release), *blocks[2:]]
