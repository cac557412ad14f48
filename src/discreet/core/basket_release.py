"""BasketRelease: published baskets, with the promise, the verdict, the evidence and the recipe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from discreet.core.arrays import FloatArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import InputError
from discreet.core.release import Evidence, Promise, shown, write_kept
from discreet.core.verdict import Verdict


@dataclass(frozen=True, repr=False, eq=False)
class BasketRelease:
    """What leaves the building when baskets are published.

    ``data`` is all that is published: groups with their ordinary baskets and sensitive counts, or plain baskets whose
    items were generalized. ``verdict`` is recomputed from it alone. ``recipe`` tells how it was made.
    """

    data: GroupedBaskets | Baskets
    guarantee: Promise
    evidence: Evidence
    recipe: Mapping[str, Any]
    original: Baskets

    @cached_property
    def verdict(self) -> Verdict:
        """The judgment of the released data alone."""
        return self.guarantee.check(self.data)

    @property
    def grouped(self) -> GroupedBaskets:
        """The released groups, where there are any."""
        if isinstance(self.data, GroupedBaskets):
            return self.data
        raise InputError("This release has no groups and no sensitive counts; look at its baskets instead.")

    def count(
        self, sensitive: Any, with_items: Iterable[Any] = (), without_items: Iterable[Any] = ()
    ) -> float:
        """Estimate how many baskets hold a sensitive item, some ordinary items and not some others."""
        return self.grouped.count(sensitive, with_items, without_items)

    def cells(self, sensitive: Any, items: Iterable[Any]) -> FloatArray:
        """Estimate the count in each of the 2^r cells that r ordinary items make."""
        return self.grouped.cells(sensitive, items)

    def write(
        self,
        folder: str | Path,
        *,
        format: Literal["csv", "tsv", "parquet", "arrow"] = "csv",  # noqa: A002
        report: bool = True,
        overwrite: bool = False,
    ) -> Path:
        """Write the baskets, the sensitive counts, the recipe and the report into a new folder, all or nothing.

        A release whose verdict is not ok is refused.
        """
        return write_kept(
            self, "write basket release", folder, format=format, report=report, overwrite=overwrite
        )

    def __repr__(self) -> str:
        return shown("BasketRelease", self, self.data)
