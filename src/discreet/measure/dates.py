"""What labels of dates and of ages say under HIPAA's Safe Harbor rule (C), read by what they cover."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from discreet.core.hierarchy.bands import band_bounds, band_of
from discreet.core.tables.labels import Interval, MaskLabel, SetOf, parse_label

OLDEST = 89
YEARS = (1850, 2100)
Reading = Literal["year", "finer", "unread"]
Span = tuple[float, float]
"""The least and the largest whole year or age that a label covers; infinite where it has no end."""
_MONTH = (
    r"(?:jan(?:uary?)?|feb(?:ruary?)?|mar(?:ch)?|m[aä]rz?|apr(?:il)?|ma[iy]|jun[ei]?|jul[iy]?|aug(?:ust)?|sept?(?:ember)?"
    r"|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)"
)
_YEAR = r"(?:18|19|20)\d\d"
_FINER = re.compile(
    r"\d{4}-\d{1,2}(-\d{1,2})?\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b"
    rf"|\b\d{{4}}[ /-]?[QW]\d|\b[QW]\d{{1,2}}[ /-]*\d{{4}}\b"
    rf"|\b\d{{1,2}}[. -]+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\b\d{{1,2}}{_MONTH}(\d\d|{_YEAR})\b"
    rf"|\b(0?[1-9]|1[0-2])[./-]{_YEAR}\b|\b{_YEAR}[./](0?[1-9]|1[0-2])\b"
    rf"|\b{_MONTH}\b\.?[ ,'-]*(\d\d|{_YEAR})\b|\b{_YEAR}[ ,-]+{_MONTH}\b",
    re.IGNORECASE,
)
_DAY = re.compile(rf"{_YEAR}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_MONTH_OF_YEAR = re.compile(rf"{_YEAR}(0[1-9]|1[0-2])")
_ONE_YEAR = re.compile(r"(\d{4})(?:\.0+)?(?:-\*\*){0,2}")
_WHOLE_YEARS = re.compile(r"(\d{4})-(01-01|12-31)(?:[T ]00:00(?::00)?)?")
_UNITS = re.compile(
    r"(.*\d)\s*(?:y|y/?o|yrs?\.?|years?(?: old)?|months?|weeks?|days?|jahre?|ans|años)", re.IGNORECASE
)
_NOTHING = {"unknown", "missing", "not known", "n/a", "na", "nan", "none", "null", "?", "-"}
_FLAGS = {"0", "1", "true", "false", "yes", "no", "y", "n"}


def fineness_of(text: str, *, is_dated: bool = True) -> Reading:
    """Return whether a label says a year or less of a date, more, or what cannot be read.

    Digits alone, as in 202405, are a month in a column of dates; elsewhere they are a number.

    >>> [fineness_of(text) for text in ("2024", "[2020, 2024]", "2024-05", "May 2024", "20240501", "spring")]
    ['year', 'year', 'finer', 'finer', 'finer', 'unread']
    """
    if _years(text) is not None:
        return "year"
    items = _items(text)
    compact = any(_DAY.fullmatch(item) or (is_dated and _MONTH_OF_YEAR.fullmatch(item)) for item in items)
    return "finer" if compact or _FINER.search(text) else "unread"


def dates_why(labels: Sequence[str], *, year: int, is_birth: bool) -> tuple[str, bool] | None:
    """Return why a column of dates keeps more than years, and whether that is sure; None where it does not."""
    labels = _telling(labels)
    readings = [fineness_of(text) for text in labels]
    if "finer" in readings:
        return f"{readings.count('finer'):,} of its different values are dates finer than a year", True
    spans = [span for text in labels if (span := _years(text)) is not None]
    if is_birth and (judged := over_89([(year - high, year - low) for low, high in spans], may_be_one=False)):
        is_sure = judged == "known"
        return f"years of birth {'show' if is_sure else 'may show'} ages over {OLDEST}", is_sure
    n_unread = readings.count("unread")
    return (f"{n_unread:,} of its different values cannot be read as years", False) if n_unread else None


def ages_why(labels: Sequence[str]) -> tuple[str, bool] | None:
    """Return why a column of ages shows some over 89 apart, and whether that is sure; None where it does not.

    >>> ages_why(["34", ">= 90"]), ages_why(["34", "91"])[1], ages_why(["[85, 95]"])[1], ages_why(["old"])[1]
    (None, True, False, False)
    """
    labels = [_unit_less(text) for text in _telling(labels)]
    bounds = band_bounds(labels)
    read = [_span(text, bounds) for text in labels]
    spans = [span for span in read if span is not None]
    judged = over_89(spans, may_be_one=True)
    if judged == "known":
        n_over = sum(low >= OLDEST + 1 for low, _ in spans)
        return f"{n_over:,} of its different values are ages over {OLDEST}, and not one category", True
    if judged is not None:
        return f"a category joins ages over {OLDEST} with younger ones, but is not open above", False
    n_unread = read.count(None)
    return (f"{n_unread:,} of its different values cannot be read as ages", False) if n_unread else None


def over_89(spans: Sequence[Span], *, may_be_one: bool) -> Literal["known", "possible"] | None:
    """Return whether spans of ages show some over 89 that are not one category without an upper end.

    ``may_be_one``: 90 alone is such a category, as it is where all older ages were set to it.
    """
    tops = [(low, high) for low, high in spans if low <= OLDEST + 1 and high == math.inf]
    tops += [(low, high) for low, high in spans if may_be_one and low == high == OLDEST + 1]
    over = [span for span in spans if span[0] >= OLDEST + 1]
    if set(over) - set(tops) or (len(tops) > 1 and over):
        return "known"
    reaching = sum(high >= OLDEST + 1 for _, high in spans)
    return "possible" if reaching > len(tops) or len(tops) > 1 else None


def _telling(labels: Sequence[str]) -> list[str]:
    """Leave out words for a missing value; a column of yes and no says nothing of a date."""
    words = [text for text in (label.strip() for label in labels) if text.casefold() not in _NOTHING]
    return [] if all(word.casefold() in _FLAGS for word in words) else words


def _items(text: str) -> tuple[str, ...]:
    """Return the values that a label names: the items of a set, the ends of an interval, or itself."""
    label = parse_label(text)
    if isinstance(label, SetOf):
        return tuple(item.strip() for item in label.items)
    if isinstance(label, Interval):
        return tuple(end for end in (label.low, label.high) if end is not None)
    return (text.strip(),)


def _years(text: str) -> Span | None:
    """Return the years that a label covers; None where it is not written in whole years."""
    label = parse_label(text)
    if isinstance(label, MaskLabel):
        return _mask(label, 4)
    if isinstance(label, Interval):
        return _interval_of_years(label)
    ends = [match and float(match[1]) for match in map(_ONE_YEAR.fullmatch, _items(text))]
    years = [end for end in ends if end is not None and YEARS[0] <= end <= YEARS[1]]
    return (min(years), max(years)) if years and len(years) == len(ends) else None


def _interval_of_years(label: Interval) -> Span | None:
    """Return the years of an interval whose ends are years, or the beginning or the end of one."""
    ends: list[float] = []
    for end, is_low in ((label.low, True), (label.high, False)):
        if end is None:
            ends.append(-math.inf if is_low else math.inf)
        elif match := _WHOLE_YEARS.fullmatch(end):
            # To the first of January of the next year is to the end of this one, open or closed.
            is_next = match[2] == "01-01" if not is_low else match[2] == "12-31"
            ends.append(float(match[1]) + (int(is_next) if is_low else -int(is_next)))
        elif _ONE_YEAR.fullmatch(end):
            included = label.closed_low if is_low else label.closed_high
            ends.append(float(end) + (0 if included else 1 if is_low else -1))
        else:
            return None
    known = [end for end in ends if math.isfinite(end)]
    inside = bool(known) and all(YEARS[0] <= end <= YEARS[1] for end in known)
    return (ends[0], ends[1]) if inside and ends[0] <= ends[1] else None


def _span(text: str, bounds: Mapping[str, tuple[str | None, str | None, bool]]) -> Span | None:
    """Return the ages that a label covers; None where it cannot be read."""
    label = parse_label(text)
    if isinstance(label, SetOf):
        spans = [_span(_unit_less(item), {}) for item in label.items]
        read = [span for span in spans if span is not None]
        return (min(read)[0], max(high for _, high in read)) if read and len(read) == len(spans) else None
    if isinstance(label, MaskLabel):
        return _mask(label, 3)
    band = band_of(text)
    if isinstance(label, Interval):
        low, high, low_in, high_in = label.low, label.high, label.closed_low, label.closed_high
        # In 80-90 and 90-100 the upper end belongs to the next band.
        high_in = high_in and (text not in bounds or text.endswith("]") or low is None or bounds[text][2])
        return _closed(low, high, low_in, high_in)
    if band is not None:
        low, high = (None if end is None else str(float(end)) for end in band)
        high_in = bounds[text][2] if text in bounds else not text.endswith(")")
        return _closed(low, high, not re.match(r"\(|over|above|more|older", text, re.IGNORECASE), high_in)
    return _closed(text, text, True, True)


def _closed(low: str | None, high: str | None, low_in: bool, high_in: bool) -> Span | None:
    """Return two ends as numbers that belong to the span; an age that is left out is the next whole one."""
    try:
        least = -math.inf if low is None else float(low)
        most = math.inf if high is None else float(high)
    except ValueError:
        return None
    if math.isnan(least) or math.isnan(most):
        return None
    if not low_in and math.isfinite(least):
        least = math.floor(least) + 1
    return least, most if high_in or math.isinf(most) else math.ceil(most) - 1


def _mask(label: MaskLabel, wide: int) -> Span | None:
    """Return the numbers behind digits with stars after them, such as 8* or 193*."""
    visible, stars = label.raw.rstrip("*"), len(label.raw) - len(label.raw.rstrip("*"))
    if not visible.isdecimal() or len(label.raw) > wide or (wide == 4 and len(label.raw) < wide):
        return None
    padding = "0" * stars if wide == 4 else ""
    return float(visible + padding), float(visible + "9" * stars)


def _unit_less(text: str) -> str:
    """Leave out the unit behind a number; months and days are larger numbers than years, and so on the safe side."""
    match = _UNITS.fullmatch(text.strip())
    return text.strip() if match is None or band_of(text) is not None else match[1]
