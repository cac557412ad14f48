"""Scales: hierarchies over values with a known order, whichever of them occur; no value is named on the way up.

Bands are ordered by their numbers. The other scales are of words that everybody orders alike, such as education,
months or answers; they are in the vocabulary ``scales``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar

import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.hierarchy import bands
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec, build_hierarchy, domain_of
from discreet.core.hierarchy.vocabularies import vocabulary
from discreet.core.params import OneOf, require
from discreet.core.tables.labels import STAR, texts

BANDS = "bands"
_UNKNOWN = "unknown"
_NOT_KNOWN = re.compile(
    r"unknown|null|other|others|none of these|not (available|stated|known|mapped|reported|applicable)|missing|refused"
    r"|(i )?do ?n ?t know|no answer|n a|na|prefer not to (say|answer)|invalid|unspecified|weiß nicht|keine angabe"
)
_FEWEST = 3
_MOST_UNKNOWN = 2


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
    ([None, '[0-10)', '[10-20)', '[20-30)'], [None, '[0-20)', '[20-30)'], ['*'])
    >>> scale("education").bind(pa.array(["Bachelors", "12th", "HS-grad"]), column="education").leaves.to_pylist()
    ['12th', 'HS-grad', 'Bachelors']
    """
    require("scale", "name", name, OneOf(scale_names()))
    return Scale(name)


def scale_names() -> tuple[str, ...]:
    """Return the names of all scales."""
    return (BANDS, *_scales())


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
        ordered = self.name == BANDS or _scales()[self.name].ordered
        return build_hierarchy(leaves, [*upper, [STAR] * len(written)], column=column, ordered=ordered)

    def _rank(self, text: str) -> float:
        if self.name == BANDS:
            return float(bands.rank(text))
        step = _scales()[self.name].step(text)
        return math.inf if step is None else step

    def _levels(self, written: Sequence[str]) -> list[list[str]]:
        if self.name == BANDS:
            return bands.wider_bands(written, _UNKNOWN) if written else []
        words = _scales()[self.name]
        steps = [words.step(text) for text in written]
        return [
            [_UNKNOWN if step is None else words.above[step][level] for step in steps]
            for level in range(len(words.above[0]))
        ]


@dataclass(frozen=True)
class _Words:
    """A scale of words: whether its order means something, and the words and the groups above of each step."""

    ordered: bool
    words: tuple[str, ...]
    above: tuple[tuple[str, ...], ...]

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(pattern) for pattern in self.words]

    def step(self, text: str) -> int | None:
        """Return the number of a text's step, the first whose words fit; None for what is none."""
        word = normal(text)
        return next((step for step, pattern in enumerate(self._patterns) if pattern.fullmatch(word)), None)


@cache
def _scales() -> dict[str, _Words]:
    """Return the scales of words by name."""
    return {
        name: _Words(
            entry["ordered"],
            tuple(step["words"] for step in entry["steps"]),
            tuple(tuple(step["above"]) for step in entry["steps"]),
        )
        for name, entry in vocabulary("scales").items()
    }


def scale_of(values: Sequence[str]) -> str | None:
    """Return the name of the scale that nearly all values belong to, or None.

    >>> scale_of(["[0-10)", "[10-20)", "[20-30)"]), scale_of(["Mon", "Tue", "Sun"]), scale_of(["a", "b", "c"])
    ('bands', 'weekdays', None)
    """
    if bands.are_bands(values):
        return BANDS
    words = [text for text in values if not is_unknown(text)]
    if len(values) - len(words) > _MOST_UNKNOWN or any(text.strip().isdigit() for text in words):
        return None
    for name, scale_words in _scales().items():
        steps = {scale_words.step(text) for text in words}
        if None not in steps and len(steps) >= _FEWEST:
            return name
    return None


def is_unknown(text: str) -> bool:
    """Return whether a text says that something is not known.

    >>> is_unknown("Not Available"), is_unknown("NULL"), is_unknown("Emergency")
    (True, True, False)
    """
    return _NOT_KNOWN.fullmatch(normal(text)) is not None


def normal(text: str) -> str:
    """Return a text in small letters, with single spaces for marks.

    >>> normal("HS-grad"), normal("Bachelor's  Degree")
    ('hs grad', 'bachelor s degree')
    """
    return " ".join(re.sub(r"[^\w]+|_", " ", text.casefold()).split())
