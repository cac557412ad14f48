"""Bands: texts such as ``[0-10)``, ``18-24``, ``65+`` or ``under 5``, in their order and joined to wider ones."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from discreet.core.tables.labels import STAR, interval
from discreet.core.tables.labels import text as written_number

_NUMBER = r"[$€£]?\s?(\d{1,3}(?:[, ]\d{3})+|\d+(?:\.\d+)?)\s?([kKmM]?)"
_UNIT = r"\s*(?:years?|yrs?|months?|days?|hours?|miles?|km|kg|lbs?|cm|%|[$€£])?"
_BETWEEN = re.compile(
    rf"[\[(]?\s*{_NUMBER}{_UNIT}\s*(?:-|–|—|,|;|\bto\b|\.\.)\s*{_NUMBER}{_UNIT}\s*[\])]?", re.IGNORECASE
)
_BELOW = re.compile(
    rf"(?:<=?|≤|under|below|less than|up to|younger than)\s*{_NUMBER}{_UNIT}"
    rf"|{_NUMBER}{_UNIT}\s*(?:or|and)\s+(?:less|under|below|younger|fewer)",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    rf"(?:>=?|≥|over|above|more than|older than|at least)\s*{_NUMBER}{_UNIT}"
    rf"|{_NUMBER}{_UNIT}\s*(?:\+|(?:or|and)\s+(?:more|over|above|older|up))",
    re.IGNORECASE,
)
_SPELLED = re.compile(r"([\[(]?\s*)\d+(?:\.\d+)?(\s*(?:-|–|—|,|;|\.\.)\s*|\s+to\s+)\d+(?:\.\d+)?(\s*[\])]?)")
_SPELLED_OPEN = re.compile(r"(\D*)\d+(?:\.\d+)?(\D*)")
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}
_MOST_LEVELS = 4

Ends = tuple[Fraction | None, Fraction | None]


def band_of(text: str) -> Ends | None:
    """Return the lower and the upper end that a band names, None for an open end; None for what is no band.

    >>> band_of("[70-80)"), band_of("65+"), band_of("Bachelors")
    ((Fraction(70, 1), Fraction(80, 1)), (Fraction(65, 1), None), None)
    """
    bare = text.strip()
    if match := _BETWEEN.fullmatch(bare):
        low, high = _value(match[1], match[2]), _value(match[3], match[4])
        # In 10-20k both numbers are thousands.
        scaled = _value(match[1], match[2] or match[4])
        low = scaled if scaled < high else low
        return (low, high) if low < high else None
    for pattern, is_low in ((_ABOVE, True), (_BELOW, False)):
        if match := pattern.fullmatch(bare):
            number, factor = (match[1], match[2]) if match[1] else (match[3], match[4])
            value = _value(number, factor)
            return (value, None) if is_low else (None, value)
    return None


def are_bands(texts: Sequence[str]) -> bool:
    """Return whether most of at least three texts are bands that do not overlap.

    >>> are_bands(["18-24", "25-34", "65+", "unknown"]), are_bands(["1-2", "3-4", "x", "y"])
    (True, False)
    """
    bands = sorted((band for band in map(band_of, texts) if band is not None), key=_position)
    if len(bands) < 3 or len(texts) - len(bands) > min(2, len(bands) // 3):
        return False
    bounded = [(low, high) for low, high in bands if low is not None and high is not None]
    apart = all(earlier[1] <= later[0] for earlier, later in pairwise(bounded))
    return len(bounded) >= 2 and apart


def band_bounds(texts: Sequence[str | None]) -> dict[str, tuple[str | None, str | None, bool]]:
    """Return the lower and the upper end of each band of a column of bands, and whether the upper one belongs to it.

    >>> band_bounds(["[0-20)", "[20-30)", "[30-40)", "*"])["[20-30)"], band_bounds(["390-459", "heart"])
    (('20', '30', False), {})
    """
    bands = {text: band for text in texts if text is not None and (band := band_of(text)) is not None}
    if len(bands) < 2 or len(bands) * 4 < 3 * sum(text not in (None, STAR) for text in texts):
        return {}
    closed = _inclusive(list(bands.values()))
    return {
        text: (
            None if low is None else written_number(_as_number(low)),
            None if high is None else written_number(_as_number(high)),
            text.endswith("]") or (closed and not text.endswith(")")),
        )
        for text, (low, high) in bands.items()
    }


def rank(text: str) -> Fraction:
    """Return where a band lies among others; what is no band lies above all."""
    ends = band_of(text)
    return Fraction(10) ** 30 if ends is None else _position(ends)


def wider_bands(texts: Sequence[str], rest: str) -> list[list[str]]:
    """Return for each level above the bands the wider band of every text; ``rest`` for what is no band.

    Bands of one width are joined at multiples of it, whichever of them occur; others by twos in their order. Wider
    bands are written as the bands are, so that a column that holds both has one notation.

    >>> wider_bands(["[0-10)", "[10-20)", "[20-30)", "[30-40)"], "unknown")[0]
    ['[0-20)', '[0-20)', '[20-40)', '[20-40)']
    """
    ends = [band_of(text) for text in texts]
    distinct = sorted({band for band in ends if band is not None}, key=_position)
    closed = _inclusive(distinct)
    step = _step(distinct, closed)
    spelling = _Spelling.of(texts)
    levels = []
    for number in range(1, _MOST_LEVELS + 1):
        wider = _aligned(distinct, step, 2**number, closed) if step else _by_order(distinct, 2**number)
        names = {band: spelling.written(span, closed) for band, span in wider.items()}
        levels.append([rest if band is None else names[band] for band in ends])
        if len(set(names.values())) <= 2:
            break
    return levels


def _position(ends: Ends) -> Fraction:
    low, high = ends
    # A band that is open above comes just behind a bounded one from the same number, one open below before
    # all.
    if low is not None:
        return low if high is not None else low + Fraction(1, 1000)
    assert high is not None
    return high - Fraction(1, 1000) - Fraction(10) ** 12


def _value(number: str, factor: str | None) -> Fraction:
    return Fraction(re.sub("[, ]", "", number)) * _FACTORS[(factor or "").casefold()]


def _inclusive(bands: Sequence[Ends]) -> bool:
    """Return whether the upper ends belong to their bands, as in 18-24 and 25-34."""
    bounded = [(low, high) for low, high in bands if low is not None and high is not None]
    return all(low != other for _, low in bounded for other, _ in bounded)


def _step(bands: Sequence[Ends], closed: bool) -> Fraction | None:
    """Return the width that all bounded bands have, if it is one and they begin at its multiples."""
    widths = {high - low + int(closed) for low, high in bands if low is not None and high is not None}
    if len(widths) != 1:
        return None
    width = widths.pop()
    return (
        width if all((low or Fraction(0)) % width == 0 for low, high in bands if high is not None) else None
    )


def _aligned(bands: Sequence[Ends], step: Fraction, times: int, closed: bool) -> dict[Ends, Ends]:
    """Join bands to those of a multiple of their width, within all of them; an open band opens the one it is in."""
    width = step * times
    least = min(low for low, _ in bands if low is not None)
    most = max(high for _, high in bands if high is not None)
    inside = {
        band: math.floor((band[0] if band[0] is not None else _before(band[1])) / width) for band in bands
    }
    spans: dict[int, Ends] = {
        number: (max(number * width, least), min((number + 1) * width - int(closed), most))
        for number in inside.values()
    }
    return _spans(inside, spans)


def _by_order(bands: Sequence[Ends], times: int) -> dict[Ends, Ends]:
    inside = {band: number // times for number, band in enumerate(bands)}
    spans: dict[int, Ends] = {}
    for band, number in inside.items():
        low, high = spans.get(number, band)
        spans[number] = (low, band[1] if high is not None else None)
    return _spans(inside, spans)


def _spans(inside: dict[Ends, int], spans: dict[int, Ends]) -> dict[Ends, Ends]:
    open_below = {inside[band] for band in inside if band[0] is None}
    open_above = {inside[band] for band in inside if band[1] is None}
    return {
        band: (
            None if number in open_below else spans[number][0],
            None if number in open_above else spans[number][1],
        )
        for band, number in inside.items()
    }


def _before(high: Fraction | None) -> Fraction:
    assert high is not None
    return high - Fraction(1, 1000)


@dataclass(frozen=True)
class _Spelling:
    """What stands around the numbers of bounded bands, of open ones below and above; None where bands differ in it."""

    bounded: tuple[str, ...] | None
    below: tuple[str, ...] | None
    above: tuple[str, ...] | None

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Spelling:
        """Find the marks that all bands of a kind share."""
        bounded: set[tuple[str, ...] | None] = set()
        below: set[tuple[str, ...] | None] = set()
        above: set[tuple[str, ...] | None] = set()
        for text in texts:
            ends = band_of(text)
            if ends is None:
                continue
            is_bounded = None not in ends
            marks = (_SPELLED if is_bounded else _SPELLED_OPEN).fullmatch(text)
            kind = bounded if is_bounded else below if ends[0] is None else above
            kind.add(None if marks is None else marks.groups())
        return cls(*(kind.pop() if len(kind) == 1 else None for kind in (bounded, below, above)))

    def written(self, span: Ends, closed: bool) -> str:
        """Write a band as those of its column are written, or as an interval."""
        low, high = (None if end is None else _as_number(end) for end in span)
        marks = self.below if low is None else self.above if high is None else self.bounded
        numbers = [written_number(end) for end in (low, high) if end is not None]
        if marks is not None and numbers:
            spelled = "".join(mark + number for mark, number in zip(marks, [*numbers, ""], strict=True))
            if band_of(spelled) == span:
                return spelled
        return interval(low, high, closed="left") if not closed or high is None else interval(low, high)


def _as_number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
