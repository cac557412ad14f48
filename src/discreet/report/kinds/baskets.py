"""Published baskets: files, reading back, figures and reports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from discreet.core.arrays import FloatArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import InputError
from discreet.core.figures import Caution, PrivateFigures, PublicFigures
from discreet.core.release import Release
from discreet.engines.baskets.published import FORMATS, read_published, write_published
from discreet.measure import BasketRisk, Reidentification, SensitiveTie, reidentification, sensitive_tie
from discreet.measure.release_cautions import basket_cautions
from discreet.report.basket_pictures import page_grids
from discreet.report.blocks import Block
from discreet.report.kinds import Kind
from discreet.report.sections import basket_risk as risks
from discreet.report.sections import baskets, provenance
from discreet.report.sections.guarantee import guarantee

KNOWN = (1, 2, 3)
"""The numbers of items that an attacker may know of a basket."""
SAMPLES = 5_000
_SEED = 1
LEFT_OUT = "baskets without any ordinary item"
"""Which baskets are left out, where some are."""


class PublicBasketFigures(PublicFigures):
    """What published baskets show: how likely a few known items identify one, and what its group then reveals."""

    @property
    def n_released(self) -> int:
        """The number of released baskets."""
        return len(self.release.data)

    @property
    def baskets(self) -> Baskets:
        """The published baskets, without the sensitive counts."""
        data = self.release.data
        baskets: Baskets = data.baskets if isinstance(data, GroupedBaskets) else data
        return baskets

    @property
    def left_out(self) -> str | None:
        """Which baskets are left out since they hold no ordinary item; hiding rules removes others."""
        is_grouped = isinstance(self.release.data, GroupedBaskets)
        return LEFT_OUT if is_grouped and self.release.evidence.suppressed else None

    @cached_property
    def risk(self) -> tuple[Reidentification, ...]:
        """The risk of published baskets, for each number of known items that one reaches."""
        return _risk(self.baskets)

    @cached_property
    def tie(self) -> SensitiveTie | None:
        """How surely an identified basket is tied to a sensitive item."""
        return sensitive_tie(self.release.data)

    @cached_property
    def grids(self) -> tuple[FloatArray, FloatArray] | None:
        """The density of the matrix of baskets and items, in any order and in band order; None for small data."""
        return page_grids(self.baskets)

    def to_dict(self) -> dict[str, Any]:
        """Return the number of baskets, and which were left out."""
        why = {} if self.left_out is None else {"left_out": self.left_out}
        return {"baskets": self.counts.to_dict()} | why


class PrivateBasketFigures(PrivateFigures):
    """The risk before and after, and the loss where items were generalized."""

    def __init__(self, release: Release, public: PublicBasketFigures) -> None:
        super().__init__(release)
        self._public = public

    @cached_property
    def risk(self) -> BasketRisk:
        """The risk before and after."""
        return BasketRisk(_risk(self.release.original), self._public.risk, self._public.tie)

    @property
    def loss(self) -> float | None:
        """The loss of detail, where items were generalized."""
        loss = self.release.evidence.details.get("loss")
        return None if loss is None else float(str(loss))

    def to_dict(self) -> dict[str, Any]:
        """Return the risk before and after, and the loss where items were generalized."""
        return {"risk": self.risk.to_dict(), **({} if self.loss is None else {"loss": self.loss})}


def _risk(baskets: Baskets) -> tuple[Reidentification, ...]:
    """Measure the risk of baskets; what is drawn depends on them alone, so that public figures do."""
    longest = int(baskets.lengths.max(initial=0))
    return tuple(
        reidentification(baskets, r, n_samples=SAMPLES, random_state=_SEED) for r in KNOWN if r <= longest
    )


class BasketKind(Kind):
    """Released baskets: groups with sensitive counts, or plain baskets of generalized items."""

    formats: ClassVar[tuple[str, ...]] = FORMATS

    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the baskets, and the sensitive counts where there are groups."""
        return write_published(release.data, folder, format)

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return the written baskets, where they are the released ones."""
        del format
        try:
            written = read_published(folder)
        except InputError:
            return None
        return written if _same(written, release.data) else None

    def public_figures(self, release: Release) -> PublicFigures:
        """Return what the published baskets show."""
        return PublicBasketFigures(release)

    def private_figures(self, release: Release, public: Any) -> PrivateFigures:
        """Return what compares with the original."""
        return PrivateBasketFigures(release, public)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about the sensitive items of groups, and about how groups were formed."""
        del public, private
        yield from basket_cautions(release)

    def content(self, release: Release, *, internal: bool) -> list[Block | None]:
        """Return the sections of the report."""
        figures = release.figures
        return [
            guarantee(release.guarantee, release.verdict, checked=baskets.checked(release)),
            baskets.summary(release, internal=internal),
            *baskets.grouped_sections(release, internal=internal),
            risks.risk(figures.private.risk)
            if internal
            else risks.risk_left(figures.public.risk, figures.public.tie),
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
