"""Singling out, linkability and inference (WP29 Opinion 05/2014) against a published table, generalized or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import IntArray
from discreet.core.boundary import in_memory, public
from discreet.core.errors import SchemaError
from discreet.core.params import InstanceOf, IntIn, require
from discreet.core.release import Release
from discreet.core.rng import RandomState, generator
from discreet.core.schema import Column, Role
from discreet.core.tables.encoding import Codebook, ColumnType, as_line
from discreet.core.tables.label_coverage import LabelCover
from discreet.core.tables.labels import STAR, texts
from discreet.core.tables.table import Table
from discreet.kernels.tables.grouping import distinct, pack
from discreet.measure.attacks.success import AttackSuccess, Rate
from discreet.measure.tables.matches import spans, table_matches
from discreet.measure.tables.risk import Risk, risk

_SUBSETS = 60
"""How many sets of columns the attacker who singles people out tries."""
_MOST_CLASSES = 30
"""A sensitive column of numbers with more values than this is guessed to within a share of its range."""
_NEAR = 0.05


@public
@dataclass(frozen=True, repr=False)
class Attacks:
    """What the three attacks that regulators name achieve against a published table, or published baskets.

    Attributes
    ----------
    singling_out
        Guesses that hold of exactly one person of the original.
    linkability
        Two records of a person, each with half of the quasi-identifiers or items, linked through the release.
    inference
        For each sensitive column, its value guessed from all quasi-identifiers; of baskets a sensitive item.
    attackers
        The risk of being found again, for a prosecutor, a journalist with a population, and a marketer; None for
        baskets, where it depends on the number of known items (`reidentification`).
    n_rows, n_controls
        The rows of the original, and of the control group.
    """

    singling_out: AttackSuccess
    linkability: AttackSuccess | None
    inference: dict[str, AttackSuccess]
    attackers: Risk | None
    n_rows: int
    n_controls: int | None

    @property
    def all(self) -> tuple[AttackSuccess, ...]:
        """All attacks that were made."""
        linked = () if self.linkability is None else (self.linkability,)
        return (self.singling_out, *linked, *self.inference.values())

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return {
            "rows": self.n_rows,
            "controls": self.n_controls,
            "singling_out": self.singling_out.to_dict(),
            "linkability": None if self.linkability is None else self.linkability.to_dict(),
            "inference": {name: success.to_dict() for name, success in self.inference.items()},
            "attackers": None if self.attackers is None else self.attackers.to_dict(),
        }

    def __repr__(self) -> str:
        return f"Attacks({', '.join(f'{success.name} {success.risk:.2f}' for success in self.all)})"


@public
def regulators_attacks(
    released: Table | Release,
    original: Any,
    *,
    control: Any = None,
    population: Table | None = None,
    n_attacks: int = 1_000,
    random_state: RandomState = None,
) -> Attacks:
    """Attack a published table as the Article 29 Working Party names it: single out, link, infer.

    The attacker has the release and reads its labels, generalized ones too: a person may be in every class whose cells
    describe them. Where he cannot decide, he draws.

    - Singling out: he takes values of some columns that a single released row has, and claims that they hold of exactly
      one person. Guessing: the same columns with values drawn one by one.
    - Linkability: of some people he has two records without names, each with half of the quasi-identifiers (dealt in
      turn, the most varied first), and links them by a released row that fits both. Guessing: any second record.
    - Inference: he knows all quasi-identifiers of a person and takes the commonest sensitive value among the rows that
      may be theirs; of numbers with more than thirty values their median, which is right within a twentieth of the
      range. Guessing: the same of all released rows.

    The control group are people who are not in the release. Where an attack is as often right about them, it learned
    how people are, and nothing of those in the data.

    Parameters
    ----------
    released
        The release, or any table as published, with its roles.
    original
        The table that it was made of: a Table, whose hierarchies name labels, or a frame.
    control
        Rows of people of the same kind who are not in the original; None compares with guessing alone.
    population
        A population for the journalist, with the same quasi-identifiers in clear.
    n_attacks
        How many guesses, or people, each attack takes at most.
    random_state
        Seeds who is attacked, and what is drawn.

    References
    ----------
    Article 29 Data Protection Working Party: Opinion 05/2014 on anonymisation techniques. M. Giomi, F. Boenisch, C.
    Wehmeyer, B. Tasnádi: A unified framework for quantifying privacy risk in synthetic data. PoPETs 2023.

    Examples
    --------
    Everybody's row is published as it is, so that nearly everybody is found:

    >>> from discreet import quasi, sensitive
    >>> people = pa.table({"age": range(300), "zip": range(300), "ill": [n // 100 for n in range(300)]})
    >>> table = Table(people, {"age": quasi(), "zip": quasi(), "ill": sensitive()})
    >>> attacks = regulators_attacks(table, table, random_state=0)
    >>> attacks.singling_out.rate.share, attacks.linkability.rate.share, attacks.inference["ill"].rate.share
    (1.0, 1.0, 1.0)
    """
    owner = "regulators_attacks"
    require(owner, "released", released, InstanceOf((Table, Release), "a Table or a Release"))
    require(owner, "n_attacks", n_attacks, IntIn(10))
    rng = generator(random_state, owner=owner)
    table = released.table if isinstance(released, Release) else released
    people = _people(table, original, "original")
    others = None if control is None else _people(table, control, "control group")
    return Attacks(
        _singling_out(table, people, others, n_attacks, rng),
        _linkability(table, people, others, n_attacks, rng),
        {name: _inference(table, name, people, others, n_attacks, rng) for name in table.schema.sensitive},
        risk(released, population=population),
        people.n_rows,
        None if others is None else others.n_rows,
    )


def _people(released: Table, source: Any, what: str) -> Table:
    """Return the judged columns of people in clear, with the hierarchies that their table brings."""
    frame = in_memory(source.frame if isinstance(source, Table) else source)
    names = (*released.schema.quasi, *released.schema.sensitive)
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        raise SchemaError(f"The {what} lacks column '{lacking[0]}', which the release has.")
    roles: dict[str, Column] = {}
    for name in names:
        column = source.schema[name] if isinstance(source, Table) else None
        tree = None if column is None or column.role is not Role.QUASI else column
        roles[name] = (
            Column(Role.QUASI) if tree is None else Column(Role.QUASI, tree.hierarchy, ordered=tree.ordered)
        )
    return Table(frame.select(list(names)).to_native(), roles)


# Singling out. A guess is a label for each of some columns; elsewhere it says "*", which anybody has.


def _singling_out(
    released: Table, people: Table, others: Table | None, n_attacks: int, rng: np.random.Generator
) -> AttackSuccess:
    names = (*released.schema.quasi, *released.schema.sensitive)
    codes = np.stack([released.codes(name) for name in names], axis=1).astype(np.int64)
    guesses, chosen = _unique_predicates(codes, released.tuples.counts, n_attacks, rng)
    drawn = np.stack([released.codes(name)[_rows(released, len(guesses), rng)] for name in names], axis=1)
    books = [released.encoded[name] for name in names]
    cover = _cover(books, guesses, chosen)
    rate = _isolated(cover, people)
    control = None if others is None else _isolated(cover, others)
    baseline = _isolated(_cover(books, drawn.astype(np.int64), chosen), people).share
    return AttackSuccess.of("singling out", rate, control, baseline)


def _unique_predicates(
    codes: IntArray, counts: IntArray, n_attacks: int, rng: np.random.Generator
) -> tuple[IntArray, Any]:
    """Return rows of codes with the columns that are claimed of each: those that fewest released rows share."""
    n_columns = codes.shape[1]
    rows, columns, sizes = [], [], []
    cards = (codes.max(axis=0) + 1).tolist()
    for _ in range(_SUBSETS):
        size = int(rng.integers(min(2, n_columns), n_columns + 1))
        subset = np.sort(rng.choice(n_columns, size, replace=False))
        first, _, members = distinct(pack(codes[:, subset].T, [cards[at] for at in subset]), counts)
        order = rng.permutation(first.size)
        best = order[np.argsort(members[order], kind="stable")[: 4 * n_attacks // _SUBSETS + 1]]
        mask = np.zeros((best.size, n_columns), np.bool_)
        mask[:, subset] = True
        rows.append(first[best])
        columns.append(mask)
        sizes.append(members[best])
    order = rng.permutation(sum(part.size for part in rows))
    fewest = order[np.argsort(np.concatenate(sizes)[order], kind="stable")[:n_attacks]]
    return codes[np.concatenate(rows)[fewest]], np.concatenate(columns)[fewest]


def _cover(books: Sequence[Codebook], guesses: IntArray, chosen: Any) -> LabelCover:
    """Return what the guesses describe: the labels of their columns, and anything elsewhere."""
    columns = []
    for number, book in enumerate(books):
        labels = pa.concat_arrays(
            [pa.nulls(1, pa.string()), texts(book.values).cast(pa.string()), pa.array([STAR])]
        )
        columns.append((book.name, labels, np.where(chosen[:, number], guesses[:, number], len(labels) - 1)))
    return LabelCover.of(columns)


def _isolated(cover: LabelCover, people: Table) -> Rate:
    """Return how many guesses hold of exactly one person."""
    matches = cover.matches(people)
    return Rate.of(int((matches == 1).sum()), matches.size)


# Linkability. Each person's quasi-identifiers are dealt to two sources; a released row ties the halves together.


def _linkability(
    released: Table, people: Table, others: Table | None, n_attacks: int, rng: np.random.Generator
) -> AttackSuccess | None:
    names = released.schema.quasi
    if len(names) < 2:
        return None
    ranked = sorted(names, key=lambda name: (-len(people.encoded[name].values), name))
    halves = [ranked[::2], ranked[1::2]]
    rate = _linked(released, _drawn(people, n_attacks, rng), halves, rng)
    control = None if others is None else _linked(released, _drawn(others, n_attacks, rng), halves, rng)
    return AttackSuccess.of("linkability", rate, control, 1 / rate.n_attempts)


def _linked(released: Table, people: Table, halves: list[list[str]], rng: np.random.Generator) -> Rate:
    """Link the halves of people: a row that fits the first is drawn, and one of the second halves that it fits."""
    n = people.n_rows
    fits = [_fitting(released, people, half) for half in halves]
    fitting_class, class_start = _by_class(fits[1], n, released.groups().n_groups)
    sizes = released.groups().sizes
    right = 0
    for person in range(n):
        classes = fits[0][person]
        candidates: IntArray = np.empty(0, np.int64)
        if classes.size:
            ends = np.cumsum(sizes[classes])
            group = classes[np.searchsorted(ends, rng.integers(ends[-1]), side="right")]
            candidates = fitting_class[class_start[group] : class_start[group + 1]]
        guess = rng.choice(candidates) if candidates.size else rng.integers(n)
        right += int(guess == person)
    return Rate.of(right, n)


def _fitting(released: Table, people: Table, names: Sequence[str]) -> list[IntArray]:
    """Return the classes that may hold each person, by some columns."""
    matches = table_matches(released, people, {name: name for name in names}, None, None)
    start = np.searchsorted(matches.owner, np.arange(matches.people.size + 1))
    of_tuple = [matches.group[start[at] : start[at + 1]] for at in range(matches.people.size)]
    return [of_tuple[at] for at in matches.of_person.tolist()]


def _by_class(fits: list[IntArray], n: int, n_groups: int) -> tuple[IntArray, IntArray]:
    """Return the people who fit each class, laid end to end, and where those of each class begin."""
    groups = np.concatenate([*fits, np.empty(0, np.int64)]).astype(np.int64)
    owners = np.repeat(np.arange(n), [part.size for part in fits])
    order = np.argsort(groups, kind="stable")
    return owners[order], np.searchsorted(groups[order], np.arange(n_groups + 1))


# Inference. The value is guessed from the sensitive counts of all classes that may hold a person.


def _inference(
    released: Table, name: str, people: Table, others: Table | None, n_attacks: int, rng: np.random.Generator
) -> AttackSuccess:
    rate = _inferred(released, name, _drawn(people, n_attacks, rng))
    control = None if others is None else _inferred(released, name, _drawn(others, n_attacks, rng))
    book = released.encoded[name]
    guess = _guess(released.overall(name), book)
    baseline = _are_right(np.full(people.n_rows, guess), _truth(people, book), book)
    return AttackSuccess.of(f"inference of {name}", rate, control, float(baseline.mean()))


def _inferred(released: Table, name: str, people: Table) -> Rate:
    """Return how many of the people have the value that is guessed from the rows that may be theirs."""
    book, counts = released.encoded[name], released.groups().sensitive[name]
    usual = _guess(released.overall(name), book)
    starts, lengths = counts.indptr[:-1], np.diff(counts.indptr)
    guesses = np.full(people.n_rows, usual)
    for person, classes in enumerate(_fitting(released, people, released.schema.quasi)):
        if classes.size:
            entries = spans(starts[classes], lengths[classes])
            tally = np.bincount(counts.values[entries], counts.counts[entries], book.n_codes)
            guesses[person] = _guess(tally, book)
    right = _are_right(guesses, _truth(people, book), book)
    return Rate.of(int(right.sum()), right.size)


def _guess(tally: Any, book: Codebook) -> int:
    """Return the code to guess: the commonest, or the median of numbers of many values."""
    if _is_measured(book) and tally[1:].sum():
        ends = np.cumsum(tally[1:])
        return int(np.searchsorted(ends, ends[-1] / 2)) + 1
    return int(tally.argmax())


def _truth(people: Table, book: Codebook) -> Any:
    """Return the true values of people: as numbers where they are measured, else as codes of the release, or -1."""
    true = people.encoded[book.name]
    rows = np.asarray(people.tuples.rows)
    own = people.codes(book.name)[rows]
    if _is_measured(book):
        return np.append(np.nan, as_line(true.values))[own]
    # A value that the release does not have becomes -1, and null 0.
    places = pa.compute.index_in(texts(true.values), value_set=texts(book.values)).fill_null(-2)
    return np.append(0, np.asarray(places) + 1)[own]


def _are_right(guesses: IntArray, truth: Any, book: Codebook) -> Any:
    if not _is_measured(book):
        return guesses == truth
    line = np.append(np.nan, as_line(book.values))
    return np.abs(line[guesses] - truth) <= _NEAR * np.ptp(line[1:])


def _is_measured(book: Codebook) -> bool:
    return book.kind is ColumnType.NUMBER and len(book.values) > _MOST_CLASSES


def _drawn(people: Table, n_attacks: int, rng: np.random.Generator) -> Table:
    """Draw the people who are attacked."""
    if people.n_rows <= n_attacks:
        return people
    rows = np.sort(rng.choice(people.n_rows, n_attacks, replace=False))
    columns: Mapping[str, pa.Array] = people.source.columns(list(people.schema))
    frame = pa.table({name: column.take(pa.array(rows)) for name, column in columns.items()})
    return Table(frame, people.schema)


def _rows(table: Table, n: int, rng: np.random.Generator) -> IntArray:
    """Draw tuples of a table, as often as rows have them."""
    return np.searchsorted(np.cumsum(table.tuples.counts), rng.integers(table.n_rows, size=n), side="right")
