"""Words with an order that everybody knows: education, months, weekdays, sizes, answers on a scale."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from discreet.core.hierarchy.countries import COUNTRIES

UNKNOWN = "unknown"
_UNKNOWN = re.compile(
    r"unknown|other|others|none of these|not (available|stated|known|mapped|reported|applicable)|missing|refused"
    r"|(i )?do ?n ?t know|no answer|n a|na|prefer not to (say|answer)|invalid|unspecified|weiß nicht|keine angabe"
)
_FEWEST = 3
_MOST_UNKNOWN = 2


@dataclass(frozen=True)
class Step:
    """One step of a scale: the words for it, and the groups it belongs to on the levels above."""

    pattern: str
    groups: tuple[str, ...]

    @cached_property
    def words(self) -> re.Pattern[str]:
        """The pattern, compiled when it is first needed; most runs need none of them."""
        return re.compile(self.pattern)


_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]
_SCALES = """\
education
below high school diploma / no college: none|no (formal )?(education|schooling)|illiterate|preschool|kindergarten
  nursery( school)?
below high school diploma / no college: GRADES 1 4
below high school diploma / no college: primary( (school|education))?|elementary( school)?|grundschule|basic( \\dy)?
below high school diploma / no college: GRADES 5 8
below high school diploma / no college: lower secondary|middle school|hauptschule|junior high( school)?
below high school diploma / no college: GRADES 9 12
below high school diploma / no college: (less than|below|some|no) (high ?school|hs|secondary)( diploma| degree)?
  mittlere reife|realschule
high school diploma / no college: (hs|high ?school)( (grad|graduate|diploma|degree|or ged))?|ged|a levels?|abitur
  (upper )?secondary( (school|education))?|matura
high school diploma / no college: vocational( (school|training|degree))?|professional course|apprenticeship
  berufsausbildung|lehre|trade school|technical( school)?
college without degree / college or university: some (college|university)|college( without degree)?
college without degree / college or university: assoc(iate)?s? ?(voc|vocational|acdm|academic|(s )?degree)?|diploma
  2 year (college|degree)
degree / college or university: tertiary|university( degree)?|hochschule
degree / college or university: bachelors?( s)?( degree)?|ba|bsc?|undergraduate|4 year degree
  college (grad|graduate|degree)
degree / college or university: graduate( (school|degree))?|post ?grad(uate)?( degree)?|advanced( degree)?
degree / college or university: masters?( s)?( degree)?|ma|msc?|mba|diplom
degree / college or university: prof(essional)? (school|degree)|md|jd
degree / college or university: doctorate|doctoral( degree)?|doctor|phd|ph d|promotion
marital
never married / without partner: never (been )?married|single|unmarried|ledig|bachelor|spinster
formerly married / without partner: divorced|geschieden|dissolved
formerly married / without partner: separated|getrennt( lebend)?|married spouse absent
formerly married / without partner: widow(ed|er)?|verwitwet
married or partnered / with partner: married( (civ|af) spouse| spouse present)?|verheiratet|remarried
married or partnered / with partner: (domestic|civil|registered) (partner|partnership|union)|partnered
  cohabit(ing|ation)|living (together|with partner)|common law
