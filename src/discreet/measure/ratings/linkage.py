"""Ratings attack: find a person's record by a few of their ratings (Narayanan & Shmatikov, Security & Privacy 2008)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import in_memory, public
from discreet.core.errors import InputError, SchemaError
from discreet.core.params import EachOf, FloatIn, InstanceOf, IntIn, require
from discreet.core.rng import RandomState, generator
from discreet.core.tables.encoding import cleaned
from discreet.kernels.ragged import bounds

_DAY = 86_400.0
_RATING_SCALE = 1.5
_DAYS_SCALE = 30.0
_SURE = 1.5
"""How many standard deviations the best score must lie above the second for the attacker to be sure."""
_EQUAL = 1e-9
"""How near scores and times that rounding alone sets apart may lie."""


@public
@dataclass(frozen=True)
class KnownRatings:
    """What an attacker learns who knows some ratings of a person.

    Attributes
    ----------
    n_known, n_targets
        How many ratings are known of each person, and how many people were looked for.
    right
        The share of people whose record scores best; where several score alike, a guess among them.
    sure
        The share for whom the best score stands out, so that the attacker takes the guess for certain.
    right_among_sure
        The share of those guesses that are right; None where there are none.
    unique
        The share of people whose record alone fits all that is known, within the error.
    """

    n_known: int
    n_targets: int
    right: float
    sure: float
    right_among_sure: float | None
    unique: float


@public
@dataclass(frozen=True)
class RatingsLinkage:
    """What is learned by number of known ratings, and what the attacker was assumed to know."""

    n_people: int
    n_items: int
    n_ratings: int
    error: float
    days: float | None
    by_known: tuple[KnownRatings, ...]

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
def ratings_linkage(
    ratings: Any,
    *,
    person: str,
    item: str,
    value: str,
    time: str | None = None,
    known: Iterable[int] = (1, 2, 3, 4, 6, 8),
    error: float = 0.0,
    days: float = 14.0,
    n_targets: int = 1000,
    random_state: RandomState = None,
) -> RatingsLinkage:
    """Measure how surely a few known ratings find a person's record in a table of ratings.

    Names are taken for removed: the attacker has the table, and knows of a person some items with about what the person
    thought of them, and with ``time`` about when. A record scores the more, the nearer its ratings are and the fewer
    people rated the item: the sum over the known items that it holds of (exp(−a / 1.5) + exp(−b / 30)) / ln(max(2,
    raters)), where it lies a from the known rating and b days from the known time; the second term with ``time`` alone.
    The attacker guesses the best record, and is sure where it lies more than 1.5 standard deviations of all scores
    above the second.

    A person rates an item once, and no cell is empty: other tables are refused.

    Parameters
    ----------
    ratings
        A frame with a row for each rating.
    person, item, value
        Its columns: who rated, what, and the rating, a number. The scale of 1.5 fits ratings of one to five.
    time
        When, as a date, a time or a number of seconds; None where the attacker knows nothing of it.
    known
        How many ratings of a person are known. People with fewer are not looked for, and numbers that nobody has are
        left out.
    error
        How far a known rating lies from the true one, where it is wrong: as often too low, too high and right.
    days
        How many days a known time may lie from the true one, evenly on both sides; of no effect without ``time``.
    n_targets
        How many people are looked for, drawn evenly; all of them where there are no more.
    random_state
        Seeds what is drawn.

    References
    ----------
    A. Narayanan, V. Shmatikov: Robust de-anonymization of large sparse datasets. IEEE S&P 2008.

    Examples
    --------
    Only Ann saw both of her films. Bob and Cid saw the same and thought the same of them, so either may be meant.

    >>> films = pa.table({"who": ["Ann", "Ann", "Bob", "Bob", "Cid", "Cid"],
    ...     "film": ["hit", "rare", "hit", "dud", "hit", "dud"], "stars": [5, 1, 5, 3, 5, 3]})
    >>> risk = ratings_linkage(films, person="who", item="film", value="stars", known=[2]).by_known[0]
    >>> round(risk.right, 2), round(risk.unique, 2)
    (0.67, 0.33)
    """
    owner = "ratings_linkage"
    numbers = tuple(known) if isinstance(known, Iterable) else known
    require(owner, "known", numbers, EachOf(IntIn(1), "a list of whole numbers of at least 1"))
    require(owner, "error", error, FloatIn(0))
    require(owner, "days", days, FloatIn(0))
    require(owner, "n_targets", n_targets, IntIn(1))
    rng = generator(random_state, owner=owner)
    table = _Ratings.of(ratings, person, item, value, time)
    by_known = tuple(_Attack(table, float(error), float(days), rng).by_known(numbers, n_targets))
    if not by_known:
        raise InputError("Nobody has that many ratings, so nobody can know them.")
    in_days = None if time is None else float(days)
    return RatingsLinkage(
        table.n_people, table.raters.size, table.values.size, float(error), in_days, by_known
    )


@dataclass(frozen=True, repr=False)
class _Ratings:
    """Ratings in order of the items: of item i those from ``starts[i]`` on; ``order`` lists them by person."""

    people: IntArray
    items: IntArray
    values: FloatArray
    days: FloatArray | None
    starts: IntArray
    order: IntArray
    of_person: IntArray

    @classmethod
    def of(cls, ratings: Any, person: str, item: str, value: str, time: str | None) -> _Ratings:
        """Read the columns, and refuse empty cells and items that somebody rated twice."""
        frame = in_memory(ratings)
        names = [name for name in (person, item, value, time) if name is not None]
        for name in names:
            require("ratings_linkage", "columns", name, InstanceOf((str,), "the name of a column"))
            if name not in frame.columns:
                raise SchemaError(f"The ratings have no column '{name}'.")
        if len(set(names)) < len(names):
            raise SchemaError("Person, item, value and time must be different columns of the ratings.")
        columns = {name: _complete(frame.get_column(name).to_arrow(), name) for name in names}
        people, items = (_coded(columns[name]) for name in (person, item))
        if people.max(initial=-1) < 1:
            raise InputError("The ratings must be those of two people or more.")
        order = np.lexsort((people, items))
        people, items = people[order], items[order]
        n_repeated = int(np.count_nonzero((np.diff(people) == 0) & (np.diff(items) == 0)))
        if n_repeated:
            raise InputError(
                f"{n_repeated:,} ratings are of an item that the same person has rated already; keep one of each, such "
                "as the latest."
            )
        days = None if time is None else _days(columns[time], time)[order]
        starts, of_person = bounds(np.bincount(items)), bounds(np.bincount(people))
        values = _numbers(columns[value], value)[order]
        return cls(people, items, values, days, starts, np.argsort(people, kind="stable"), of_person)

    @property
    def n_people(self) -> int:
        return self.of_person.size - 1

    @property
    def raters(self) -> IntArray:
        return np.diff(self.starts)


def _complete(array: pa.Array | pa.ChunkedArray, name: str) -> pa.Array:
    column = cleaned(array, name)
    if column.null_count:
        raise InputError(
            f"Column '{name}': {column.null_count:,} of {len(column):,} cells are empty; leave these rows out."
        )
    return column


def _coded(column: pa.Array) -> IntArray:
    codes: IntArray = column.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _numbers(column: pa.Array, name: str) -> FloatArray:
    if not (
        pa.types.is_integer(column.type)
        or pa.types.is_floating(column.type)
        or pa.types.is_decimal(column.type)
    ):
        raise SchemaError(f"Column '{name}' must hold numbers.")
    numbers: FloatArray = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers


def _days(column: pa.Array, name: str) -> FloatArray:
    """Return times as days: of dates and times, or of numbers of seconds."""
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        seconds = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        return np.asarray(pc.divide(seconds.cast(pa.float64(), safe=False), 1e6 * _DAY))
    try:
        return _numbers(column, name) / _DAY
    except SchemaError:
        raise SchemaError(f"Column '{name}' must hold dates, times or numbers of seconds.") from None


class _Attack:
    """Looks for people one by one, with a score for every record that holds a known item.

    The raters of an item lie together (an inverted index), and each occurs there once. So the cost is the number of
    raters of the known items, whatever the number of people.
    """

    def __init__(self, ratings: _Ratings, error: float, days: float, rng: np.random.Generator) -> None:
        self.ratings, self.error, self.days, self.rng = ratings, error, days, rng
        self._score = np.zeros(ratings.n_people)
        self._n_fitting = np.zeros(ratings.n_people, np.int64)
        self._latest_target = np.full(ratings.n_people, -1)

    def by_known(self, numbers: Iterable[int], n_targets: int) -> Iterator[KnownRatings]:
        """Look for people by each number of known ratings that somebody has."""
        lengths = np.diff(self.ratings.of_person)
        # One order for all numbers of known ratings, so that each person is looked for once and the figures
        # are about the same people.
        people = self.rng.permutation(lengths.size)
        targets = {number: people[lengths[people] >= number][:n_targets] for number in sorted(numbers)}
        outcomes: dict[int, list[_Outcome]] = {number: [] for number in targets}
        for target in dict.fromkeys(np.concatenate(list(targets.values())).tolist()):
            for number, outcome in self._looked_for(target, min(max(targets), int(lengths[target]))):
                if number in targets and len(outcomes[number]) < targets[number].size:
                    outcomes[number].append(outcome)
        for number in targets:
            if outcomes[number]:
                yield _summary(number, outcomes[number])

    def _looked_for(self, target: int, n_known: int) -> Iterator[tuple[int, _Outcome]]:
        """Learn one rating after the other of a person, and guess each time."""
        first, last = self.ratings.of_person[target : target + 2]
        candidates = np.empty(0, np.int64)
        for number, rating in enumerate(
            self.ratings.order[first + self.rng.permutation(last - first)[:n_known]], 1
        ):
            people, score, fits = self._compared(int(rating))
            # Scores of earlier targets are reset where they are met again, not in a pass over all people.
            fresh = people[self._latest_target[people] != target]
            self._latest_target[fresh], self._score[fresh], self._n_fitting[fresh] = target, 0.0, 0
            candidates = np.concatenate([candidates, fresh])
            self._score[people] += score
            self._n_fitting[people] += fits
            yield number, self._guess(target, candidates, number)

    def _compared(self, rating: int) -> tuple[IntArray, FloatArray, BoolArray]:
        """Return who rated the item of a known rating, what each scores, and whether theirs fits."""
        table, item = self.ratings, self.ratings.items[rating]
        raters = slice(table.starts[item], table.starts[item + 1])
        off = np.abs(table.values[raters] - table.values[rating] - self.error * self.rng.integers(-1, 2))
        score, fits = np.exp(-off / _RATING_SCALE), off <= self.error + _EQUAL
        if table.days is not None:
            apart = np.abs(table.days[raters] - table.days[rating] - self.rng.uniform(-self.days, self.days))
            score += np.exp(-apart / _DAYS_SCALE)
            fits &= apart <= self.days + _EQUAL
        return table.people[raters], score / np.log(max(raters.stop - raters.start, 2)), fits

    def _guess(self, target: int, candidates: IntArray, n_known: int) -> _Outcome:
        scores, n_people = self._score[candidates], self.ratings.n_people
        best = scores.max()
        is_best = scores >= best - _EQUAL
        n_best = int(np.count_nonzero(is_best))
        # Records that hold none of the items score 0: they count in the deviation, and as second where no other does.
        second = scores[~is_best].max(initial=0.0)
        deviation = np.sqrt(max(np.square(scores).sum() / n_people - (scores.sum() / n_people) ** 2, 0.0))
        is_sure = n_best == 1 and best - second > _SURE * deviation + _EQUAL
        is_right = self._score[target] >= best - _EQUAL
        n_fitting = int(np.count_nonzero(self._n_fitting[candidates] == n_known))
        return _Outcome(is_right / n_best, is_sure, n_fitting == 1)


class _Outcome(NamedTuple):
    """How likely a guess is right, whether it is sure, and whether one record alone fits what is known."""

    right: float
    sure: bool
    unique: bool


def _summary(n_known: int, outcomes: list[_Outcome]) -> KnownRatings:
    right, sure, unique = (np.array(values) for values in zip(*outcomes, strict=True))
    return KnownRatings(
        n_known=n_known,
        n_targets=len(outcomes),
        right=float(right.mean()),
        sure=float(sure.mean()),
        right_among_sure=float(right[sure].mean()) if sure.any() else None,
        unique=float(unique.mean()),
    )
