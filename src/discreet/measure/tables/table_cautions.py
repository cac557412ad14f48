"""Cautions about tables: what a careful data officer would say although the guarantee holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.engine import engine_of
from discreet.core.errors import SchemaError
from discreet.core.figures import Caution
from discreet.core.guarantee import AllOf
from discreet.core.hierarchy.knowledge import names_units
from discreet.core.release import Release
from discreet.core.schema import DROPPED, Role
from discreet.core.tables.encoding import Codebook, value_codes
from discreet.core.tables.labels import STAR, texts
from discreet.core.tables.source import Singletons, source_of
from discreet.core.tables.table import Table
from discreet.measure.tables.risk import MOST_SINGLED_OUT, SinglingOut, is_many

DOMINATED = 0.9
"""The share of one sensitive value above which it dominates a class."""
CONSTANT = 0.99
"""The share of one released cell above which a column says next to nothing."""
HALF = 0.5
"""The share of detail above which more is lost than kept."""
MOST_NAMED = 3
"""How many columns with dominated classes get a caution of their own; more share one."""
FEWEST_UNITS, REPEATED = 20, 0.98
"""A key of people has more values than the first, and fewer than this share of the rows where they have several."""
BY_CHANCE = 0.01
"""The share of rows, in classes with too few different values, up to which people may just have the same name."""
_MANY_ROWS, _MANY_TIMES = 1_000_000, 100
"""From how many rows on, and how many times as many as classes need, all classes are looked at by a sample first."""
_LETTERS, _TRUTHS = re.compile("[^\\W\\d_eETZ]"), ("true", "false")
"""Letters that stand in no number and no date, and the words that are no text either."""


def table_cautions(release: Release, unique: SinglingOut, lost: float | None) -> Iterator[Caution]:
    """Find what a reader of a generalized table should know.

    Parameters
    ----------
    release
        A release of a table.
    unique
        The rows that columns published as they are single out.
    lost
        The loss of detail, from 0 to 1; None where it is not known.
    """
    yield from _dominated(release)
    yield from _starred(release)
    yield from _constant(release)
    yield from other_columns(release, unique)
    yield from _units(release)
    yield from _types(release)
    yield from _minimality(release)
    yield from _against_original(release)
    yield from _membership(release)
    yield from _released_before(release)
    if lost is not None and lost > HALF:
        text = f"{lost:.0%} of the detail is lost; a weaker guarantee or other hierarchies may do."
        yield Caution("half-lost", text, public=False)


def _against_original(release: Release) -> Iterator[Caution]:
    """Say what it means that classes are near a table from which rows were then left out."""
    if release.guarantee.needs_original and release.evidence.suppressed:
        yield Caution(
            "compared-with-original",
            f"Classes are compared with the table before {release.evidence.suppressed:,} rows were left out. Others "
            "cannot recompute that, and that it holds rules out some values of those rows: whoever knows whose they "
            "are may learn from it. reference='released' compares with the released rows alone.",
            public=True,
        )


def _released_before(release: Release) -> Iterator[Caution]:
    """Say how many of new rows were released before by the same recipe, and how that is known."""
    overlap = release.evidence.details.get("released_before")
    if not isinstance(overlap, Mapping):
        return
    known = f"{overlap['n_known']:,} of {overlap['n_compared']:,}"
    found = (
        f"{known} new rows are equal to rows of the earlier release that were unlike any other, in all "
        "quasi-identifiers and sensitive columns"
        if overlap["person"] is None
        else f"{known} new rows are of people in the earlier release, by column '{overlap['person']}'"
    )
    together = (
        "release old and new rows together (--released)"
        if overlap["person"] is None
        else "release old and new rows anew, as one table"
    )
    yield Caution(
        "released-before",
        f"{found}; its private folder holds keyed digests of them. Rows that stand in both releases are not judged "
        "together, and whoever has both may learn more than either shows: "
        f"{together}, or leave these rows out.",
        public=False,
    )


def _dominated(release: Release) -> Iterator[Caution]:
    """Find classes in which nearly everyone has the same sensitive value: who is in one is as good as known.

    A value that nearly everyone in the release has is no news in a class.
    """
    groups = release.groups()
    dominated_classes: dict[str, tuple[int, int]] = {}
    for name, counts in groups.sensitive.items():
        common = counts.overall >= DOMINATED * max(counts.overall.sum(), 1)
        dominated = (counts.share >= DOMINATED) & ~common[counts.values]
        classes = np.zeros(groups.n_groups, np.bool_)
        classes[counts.group[dominated]] = True
        classes &= groups.sizes > 1
        if classes.any():
            dominated_classes[name] = int(classes.sum()), int(groups.sizes[classes].sum())
    danger = f"makes up {DOMINATED:.0%} or more: whoever knows a person's class nearly knows the value. "
    if len(dominated_classes) <= MOST_NAMED:
        for name, (n_classes, rows) in dominated_classes.items():
            where = f"In {n_classes:,} classes ({rows:,} rows) one value of '{name}' "
            yield Caution("dominated-class", where + danger + _remedy(release, [name]))
        return
    worst = max(dominated_classes, key=lambda name: dominated_classes[name][1])
    n_classes, rows = dominated_classes[worst]
    where = f"In each of {len(dominated_classes)} sensitive columns there are classes in which one value "
    most = f"Most in '{worst}': {n_classes:,} classes ({rows:,} rows). "
    yield Caution("dominated-class", where + danger + most + _remedy(release, list(dominated_classes)))


_IN_FORCE = {"TCloseness": "a smaller t", "AlphaKAnonymity": "a smaller alpha"} | dict.fromkeys(
    ("DistinctDiversity", "EntropyDiversity", "RecursiveDiversity"), "a larger l"
)
"""What is stronger than a guarantee about sensitive values, by the name of its class."""


def _remedy(release: Release, names: list[str]) -> str:
    """Return what limits the share of one value in classes, beyond the guarantees that are in force."""
    stronger: dict[str, list[str]] = {}
    guarantee = release.guarantee
    for part in guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,):
        inner = getattr(part, "guarantee", part)
        words = _IN_FORCE.get(type(inner).__name__)
        if words is not None:
            for name in {*inner.columns(release.schema.sensitive)} & {*names}:
                stronger.setdefault(name, []).append(words)
    without = [name for name in names if name not in stronger]
    listed = " or ".join(dict.fromkeys(words for each in stronger.values() for words in each))
    if not stronger:
        return "Diversity or t-closeness limits that."
    if not without:
        return f"It is within the guarantee; {listed} limits that further."
    have_none = f"'{without[0]}' has" if len(without) == 1 else f"{len(without)} of them have"
    return f"{have_none} no guarantee of their own: diversity or t-closeness limits that; elsewhere {listed} does."


def _starred(release: Release) -> Iterator[Caution]:
    groups = release.groups()
    if groups.suppressed is None or not groups.suppressed.any():
        return
    rows = int(groups.sizes[groups.suppressed].sum())
    share = rows / groups.n_rows
    remedy = "Allow rows to be left out (max_suppressed), or take hierarchies with more levels."
    if release.recipe.get("parameters", {}).get("keep_suppressed") is True:
        remedy = "They were kept (keep_suppressed), and are judged as a class."
    yield Caution(
        "starred-rows",
        f"{rows:,} rows ({share:.1%}) show nothing but * in every quasi-identifier: they count as suppressed. "
        f"{remedy}",
    )


def _constant(release: Release) -> Iterator[Caution]:
    """Find columns that say next to nothing, and flatter any mean over the columns."""
    table = release.table
    hidden: list[str] = []
    constant: list[str] = []
    for name in table.schema.quasi:
        counts, book = table.overall(name), table.encoded[name]
        most = int(counts.argmax())
        if counts[most] < CONSTANT * counts.sum() or table.n_rows < 2:
            continue
        (hidden if _is_star(book, most) else constant).append(name)
    if hidden:
        yield Caution(
            "hidden-column",
            f"{_listed(hidden)}: (nearly) every cell is *. A hierarchy with finer levels may keep some detail.",
        )
    if constant:
        yield Caution(
            "constant-column",
            f"{_listed(constant)}: {CONSTANT:.0%} or more of the cells are alike, which flatters the mean loss. "
            "Drop what says nothing.",
        )


def _is_star(book: Codebook, code: int) -> bool:
    if code == 0:
        return False
    label = texts(book.values.slice(code - 1, 1))[0].as_py()
    return bool(label) and not str(label).strip(STAR)


def unique_columns(columns: Mapping[str, Singletons], remedy: str = "") -> Iterator[Caution]:
    """Find columns, published as they are, that single rows out; the remedy ends the text."""
    for name, singletons in columns.items():
        if is_many(singletons):
            yield Caution(
                "unique-column",
                f"Column '{name}' is published as it is, and {singletons.n_singletons:,} of "
                f"{singletons.n_rows:,} rows have a value of their own in it: whoever knows it finds the "
                f"person.{remedy}",
            )


def other_columns(release: Release, unique: SinglingOut) -> Iterator[Caution]:
    """Count the rows that columns published exactly single out, where that was allowed."""
    yield from unique_columns(unique.columns)
    if not any(map(is_many, unique.columns.values())) and unique.is_many_together:
        yield Caution(
            "unique-combination",
            f"{_listed(list(unique.columns))} are published as they are, and {unique.together.n_singletons:,} of "
            f"{unique.together.n_rows:,} rows have a combination of their own: whoever knows it finds the person.",
        )
    exact = dict(unique.columns)
    for name in release.schema.sensitive:
        singletons = exact[name] = release.table.singletons(name)
        yield from _one_value(release, name, singletons)
        if is_many(singletons):
            yield Caution(
                "unique-sensitive",
                f"Sensitive column '{name}' is published exactly, and {singletons.n_singletons:,} of "
                f"{singletons.n_rows:,} rows have a value of their own in it: whoever learns it elsewhere finds the "
                "person. Rounding helps.",
            )

    yield from _exact_together(release, exact)


def _exact_together(release: Release, exact: Mapping[str, Singletons]) -> Iterator[Caution]:
    """Count the rows that all columns published exactly single out together, and that the three most varied do.

    The attacker has seen these columns of a person elsewhere, in another file or a conversation, and the class does not
    matter to him.
    """
    if len(exact) < 2 or not release.schema.sensitive:
        return
    source = release.table.source
    if source.has_few_singletons(exact, MOST_SINGLED_OUT):
        return
    together = source.singletons(list(exact))
    if not is_many(together):
        return
    few = sorted(exact, key=lambda name: (-exact[name].n_distinct, name))[:MOST_NAMED]
    by_few = source.singletons(few)
    rows = release.table.n_rows
    yield Caution(
        "unique-exact",
        f"{len(exact):,} columns are published exactly, and together they single out {together.n_singletons:,} of "
        f"{rows:,} rows ({together.n_singletons / rows:.1%}); {_quoted(few)} alone do so for {by_few.n_singletons:,} "
        f"({by_few.n_singletons / rows:.1%}). Whoever knows these values of a person from elsewhere finds the row, "
        "whatever its class. Generalize some as quasi-identifiers, drop what nobody needs, or hand the release on "
        "only to those who cannot know them.",
    )


def single_values(release: Release) -> Iterator[Caution]:
    """Find sensitive columns in which every row has the same value."""
    for name in release.schema.sensitive:
        yield from _one_value(release, name, release.table.source.singletons([name]))


def _one_value(release: Release, name: str, singletons: Singletons) -> Iterator[Caution]:
    if singletons.n_distinct == 1 < singletons.n_rows == release.table.n_rows:
        yield Caution(
            "single-value",
            f"Every row has the same value of '{name}': whoever is known to be in the file has it. No guarantee about "
            "classes hides what all of them share. Drop the column where that must not be known.",
        )


def _units(release: Release) -> Iterator[Caution]:
    """Find rows that may belong to fewer people than there are rows, and people whose rows can be linked."""
    for name in _pseudonyms(release):
        linked, units = _linked_units(release.table, name)
        if linked:
            yield Caution(
                "linked-rows",
                f"The pseudonyms in '{name}' link the rows of a person, and {linked:,} of {units:,} "
                "are alone with the classes their rows are in: whoever knows several rows of a person finds them all. "
                "Drop the column unless rows must be linked.",
            )
    if release.original is None or release.original.schema.person is not None:
        return
    repeated = dict(_repeated(release, release.original))
    remedy = "give it the role person, so that no class is one person's rows."
    if len(repeated) > MOST_NAMED:
        words = f"Rows were counted, not people: {_listed(list(repeated))} repeat so that classes hold too few of "
        yield Caution(
            "rows-not-people", f"{words}their values. If one says whose row it is, {remedy}", public=False
        )
        return
    for name, words in repeated.items():
        text = f"Rows were counted, not people: '{name}' has {words}. If it says whose row it is, {remedy}"
        yield Caution("rows-not-people", text, public=False)


def _repeated(release: Release, original: Table) -> Iterator[tuple[str, str]]:
    """Find identifiers with fewer values in some class than it must have rows, and say how many they have.

    Where classes cannot be counted, or need no size, a name that says whose row it is must do. Other columns with too
    few values for a single class are categories. Values that cannot be compared, such as lists, are nobody's key.
    """
    fewest, recoding = release.guarantee.smallest, release.evidence.recoding
    for name in original.schema.named(Role.IDENTIFIER):
        counted = recoding is not None and fewest > 1
        if not counted and not names_units(name):
            continue
        if counted and _has_only_large_classes(release, original, name, fewest):
            continue
        try:
            rows = original.source.singletons([name])
        except SchemaError:
            continue
        words = f"{rows.n_distinct:,} different values in {rows.n_rows:,} rows"
        if recoding is None or not counted:
            if FEWEST_UNITS < rows.n_distinct < REPEATED * rows.n_rows:
                yield name, words
        elif rows.n_distinct < rows.n_rows and (rows.n_distinct >= fewest or names_units(name)):
            quasi = original.schema.quasi
            published = source_of(original.released_rows(recoding, true=[name], published=quasi))
            few = published.small_classes(quasi, name, fewest)
            if few > (0 if names_units(name) else BY_CHANCE * rows.n_rows):
                yield name, f"{words}, and fewer than {fewest:,} in classes with {few:,} rows"


def _has_only_large_classes(release: Release, original: Table, name: str, fewest: int) -> bool:
    """Whether no class can have fewer values of an identifier than rows are needed, where that is cheaper to see."""
    recoding, n_classes = release.evidence.recoding, release.groups().n_groups
    # To look for repeated values of all rows takes an exchange of all of them between the workers of a cluster.
    is_worth_it = release.table.n_rows >= max(_MANY_ROWS, _MANY_TIMES * fewest * n_classes)
    if recoding is None or engine_of(original.frame).fetches or not is_worth_it:
        return False
    published = source_of(original.released_rows(recoding, true=[name], published=original.schema.quasi))
    return published.has_only_large_classes(original.schema.quasi, name, fewest, n_classes)


def _types(release: Release) -> Iterator[Caution]:
    """Find columns whose type was found in the values of a file, among them values of rows that were left out."""
    original, recoding = release.original, release.evidence.recoding
    if not release.evidence.suppressed or original is None or recoding is None:
        return
    engine = engine_of(original.frame)
    if not engine.types_were_found(original.frame):
        return
    names = [
        name
        for name, column in original.schema.items()
        if column.role not in DROPPED
        and not (column.role is Role.QUASI and _is_hidden(release.table, name))
        and not _is_surely_kept(original, name, release.evidence.suppressed)
    ]
    if not names:
        return
    rows = original.released_rows(recoding, true=names)
    columns = engine.typed_by_others(original.frame, rows, names)
    if columns:
        yield Caution(
            "type-of-suppressed",
            f"{_listed(columns)}: the type, or how numbers are written, comes from rows that were suppressed, and "
            "reveals something about them to whoever knows who was suppressed. Clean those values, round them, or read "
            f"{'the column' if len(columns) == 1 else 'the columns'} as text.",
            public=False,
        )


def _minimality(release: Release) -> Iterator[Caution]:
    """Say that sensitive values decided how rows were grouped, and that the method is known to those who read it.

    Methods that may come to the same groups whether or not values decided carry the caution always, in public; of the
    others only the owner learns whether values decided.
    """
    if release.recipe.get("parameters", {}).get("target") is not None:
        yield Caution(
            "minimality",
            "Levels were chosen by how well classes predict a sensitive column. Whoever knows the method and "
            "everybody's quasi-identifiers learns from each other choice that it predicts less well, and may tie a "
            "person to a value with more than the share that the class shows, for certain in small tables. Choose "
            "levels by another measure, or yourself (generalization), where that must not be.",
        )
        return
    if not release.guarantee.judged_values(release.schema.sensitive):
        return
    always = _is_always_minimal(release.recipe)
    if always or release.evidence.details.get("minimality"):
        yield Caution(
            "minimality",
            "Classes are as fine as their sensitive values allow. Whoever knows the method and everybody's "
            "quasi-identifiers learns something from each class that is not finer, and may tie a person to a value "
            "with more than the share that the class shows. Anatomy, which draws its groups at random, and levels you "
            "choose without looking at the values (generalization) reveal no more than they show.",
            public=always,
        )


def _membership(release: Release) -> Iterator[Caution]:
    """Say that who is in the sample decided what a release judged by a population shows.

    Stated levels describe every person in one way, whoever else is in the sample. What is left out at them depends on
    the sample all the same: under k-map, that somebody is in it whom too few people are like.
    """
    guarantee = release.guarantee
    parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
    judged = {
        type(inner).__name__
        for part in parts
        if hasattr(inner := getattr(part, "guarantee", part), "population")
    }
    stated = release.recipe.get("method") == "Generalization" and not release.evidence.suppressed
    if judged and not stated:
        yield Caution(
            "membership",
            "Which labels rows have, and which rows are left out, depends on who is in the sample. Whoever has the "
            "population and knows the method can rule out the people with whom it would have published otherwise: they "
            "may find who is in the sample, and whose row is whose, although the published values fit more people of "
            "the population. Levels you choose without looking at the sample (generalization), with no row left out, "
            "reveal no more than they show.",
        )


def _is_always_minimal(recipe: Mapping[str, Any]) -> bool:
    return (
        recipe.get("method") in ("LocalRecoding", "LocalSuppression")
        or recipe.get("parameters", {}).get("strict") is False
    )


def _is_surely_kept(table: Table, name: str, suppressed: int) -> bool:
    """Return whether values that more rows have than were suppressed suffice for the type of a column.

    Some of those rows are kept, so nothing has to be read again. Other columns may be typed by suppressed rows.
    """
    book = table.encoded.get(name)
    if book is None:
        return False
    counts = table.overall(name)[1:]
    frequent = book.values.filter(pa.array(counts > suppressed))
    if pa.types.is_floating(book.type):
        numbers = frequent.to_numpy(zero_copy_only=False)
        return bool((numbers != np.floor(numbers)).any())
    if pa.types.is_integer(book.type) or pa.types.is_boolean(book.type) or pa.types.is_temporal(book.type):
        return bool(counts.sum() > suppressed)
    words = filter(_LETTERS.search, texts(frequent).to_pylist())
    return any(word.lower() not in _TRUTHS for word in words)


def _is_hidden(table: Table, name: str) -> bool:
    book = table.encoded[name]
    return len(book.values) == 1 and _is_star(book, 1)


def _pseudonyms(release: Release) -> list[str]:
    """Return the columns that hold pseudonyms in the released rows, whether they count as people or not."""
    described = [entry for entry in release.recipe.get("columns", ()) if isinstance(entry, Mapping)]
    named = [entry["name"] for entry in described if entry.get("pseudonym")]
    person = release.schema.person
    return [name for name in dict.fromkeys([*([person] if person else []), *named]) if name in release.schema]


def _linked_units(table: Table, name: str) -> tuple[int, int]:
    """Return how many pseudonyms are the only ones with their set of classes, and how many there are."""
    if name == table.schema.person:
        labels, units = table.classes[0], table.codes(name)
    else:
        columns = table.source.columns([name, *table.schema.quasi])
        codes = [value_codes(columns[column], column)[1] for column in (name, *table.schema.quasi)]
        inverse = np.unique(np.stack(codes[1:], axis=1), axis=0, return_inverse=True)[1]
        labels, units = inverse.ravel().astype(np.int32), codes[0]
    pairs = np.unique(np.stack([units, labels], axis=1), axis=0)
    starts = np.flatnonzero(np.append(True, pairs[1:, 0] != pairs[:-1, 0]))
    sets = [tuple(classes.tolist()) for classes in np.split(pairs[:, 1], starts[1:])]
    several = Counter(classes for classes in sets if len(classes) > 1)
    return sum(count == 1 for count in several.values()), len(sets)


def _quoted(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _listed(names: list[str]) -> str:
    listed = _quoted(names[:8])
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{'Column' if len(names) == 1 else 'Columns'} {listed}{more}"