months
quarter 1 / half-year 1: 0?1|jan(uary|uar)?|jänner
quarter 1 / half-year 1: 0?2|feb(ruary|ruar)?
quarter 1 / half-year 1: 0?3|mar(ch)?|märz|mär
quarter 2 / half-year 1: 0?4|apr(il)?
quarter 2 / half-year 1: 0?5|may|mai
quarter 2 / half-year 1: 0?6|june?|juni
quarter 3 / half-year 2: 0?7|july?|juli
quarter 3 / half-year 2: 0?8|aug(ust)?
quarter 3 / half-year 2: 0?9|sept?(ember)?
quarter 4 / half-year 2: 10|oct(ober)?|okt(ober)?
quarter 4 / half-year 2: 11|nov(ember)?
quarter 4 / half-year 2: 12|dec(ember)?|dez(ember)?
weekdays
working day: mon(day)?|montag
working day: tue(s|sday)?|dienstag
working day: wed(nesday)?|mittwoch
working day: thu(rs?|rsday)?|donnerstag
working day: fri(day)?|freitag
weekend: sat(urday)?|samstag|sonnabend
weekend: sun(day)?|sonntag
sizes
smaller sizes: xxs|xs|extra small|tiny|micro|very small|sehr klein
smaller sizes: s|small|klein
middle sizes: m|medium|mid|middle|mittel|regular
larger sizes: l|large|big|groß
larger sizes: xl|extra large|very large|sehr groß
larger sizes: x{2,4}l|[23]xl|huge
heights
lower part: very low|lowest|sehr niedrig
lower part: low|niedrig|gering
middle part: medium|moderate|average|normal|norm|middle|mittel
upper part: high|hoch|elevated
upper part: very high|highest|sehr hoch
agreement
disagreeing: (strongly|completely|totally) disagree
disagreeing: (somewhat |slightly |rather )?disagree
in between: neutral|undecided|neither.*|not sure|no opinion
agreeing: (somewhat |slightly |rather )?agree
agreeing: (strongly|completely|totally) agree
satisfaction
not satisfied: (very|extremely|completely) (dissatisfied|unsatisfied|unhappy)
not satisfied: (somewhat |rather )?(dissatisfied|unsatisfied|unhappy)
in between: neutral|neither.*|ok|so so
content: (somewhat |rather )?(satisfied|happy)
content: (very|extremely|completely) (satisfied|happy)
frequency
at most rarely: never
at most rarely: rarely|seldom|almost never|hardly ever|once
now and then: sometimes|occasionally|monthly
at least often: often|frequently|usually|weekly|regularly
at least often: (almost )?always|daily|every day|very often|constantly
quality
below fair: very (poor|bad)|terrible|awful
below fair: poor|bad|insufficient|unsatisfactory
about fair: fair|average|acceptable|moderate|sufficient|satisfactory
above fair: good
above fair: very good
above fair: excellent|outstanding|perfect
severity
at most mild: none|absent|no|normal
at most mild: minimal|mild|slight|minor
medium: moderate
at least severe: severe|serious|major
at least severe: very severe|critical|extreme|life threatening
likelihood
rather not: (very|extremely|highly) unlikely|impossible
rather not: (somewhat |rather )?unlikely
perhaps: neutral|possible|possibly|maybe|neither.*
rather so: (somewhat |rather )?(likely|probable)
rather so: (very|extremely|highly) (likely|probable)|certain
"""


def _grade(number: int) -> str:
    """Return the pattern of a school grade, or of several that begin with it."""
    word = f"({_ORDINALS[number - 1]}|{number}(st|nd|rd|th))"
    return rf"(grade )?{word}( (to )?\d+(st|nd|rd|th))?( grade)?|(grade|class|year) {number}"


def _steps(groups: str, pattern: str) -> Iterator[Step]:
    above = tuple(groups.split(" / "))
    if not pattern.startswith("GRADES "):
        yield Step(pattern, above)
        return
    first, last = map(int, pattern.split()[1:])
    for number in range(first, last + 1):
        yield Step(_grade(number), above)


def _parsed(text: str) -> dict[str, tuple[Step, ...]]:
    """Read the scales: a name, then a line for each step, lowest first, with its groups and its words."""
    scales: dict[str, tuple[Step, ...]] = {}
    name = ""
    for line in text.replace("\n  ", "|").splitlines():
        groups, colon, pattern = line.partition(": ")
        name = name if colon else line
        scales[name] = (*scales.get(name, ()), *_steps(groups, pattern)) if colon else ()
    return scales


UNORDERED = ("marital", "countries")
"""The scales whose groups mean something, but not the order of their steps."""
SCALES = _parsed(_SCALES + COUNTRIES)
"""The scales by name; the first pattern that fits a word is its step."""


def scale_of(texts: Sequence[str]) -> str | None:
    """Return the name of the scale that nearly all of the texts are steps of, or None.

    >>> scale_of(["Bachelors", "12th", "HS-grad"]), scale_of(["red", "green", "blue"])
    ('education', None)
    """
    bare = [text for text in texts if not is_unknown(text)]
    if len(texts) - len(bare) > _MOST_UNKNOWN or any(text.strip().isdigit() for text in bare):
        return None
    for name in SCALES:
        ranks = [rank(name, text) for text in bare]
        if None not in ranks and len(set(ranks)) >= _FEWEST:
            return name
    return None


def rank(scale: str, text: str) -> int | None:
    """Return the number of a text's step on a scale, None for what is none."""
    word = normal(text)
    return next((number for number, step in enumerate(SCALES[scale]) if step.words.fullmatch(word)), None)


def is_unknown(text: str) -> bool:
    """Return whether a text says that nothing is known."""
    return bool(_UNKNOWN.fullmatch(normal(text)))


def normal(text: str) -> str:
    """Return a text in small letters, with single spaces for marks.

    >>> normal("HS-grad"), normal("Bachelor's  Degree")
    ('hs grad', 'bachelor s degree')
    """
    return " ".join(re.sub(r"[^\w]+|_", " ", text.casefold()).split())
