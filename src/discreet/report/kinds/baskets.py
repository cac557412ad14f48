"""Published baskets: files, reading back, figures and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import InputError
from discreet.core.release import Release
from discreet.engines.baskets.published import FORMATS, read_published, write_published
from discreet.measure import basket_risk
from discreet.report.blocks import Block
from discreet.report.sections import basket_risk as risks
from discreet.report.sections import baskets, provenance
from discreet.report.sections.guarantee import guarantee


class BasketKind:
    """Released baskets: groups with sensitive counts, or plain baskets of generalized items."""

    formats: ClassVar[tuple[str, ...]] = FORMATS

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
        """Return the number of baskets, and which were left out."""
        evidence = release.evidence
        counts = {"in": evidence.n_rows, "out": len(release.data), "suppressed": evidence.suppressed}
        why = {"left_out": baskets.LEFT_OUT} if baskets.leaves_out(release) else {}
        return {"baskets": counts} | why

    def measures(self, release: Release) -> dict[str, Any]:
        """Return the risk before and after, and the loss where items were generalized."""
        loss = release.evidence.details.get("loss")
        found = basket_risk(release, known=risks.KNOWN, n_samples=risks.SAMPLES)
        return {"risk": found.to_dict(), **({} if loss is None else {"loss": loss})}

    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the sections of the report."""
        return [
            guarantee(release.guarantee, release.verdict, checked=baskets.checked(release)),
            baskets.summary(release, internal=internal),
            *baskets.grouped_sections(release, internal=internal),
            risks.risk(release) if internal else risks.risk_left(release),
            provenance.method(release, internal=internal),
            baskets.how_to_count() if isinstance(release.data, GroupedBaskets) else None,
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
