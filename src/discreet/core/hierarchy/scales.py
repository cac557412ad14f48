"""Scales: hierarchies over values with a known order, whichever of them occur; no value is named on the way up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.hierarchy import bands, words
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec, arrange, domain_of
from discreet.core.params import OneOf, require
from discreet.core.tables.labels import STAR, texts

BANDS = "bands"
NAMES = (BANDS, *words.SCALES)
"""The names of all scales."""


@public
def scale(name: str) -> Scale:
    """Make the hierarchy of a scale that is known by name, its values in their order.

    Parameters
    ----------
    name : str
        ``"bands"`` for texts such as ``[0-10)``, ``18-24`` or ``65+``; ``"education"``, ``"marital"``,
        ``"countries"``, ``"months"``, ``"weekdays"``, ``"sizes"``, ``"heights"``, or answers: ``"agreement"``,
        ``"satisfaction"``, ``"frequency"``, ``"quality"``, ``"severity"``, ``"likelihood"``.
        What does not belong to the scale lies apart, as unknown.

    Examples
    --------
    >>> bound = scale("bands").bind(pa.array(["[10-20)", "[0-10)", "[20-30)"]), column="age")
    >>> bound.labels
    ([None, '[0-10)', '[10-20)', '[20-30)'], [None, '[0, 20)', '[20, 30)'], ['*'])
    >>> scale("education").bind(pa.array(["Bachelors", "12th", "HS-grad"]), column="education").leaves.to_pylist()
    ['12th', 'HS-grad', 'Bachelors']
    """
    require("scale", "name", name, OneOf(NAMES))
    return Scale(name)


@dataclass(frozen=True)
class Scale(HierarchySpec):
    """The values of a known scale, in order; made by `scale`."""

    kind: ClassVar[str] = "scale"

    name: str

    def bind(self, domain: pa.Array, *, column: str) -> Hierarchy:
        """Put the values in order, below groups that do not depend on which of them occur, below ``*``."""
        values = domain_of(domain)
        written = texts(values).to_pylist()
        order = sorted(range(len(written)), key=lambda at: (self._rank(written[at]), written[at]))
        leaves, written = values.take(pa.array(order, pa.int64())), [written[at] for at in order]
        upper = self._levels(written)
        return arrange(
            leaves, [*upper, [STAR] * len(written)], column=column, ordered=self.name not in words.UNORDERED
        )

    def _rank(self, text: str) -> float:
        if self.name == BANDS:
            return float(bands.rank(text))
        found = words.rank(self.name, text)
        return np.inf if found is None else found

    def _levels(self, written: Sequence[str]) -> list[list[str]]:
        if self.name == BANDS:
            return bands.joined(written, words.UNKNOWN) if written else []
        steps = words.SCALES[self.name]
        ranks = [words.rank(self.name, text) for text in written]
        depth = len(steps[0].groups)
        return [
            [words.UNKNOWN if at is None else steps[at].groups[level] for at in ranks]
            for level in range(depth)
        ]


def scale_of(values: Sequence[str]) -> str | None:
    """Return the name of the scale that values belong to, or None.

    >>> scale_of(["[0-10)", "[10-20)", "[20-30)"]), scale_of(["Mon", "Tue", "Sun"]), scale_of(["a", "b", "c"])
    ('bands', 'weekdays', None)
    """
    return BANDS if bands.are_bands(values) else words.scale_of(values)
