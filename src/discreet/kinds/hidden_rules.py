"""Hidden rules: what `RulesHidden` adds to the figures, the cautions and the report of a table or of baskets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.sensitive_rules import SensitiveRule
from discreet.core.baskets.supports import fingerprints
from discreet.core.figures import Caution, PrivateFigures, PublicFigures
from discreet.core.release import Release
from discreet.core.schema import Column
from discreet.core.tables.table import Table
from discreet.core.verdict import Basis, Verdict
from discreet.kinds.kind import Kind, Line
from discreet.kinds.wording import percent
from discreet.measure.spelling import twins_of_rules
from discreet.measure.tables.table_cautions import other_columns
from discreet.output.hiding import HidingQuality, hiding_quality
from discreet.output.hiding.quality import released_baskets

if TYPE_CHECKING:
    from discreet.core.registry import Method
    from discreet.kinds.blocks import Block
    from discreet.kinds.wording import About
    from discreet.kinds.written import Written

_PRINTED = {
    "lost": "itemsets lost",
    "changed_baskets": "baskets changed",
    "removed_items": "entries deleted",
    "removed_baskets": "baskets left out",
    "added_baskets": "baskets added",
    "unknown_items": "entries unknown",
}
"""What methods report and a command prints, with its label."""


@dataclass(frozen=True)
class RuleCounts:
    """A sensitive rule, and how many baskets hold all of it and its left-hand side, before and after."""

    rule: SensitiveRule
    before: tuple[int, int]
    after: tuple[int, int]


class PublicHidingFigures(PublicFigures):
    """What released data shows in which rules are hidden: its size, and nothing about the rules."""

    def __init__(self, release: Release, records_name: str, of_data: Any) -> None:
        super().__init__(release)
        self._records_name = records_name
        self.data = of_data
        """The public figures of the kind of data itself."""

    @property
    def n_released(self) -> int:
        """The number of released records."""
        n_released: int = self.data.n_released
        return n_released

    @cached_property
    def baskets(self) -> Baskets:
        """The baskets, or the rows as baskets, as far as they are certain: what is published as unknown is not held."""
        if isinstance(self.release.data, Baskets):
            return released_baskets(self.release)
        return _as_baskets(self.release, self.release.table)

    def to_dict(self) -> dict[str, Any]:
        """Return the number of records."""
        return {self._records_name: self.counts.to_dict()}


class PrivateHidingFigures(PrivateFigures):
    """The rules with their counts before and after, what hiding them cost, and what the method reports."""

    @cached_property
    def _original(self) -> Baskets:
        return _as_baskets(self.release, self.release.original)

    @cached_property
    def rules(self) -> tuple[RuleCounts, ...]:
        """The rules with their counts."""
        guarantee: Any = self.release.guarantee
        before, after = guarantee.counts(self._original), guarantee.counts(self.public.baskets)
        return tuple(map(RuleCounts, guarantee.rules, before, after))

    @cached_property
    def quality(self) -> HidingQuality:
        """What hiding cost; the original and the release are each mined once for it."""
        guarantee: Any = self.release.guarantee
        is_baskets = isinstance(self.release.data, Baskets)
        released = self.release if is_baskets else self.public.baskets
        return hiding_quality(self._original, released, guarantee)

    @property
    def details(self) -> dict[str, Any]:
        """What the method reports."""
        return dict(self.release.evidence.details)

    def to_dict(self) -> dict[str, Any]:
        """Return the rules, what hiding them cost, and what the method reports."""
        rules = [
            {"rule": str(counted.rule), "before": counted.before[0], "after": counted.after[0]}
            for counted in self.rules
        ]
        return {"rules": rules, "quality": self.quality.to_dict(), "details": self.details}


class HiddenRules(Kind):
    """What differs where sensitive rules are hidden, whatever kind of data they are hidden in."""

    private_half = PrivateHidingFigures
    basis = "recomputed from the released data by the rules, which only you know; to others it is a claim"

    def verdict_for_others(self, verdict: Verdict) -> Verdict:
        """Return the verdict as a claim, since nobody but the owner has the rules to judge by."""
        return replace(verdict, basis=Basis.CLAIMED)

    def public_figures(self, release: Release) -> PublicFigures:
        """Return what the released data shows."""
        of_data = super().public_figures(release)
        return PublicHidingFigures(release, self.records_name, of_data)

    def why_not_for_rows(self) -> str | None:
        """Return that rules are hidden in all records together."""
        together = f"whether a rule is found depends on all {self.records_name} together"
        return f"{self.title.lower()} with hidden rules: {together}"

    def text_columns(self, written: Written, columns: Mapping[str, Column]) -> tuple[str, ...]:
        """Return the columns that were text when rules were hidden in them, as the owner's folder has them."""
        return tuple(name for name in written.owners.get("text", ()) if name in columns)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about people that stand out, and about items spelled like those of a rule."""
        del private
        if isinstance(release.data, Baskets):
            yield from _not_anonymous(
                _unlike_others(release.data),
                len(release.data),
                "baskets hold a combination of items that no other holds",
            )
            yield from twins_of_rules(release)
            return
        alone = int((release.groups().sizes == 1).sum())
        words = "rows have quasi-identifiers that no other row has"
        yield from _not_anonymous(alone, release.table.n_rows, words)
        yield from _marks_of_hiding(release)
        yield from twins_of_rules(release)
        yield from other_columns(release, public.data.singling_out)

    def blocks(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        """Return the sections of the report; only the internal one names the rules."""
        from discreet.kinds.sections import hiding
        from discreet.kinds.sections.distributions import examples

        figures = release.figures
        verdict = release.verdict if internal else self.verdict_for_others(release.verdict)
        return [
            hiding.verdict(release, verdict, figures.public.baskets),
            hiding.hiding_summary(figures.public.baskets),
            None if isinstance(release.data, Baskets) else examples(release),
            *(hiding.private(release) if internal else []),
            hiding.hiding_method(release, internal=internal),
        ]

    def identifiability(self, release: Release) -> Sequence[Block]:
        """Return nothing: hidden rules are about what data says of everybody, and not about who is in it."""
        del release
        return ()

    def terms(self, release: Release) -> Mapping[str, str]:
        """Return no terms: the report uses none that need words."""
        del release
        return {}

    def rerun(self, release: Release, about: About, method: Method) -> str | None:
        """Return None: the rules are not in the release."""
        del release, about, method
        return None

    def outcome(self, release: Release) -> dict[str, Any]:
        """Return the method, its parameters, and what it reports."""
        recipe = release.recipe
        details = release.figures.private.details
        return {"method": recipe["method"], "parameters": recipe["parameters"], "details": details}

    def lines(self, release: Release) -> list[Line]:
        """Return how many rules are hidden, and what that changed."""
        guarantee: Any = release.guarantee
        details = release.figures.private.details
        hidden = len(guarantee.rules) - details["already_hidden"]
        lines = [
            ("", self.basis),
            ("rules", f"{hidden:,} hidden, {details['already_hidden']:,} not found before"),
        ]
        if details.get("covered"):
            lines.append(("", f"{details['covered']:,} of them hidden with a smaller one"))
        lines += [
            (label, f"{details[name]:,}")
            for name, label in _PRINTED.items()
            if details.get(name) or (name == "lost" and name in details)
        ]
        if "gap" in details:
            bound = f"at least {details['lost_bound']:,} lost, gap {percent(details['gap'])}"
            lines.append(("solver", "optimal" if details["optimal"] else bound))
        return lines


def _as_baskets(release: Release, data: Table | Baskets) -> Baskets:
    """Return baskets as they are, and the rows of a table as the guarantee reads them."""
    guarantee: Any = release.guarantee
    baskets: Baskets = guarantee.reading.baskets(data) if isinstance(data, Table) else data
    return baskets


def _not_anonymous(alone: int, n_records: int, words: str) -> Iterator[Caution]:
    """Caution that hiding rules protects the owner's knowledge and not people, where somebody stands out."""
    if alone:
        yield Caution(
            "not-anonymous",
            f"{alone:,} of {n_records:,} {words}: hiding rules does not keep people from being found again. Anonymize "
            "the data first, where it is about people.",
        )


def _marks_of_hiding(release: Release) -> Iterator[Caution]:
    """Caution that changed cells point at the rule: all of them stand in rows that hold the rest of it."""
    table = release.table
    n_null = sum(
        column.null_count
        for column in table.source.columns((*table.schema.quasi, *table.schema.sensitive)).values()
    )
    is_coarser = release.recipe.get("parameters", {}).get("cells") == "coarser"
    if n_null or is_coarser:
        cells = "coarser than others" if is_coarser else "null"
        yield Caution(
            "marks-of-hiding",
            f"Cells are {cells} where a rule was hidden. Whoever compares the rows that have such cells can often read "
            "the rule from them and put the values back. Hide rules in baskets of items instead, or leave the columns "
            "of the rule out.",
        )


def _unlike_others(baskets: Baskets) -> int:
    """Return how many baskets hold a combination of items that no other basket holds."""
    return int((np.unique(fingerprints(baskets), return_counts=True)[1] == 1).sum())


def appends_baskets(record: Mapping[str, Any]) -> bool:
    """Return whether rules were hidden by appending synthetic baskets, so that more are released than came in."""
    return bool(record["guarantee"].get("guarantee") == "RulesHidden") and (
        record.get("parameters", {}).get("formulation") == "hybrid"
    )
