"""Published baskets: files, reading back, figures and reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import InputError
from discreet.core.release import Release
from discreet.engines.baskets.published import FORMATS, read_published, write_published
from discreet.measure import basket_risk
from discreet.report import basket_sections, baskets, provenance, sections
from discreet.report.figures import Figures
from discreet.report.markup import Markup


class BasketKind:
    """Released baskets: groups with sensitive counts, or plain baskets of generalized items."""

    formats: ClassVar[tuple[str, ...]] = FORMATS
    sections: ClassVar[Sequence[tuple[str, str]]] = (
        ("promise", "Guarantee"),
        ("cautions", "Cautions"),
        ("groups", "Groups"),
        ("sensitive", "Sensitive items"),
        ("losses", "Losses"),
        ("matrix", "Matrix"),
        ("queries", "Estimates"),
        ("items", "Items"),
        ("risk", "Risk"),
        ("method", "Method"),
    )

    def write(self, release: Release, place: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the baskets, and the sensitive counts where there are groups."""
        return write_published(release.data, place, format)

    def read_back(self, release: Release, place: Path, format: str) -> Any:  # noqa: A002
        """Return the written baskets, where they are the released ones."""
        del format
        try:
            found = read_published(place)
        except InputError:
            return None
        return found if _same(found, release.data) else None

    def summary(self, release: Release) -> dict[str, Any]:
        """Return the number of baskets."""
        evidence = release.evidence
        counts = {"in": evidence.n_rows, "out": len(release.data), "suppressed": evidence.suppressed}
        return {"baskets": counts}

    def measures(self, release: Release) -> dict[str, Any]:
        """Return the risk before and after, and the loss where items were generalized."""
        loss = release.evidence.details.get("loss")
        found = basket_risk(release, known=basket_sections.KNOWN, n_samples=basket_sections.SAMPLES)
        return {"risk": found.to_dict(), **({} if loss is None else {"loss": loss})}

    def content(self, release: Release, figures: Figures, *, internal: bool) -> list[Markup]:
        """Return the sections of the report."""
        return [
            sections.promise(release.guarantee, release.verdict, seen=baskets.seen(release)),
            baskets.summary(release, internal=internal),
            *baskets.grouped_sections(release, figures, internal=internal),
            basket_sections.risk(release) if internal else basket_sections.risk_left(release),
            provenance.method(release, internal=internal),
            *([baskets.how_to_count()] if isinstance(release.data, GroupedBaskets) else []),
        ]


def _same(found: GroupedBaskets | Baskets, data: GroupedBaskets | Baskets) -> bool:
    """Return whether baskets were read as they were written; items that nobody holds are not in the files."""
    if isinstance(found, GroupedBaskets) and isinstance(data, GroupedBaskets):
        return (
            _same(found.baskets, data.baskets)
            and bool((found.group == data.group).all())
            and _totals(found) == _totals(data)
        )
    if isinstance(found, Baskets) and isinstance(data, Baskets):
        if len(found) != len(data) or (found.lengths != data.lengths).any():
            return False
        names = data.names.take(data.items)
        return bool(found.names.take(found.items).cast(names.type).equals(names))
    return False


def _totals(data: GroupedBaskets) -> tuple[list[int], list[Any], list[int]]:
    held = data.sensitive
    return held.indptr.tolist(), data.sensitive_names.take(held.values).to_pylist(), held.counts.tolist()
