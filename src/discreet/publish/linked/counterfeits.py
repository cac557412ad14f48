"""Counterfeited generalization: m-invariant releases of a table that grows and shrinks (Xiao & Tao, SIGMOD 2007)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, InputError, SchemaError
from discreet.core.params import Constraints, InstanceOf, IntIn, check_parameters, require
from discreet.core.release import Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, generator
from discreet.core.schema import Role, Schema, other
from discreet.core.tables.grouped import GroupedTable
from discreet.core.tables.labels import texts
from discreet.core.tables.publication import defused, publishable
from discreet.core.tables.source import Replacement
from discreet.core.tables.table import Table
from discreet.guarantees import MInvariance
from discreet.measure.tables.risk import refuse_singling_out
from discreet.publish.linked.released_groups import (
    NOBODY,
    STATE,
    ReleasedGroups,
    Signature,
    Value,
    null_first,
    signature_order,
    trees_of,
)
from discreet.publish.recipes.recipe_parts import recipe_of
from discreet.publish.tables.anatomy import _fresh_name
from discreet.publish.tables.boxes import Segments, boxes
from discreet.publish.tables.partition import overall_counts, quasi_books

Bucket: TypeAlias = dict[Value, list[int]]
"""The people of a bucket by their value; -1 is a counterfeit."""


@public
@dataclass(repr=False, eq=False)
class CounterfeitedGeneralization:
    """Publish a table again and again, as people come and go, so that no two releases together say more than one.

    Groups hold m people or more, all with different sensitive values. Who was released before comes into a group with
    the same set of values, its signature; where the other people of such a group are gone and nobody new has their
    values, counterfeit rows take their places. They cannot be told from others; how many a group has is published with
    it, as in the paper, so that counts can be corrected. Each row is published with the box of its group, and the
    values of a group are counted apart, each once.

    The first release needs a table in which no value is more frequent than 1/m. Later ones need the private folder of
    the release before, in which keyed digests of everybody released stand with their signatures.

    Parameters
    ----------
    m
        The least number of values of a group; a number, or a `MInvariance`.
    previous
        The release before, without which this is the first one: its folder, a `Release`, or, where the earlier releases
        were made elsewhere, a mapping from the key of each person to the values of the group.
    random_state
        Seeds which of several new people with a value balance a group, where counterfeits lie, and the order of rows.

    Examples
    --------
    The paper's second release (its tables 1 to 3): T(1) was published in five groups; Alice, Andy, Helen, Ken and Paul
    leave, five others come. Two counterfeits are needed: bronchitis beside Bob, and flu beside Jane and Linda.

    >>> from discreet import Table, person, quasi, sensitive
    >>> earlier = {"Bob": ["dyspepsia", "bronchitis"], "David": ["flu", "gastritis"], "Gary": ["flu", "gastritis"],
    ...     "Jane": ["dyspepsia", "flu", "gastritis"], "Linda": ["dyspepsia", "flu", "gastritis"],
    ...     "Steve": ["dyspepsia", "gastritis"]}
    >>> rows = [("Bob", 21, 12, "dyspepsia"), ("David", 23, 25, "gastritis"), ("Emily", 25, 21, "flu"),
    ...     ("Jane", 37, 33, "dyspepsia"), ("Linda", 43, 26, "gastritis"), ("Gary", 41, 20, "flu"),
    ...     ("Mary", 46, 30, "gastritis"), ("Ray", 54, 31, "dyspepsia"), ("Steve", 56, 34, "gastritis"),
    ...     ("Tom", 60, 44, "gastritis"), ("Vince", 65, 36, "flu")]
    >>> columns = dict(zip(["name", "age", "zip", "disease"], map(list, zip(*rows))))
    >>> roles = {"name": person(), "age": quasi(), "zip": quasi(), "disease": sensitive()}
    >>> release = CounterfeitedGeneralization(2, previous=earlier, random_state=1).release(
    ...     Table(pa.table(columns), roles))
    >>> for box in sorted({(row["age"], row["zip"], row["counterfeits"]) for row in release.frame.to_pylist()}):
    ...     print(*box)
    21 12 1
    [23, 25] [21, 25] 0
    [37, 43] [26, 33] 1
    [41, 46] [20, 30] 0
    [54, 56] [31, 34] 0
    [60, 65] [36, 44] 0

    References
    ----------
    X. Xiao, Y. Tao: m-invariance: towards privacy preserving re-publication of dynamic datasets. SIGMOD 2007.
    """

    m: int | MInvariance
    _: KW_ONLY
    previous: Release | Mapping[str, Any] | str | Path | None = None
    random_state: RandomState = None

    constraints: ClassVar[Constraints] = {
        "m": (IntIn(2), InstanceOf((MInvariance,), "an MInvariance")),
        "previous": InstanceOf((Release, Mapping, str, Path, type(None)), "None, a release or its folder"),
        "random_state": RANDOM_STATE,
    }

    def __post_init__(self) -> None:
        """Refuse parameters of the wrong type where they are passed, not when a table comes."""
        check_parameters(self)

    @property
    def guarantee(self) -> MInvariance:
        """The guarantee, of a first release."""
        return self.m if isinstance(self.m, MInvariance) else MInvariance(self.m)

    def release(self, table: Table) -> Release:
        """Publish the table, beside what was released of the same people before."""
        check_parameters(self)
        require(self, "table", table, InstanceOf((Table,), "a Table"))
        secret = _refuse_unfit(table)
        rng = generator(self.random_state, owner=self)
        state = ReleasedGroups.of(self.previous, table, self.guarantee, rng)
        people = state.digests(table)
        values = texts(table.encoded[secret].values).to_pylist()
        value = [None if code == 0 else values[code - 1] for code in table.codes(secret).tolist()]
        state.refuse_changed(people, value)
        guarantee = MInvariance(self.guarantee.m, release=state.n_releases + 1, of=secret)
        buckets = self._buckets(people, value, state, rng)
        positions = _positions(table)
        groups = [
            each
            for key in sorted(buckets, key=signature_order)
            for each in _split(buckets[key], positions, rng)
        ]
        order = rng.permutation(len(groups))
        groups = [groups[number] for number in order]
        kept = state.grown(people, groups, guarantee, trees_of(table))
        recognized = sum(each in state.signatures for each in people)
        release = self._published(table, secret, groups, guarantee, kept, rng, recognized)
        return replace(
            release, recipe={**release.recipe, **({"follows": state.follows} if state.follows else {})}
        )

    # The paper's phases: divide those who stay by signature, balance each bucket, assign the others, split into groups.

    def _buckets(
        self, people: list[str], value: list[Value], state: ReleasedGroups, rng: np.random.Generator
    ) -> dict[Signature, Bucket]:
        buckets: dict[Signature, Bucket] = {}
        new: dict[Value, list[int]] = {}
        # In random order: chance, not the order of rows, says which new people balance a bucket.
        for number in rng.permutation(len(people)).tolist():
            signature = state.signatures.get(people[number])
            if signature is None:
                new.setdefault(value[number], []).append(number)
            else:
                bucket = buckets.setdefault(signature, {each: [] for each in signature})
                bucket[value[number]].append(number)
        m = self.guarantee.m
        if not state.n_releases:
            _refuse_too_frequent(new, m)
        for signature in sorted(buckets, key=signature_order):
            _balance(buckets[signature], new, m)
        known = {each for signature in state.signatures.values() for each in signature} | set(value)
        _assign(buckets, new, m, known)
        return buckets

    def _published(
        self,
        table: Table,
        secret: str,
        groups: list[dict[Value, int]],
        guarantee: MInvariance,
        state: dict[str, Any],
        rng: np.random.Generator,
        recognized: int,
    ) -> Release:
        """Publish a row for each value of each group, people's and counterfeit ones alike, with the group's box."""
        # Counterfeits lie nowhere: a box is that of the people in it.
        real = [np.array([each for each in group.values() if each != NOBODY]) for group in groups]
        sizes = np.array([len(members) for members in real])
        books, members = quasi_books(table), np.concatenate(real)
        codes = table.tuples.codes[members][:, : len(books)].copy()
        high = np.cumsum(sizes).astype(np.int32)
        segments = Segments(codes, np.ones(len(codes), np.int64), (high - sizes).astype(np.int32), high)
        described = boxes(books, segments, overall_counts(table))
        labels = {name: Replacement(box.index, box.labels) for name, box in described.items()}
        widths = np.array([len(group) for group in groups])
        rows = np.repeat(np.arange(len(groups)), widths)[rng.permutation(int(widths.sum()))]
        taken = list(table.schema)
        group_name, fake_name = _fresh_name("group", taken), _fresh_name("counterfeits", taken)
        columns = {name: cell.labels.take(pa.array(cell.index[rows])) for name, cell in labels.items()}
        columns |= {
            group_name: pa.array(rows, pa.int32()),
            fake_name: pa.array((widths - sizes)[rows], pa.int32()),
        }
        held = [
            (number, each) for number, group in enumerate(groups) for each in sorted(group, key=null_first)
        ]
        shown = pa.array([each for _, each in held], pa.string())
        counts = pa.table(
            [pa.array([number for number, _ in held], pa.int32()),
             defused(shown) if table.spreadsheet_safe else shown,
             pa.array(np.ones(len(held), np.int64))],
            names=[group_name, secret, _fresh_name("count", [group_name, secret])],
        )  # fmt: skip
        roles = {name: table.schema.released()[name] for name in table.schema.quasi}
        recipe = recipe_of(replace(self, m=guarantee), table, parameters={"m": guarantee.m}, groups=labels)
        n_fake = int((widths - sizes).sum())
        entries = [*recipe.public["columns"], {"name": fake_name, "role": "other"}]
        return Release(
            GroupedTable(table.framed(publishable(pa.table(columns))), publishable(counts), group_name),
            guarantee,
            Evidence(
                table.n_rows,
                widths,
                {name: box.cells for name, box in described.items()},
                details={"counterfeits": n_fake, "groups": len(groups), "minimality": True},
            ),
            recipe.public | {"columns": entries, "counterfeits": n_fake},
            kind="grouped-table",
            schema=Schema({**roles, group_name: other(), fake_name: other()}),
            original=table,
            private={**recipe.private, "format": 1, STATE: state, "recognized": recognized},
        )


def _refuse_unfit(table: Table) -> str:
    """Return the sensitive column; refuse tables that cannot be published again and again."""
    schema = table.schema
    if len(schema.sensitive) != 1:
        raise SchemaError(
            f"m-invariance is about exactly one sensitive column, and {len(schema.sensitive)} are named."
        )
    if schema.person is None:
        raise SchemaError("m-invariance follows people from release to release: mark their key as person.")
    if schema[schema.person].key is not None or any(
        schema[each].key for each in schema.named(Role.IDENTIFIER)
    ):
        raise SchemaError(
            "Pseudonyms would tie the releases of a person, whatever their groups: drop the key."
        )
    if schema.named(Role.OTHER):
        raise SchemaError(
            "Counterfeit rows have quasi-identifiers and a sensitive value only: drop columns of the role other."
        )
    missing = int(table.overall(schema.person)[0])
    if missing:
        raise InputError(
            f"The key '{schema.person}' is missing in {missing:,} rows: say who they are, or leave them out."
        )
    if table.n_rows != table.encoded[schema.person].n_codes - 1:
        raise InputError(
            "m-invariance publishes one row of each person, and some have several: keep one row of each."
        )
    refuse_singling_out(table)
    return schema.sensitive[0]


def _refuse_too_frequent(new: Mapping[Value, list[int]], m: int) -> None:
    sizes = [len(rows) for rows in new.values()]
    if max(sizes) * m > sum(sizes):
        raise InfeasibleError(
            f"No first release can keep m={m}: a value may be in at most {sum(sizes) // m} of the {sum(sizes)} rows, "
            f"and one is in {max(sizes)}. Use m={sum(sizes) // max(sizes)} at most."
        )


def _eligible(sizes: Mapping[Value, int], m: int) -> bool:
    """Return whether so many rows of each value fill groups of m different values."""
    return max(sizes.values(), default=0) * m <= sum(sizes.values())


def _balance(bucket: Bucket, new: dict[Value, list[int]], m: int) -> None:
    """Make every value of a bucket as frequent as its most frequent one, by new people, else by counterfeits.

    New people are taken only as long as those who remain can still fill groups of m values.
    """
    most = max(map(len, bucket.values()))
    sizes = Counter({value: len(rows) for value, rows in new.items()})
    for value, rows in bucket.items():
        while len(rows) < most:
            fits = sizes[value] and _eligible(sizes - Counter([value]), m)
            rows.append(new[value].pop() if fits else NOBODY)
            sizes -= Counter([value] if fits else [])


def _assign(buckets: dict[Signature, Bucket], new: dict[Value, list[int]], m: int, known: set[Value]) -> None:
    """Put the new people into buckets of m different values, the most frequent values first; counterfeits fill up.

    As in Anatomy, taking one of each of the m most frequent values leaves fewer than m people over, of different
    values, as long as the rest can fill groups; each of those joins people of m values that lack theirs.
    """
    taken: list[dict[Value, int]] = []
    while True:
        left = sorted(
            (value for value, rows in new.items() if rows),
            key=lambda value: (-len(new[value]), null_first(value)),
        )
        if len(left) < m:
            break
        taken.append({value: new[value].pop() for value in left[:m]})
    for value in left:
        for person in new[value]:
            lacking = min((each for each in taken if value not in each), key=len, default=None)
            if lacking is not None:
                lacking[value] = person
                continue
            fitting = min((each for each in buckets if value in each), key=signature_order, default=None)
            if fitting is None:
                others = sorted(known - {value}, key=null_first)[: m - 1]
                if len(others) < m - 1:
                    raise InfeasibleError(
                        f"There are fewer than m={m} different sensitive values, and no group can have as many."
                    )
                fitting = tuple(sorted([value, *others], key=null_first))
            taken.append({each: person if each == value else NOBODY for each in fitting})
    for group in taken:
        bucket = buckets.setdefault(tuple(sorted(group, key=null_first)), {each: [] for each in group})
        for value, person in group.items():
            bucket[value].append(person)


def _positions(table: Table) -> FloatArray:
    """Return where each row lies in every quasi-identifier, from 0 to 1; the last row is that of counterfeits."""
    books = quasi_books(table)
    columns = [np.nan_to_num(book.positions)[table.codes(book.name)] for book in books]
    positions = np.stack(columns, axis=1).astype(np.float64)
    ranges = np.ptp(positions, axis=0)
    return np.vstack([positions / np.where(ranges > 0, ranges, 1.0), np.full(len(books), np.nan)])


def _split(bucket: Bucket, positions: FloatArray, rng: np.random.Generator) -> list[dict[Value, int]]:
    """Divide a balanced bucket into groups with one row of each value, along the column that leaves the tightest boxes.

    Every value's rows are put in the order of the column and cut at the same place, so that both parts are balanced.
    Counterfeits lie anywhere, but never alone: a bucket has as many people as groups, or more, so that a group of
    counterfeits takes somebody from the group with most people. They keep their places, and so no group becomes one.
    """
    values = sorted(bucket, key=null_first)
    rows = np.array([rng.permutation(bucket[value]) for value in values], np.int64)
    for empty in np.flatnonzero((rows == NOBODY).all(axis=0)).tolist():
        full = int(np.argmax((rows != NOBODY).sum(axis=0)))
        at = int(np.flatnonzero(rows[:, full] != NOBODY)[0])
        rows[at, [full, empty]] = rows[at, [empty, full]]
    pending: list[IntArray] = [rows]
    groups: list[dict[Value, int]] = []
    while pending:
        rows = pending.pop()
        n = rows.shape[1]
        if n == 1:
            groups.append(dict(zip(values, rows[:, 0].tolist(), strict=True)))
            continue
        cuts = [_in_order(rows, column) for column in positions.T]
        halves = [(each[:, : n // 2], each[:, n // 2 :]) for each in cuts]
        costs = [sum(_perimeter(positions, half) for half in pair) for pair in halves]
        pending += halves[int(np.argmin(costs))]
    return groups


def _in_order(rows: IntArray, position: FloatArray) -> IntArray:
    """Return the rows of every value in the order of a column; counterfeits keep their places among them."""
    ordered = rows.copy()
    for number, each in enumerate(rows):
        real = each != NOBODY
        members = each[real]
        ordered[number, real] = members[np.argsort(position[members], kind="stable")]
    return ordered


def _perimeter(positions: NDArray[Any], rows: IntArray) -> float:
    """Return the summed widths of the box of some people."""
    inside = positions[rows[rows != NOBODY]]
    return float(np.ptp(inside, axis=0).sum()) if len(inside) else 0.0
