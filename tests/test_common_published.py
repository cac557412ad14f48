"""What every publisher of tables lets out, attacked in every format: bytes, dictionaries, buffers, order, names."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from discreet import Table, identifier, other, publish, quasi, sensitive
from discreet.core.baskets.row_items import row_items
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.core.registry import METHODS, Method, methods
from discreet.core.release import Release
from discreet.core.tables.publication import formula_cells
from discreet.engines import formats, writing
from discreet.engines.duckdb import engine as small
from discreet.guarantees import DistinctDiversity, KAnonymity, RulesHidden
from discreet.publish.recipes.recipe import Recipe
from discreet.publish.recipes.sql import statement
from tests.publishing import Publisher, every, released_rows
from tests.test_common import PUBLISHERS
from tests.written import TEXT, arrow_table, bytes_of, rows_of

FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")
KINDS = ("arrow", "pandas", "polars", "duckdb", "engine")
PLANTED, HIDDEN = "PLANTED-7731", 7_731_773_177_317_731
ROLES = {
    "name": identifier(),
    "age": quasi(),
    "city": quasi(),
    "weight": quasi(),
    "disease": sensitive(),
    "note": other(),
    "visits": other(),
}


def applied(guarantee: Any, **more: Any) -> Any:
    """A publisher that makes a recipe from the table and applies it to the same rows."""

    class Applied:
        def release(self, table: Table) -> Release:
            levels = {} if guarantee == KAnonymity(1) else {table.schema.quasi[0]: 1}
            made = publish.Generalization(guarantee, levels=levels, max_suppressed=0.99).release(table)
            return Recipe(made.recipe).apply(table.frame, max_suppressed=0.99, **more)

    return Applied()


def hiding(method: Method) -> Publisher:
    """Return how to make a hider that hides the rarest values of a table's columns, or rules that end in them."""

    def make(guarantee: Any, **more: Any) -> Any:
        class Hiding:
            def release(self, table: Table) -> Release:
                rules = rare_rules(table, by_confidence=method.name in ("1.b", "wsda"))
                return method.make(RulesHidden(rules, 1, 0.01), **more).hide(table)

        return Hiding()

    return make


def rare_rules(table: Table, *, by_confidence: bool) -> list[Any]:
    """Return the rarest value of each column as sensitive, where few rows hold it; of a rule, its right-hand side."""
    baskets = row_items(table, None, [], owner="test").baskets(table)
    counts = dict(zip(baskets.names.to_pylist(), baskets.counts.tolist(), strict=True))
    first = min(counts, key=lambda name: (-counts[name], name))
    rare = []
    for column in (*table.schema.quasi, *table.schema.sensitive):
        mine = {name: count for name, count in counts.items() if name.startswith(f"{column}=")}
        least = min(mine, key=lambda name: (mine[name], name), default=None)
        if least is not None and mine[least] * 2.5 < table.n_rows:
            rare.append(least)
    rare = [one for one in rare if one != first] or [min(counts, key=lambda name: (counts[name], name))]
    return [((first,), (one,)) for one in rare if one != first] if by_confidence else [[one] for one in rare]


EVERYONE = {
    **PUBLISHERS,
    **{method.class_name: [hiding(method)] for method in methods(role="hider", takes="table")},
    "remove_transactions": [hiding(METHODS["remove_transactions"])],
    "Recipe": [applied],
    "Anatomy": [lambda guarantee, **more: publish.Anatomy(2, **more)],
    "Condensation": [lambda guarantee, **more: publish.Condensation(3, **more)],
}
every_publisher = every({name: made[:1] for name, made in EVERYONE.items()})
judged_publisher = every({**PUBLISHERS, "Recipe": [applied]})


def planted_rows(n: int = 60) -> pa.Table:
    """Rows of two ages and cities, with one that stands out in every column and has to be suppressed."""
    cities = ["Rome", "Oslo"] * (n // 2)
    hidden = pa.Array.from_buffers(
        pa.int64(), n + 1, [_all_but_last(n + 1), pa.py_buffer(np.full(n + 1, HIDDEN).tobytes())]
    )
    return pa.table(
        {
            "name": [f"NAME-{PLANTED}-{number}" for number in range(n + 1)],
            "age": pa.array([30, 40] * (n // 2) + [HIDDEN]),
            "city": pa.array([*cities, f"CITY-{PLANTED}"]).dictionary_encode(),
            "weight": pa.array([0.5, 1.5] * (n // 2) + [None]),
            "disease": pa.array([*"abc" * (n // 3), f"ILL-{PLANTED}"]).dictionary_encode(),
            "note": pa.array([*["p", "q"] * (n // 2), f"NOTE-{PLANTED}"]).dictionary_encode(),
            "visits": hidden,
        }
    )


def counted(release: Release) -> str:
    """Return the sensitive counts of a release of groups as text."""
    counts = getattr(release.data, "counts", None)
    return "" if counts is None else str(counts.to_pylist())


def _all_but_last(n: int) -> pa.Buffer:
    """Mark every row as null: what lies under the nulls is hidden."""
    return pa.py_buffer(np.zeros((n + 7) // 8, np.uint8))


def made_as(kind: str, table: pa.Table) -> Any:
    """Return rows as a kind of frame, with every dictionary, buffer and piece of metadata it can carry."""
    if kind == "arrow":
        fields = [field.with_metadata({"of": PLANTED}) for field in table.schema]
        return pa.table(table.columns, schema=pa.schema(fields, metadata={"of": PLANTED}))
    if kind == "pandas":
        frame = table.drop_columns("visits").to_pandas()
        frame["visits"] = pd.arrays.IntegerArray(np.full(len(frame), HIDDEN), np.ones(len(frame), np.bool_))
        frame.attrs["of"] = PLANTED
        frame.index = pd.Index([f"{PLANTED}-{row}" for row in range(len(frame))], name=PLANTED)
        frame.columns.name = PLANTED
        return frame
    if kind == "polars":
        frame = pl.DataFrame(table.drop_columns("visits")).with_columns(visits=pl.lit(None, pl.Int64))
        cities = frame["city"].cast(pl.String)
        return frame.with_columns(cities.cast(pl.Enum(sorted(set(cities)))))
    connection = duckdb.connect()
    relation = connection.from_arrow(table)
    cities = sorted({str(city) for city in table["city"].to_pylist()})
    listed = ", ".join(f"'{city}'" for city in cities)
    cells = f"name, age, city::ENUM({listed}) AS city, weight, disease, note, visits"
    relation.project(cells).create("people")
    return connection.table("people")


@pytest.fixture(autouse=True)
def plain_parquet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write Parquet files without compression, so that their bytes can be read."""
    monkeypatch.setattr(formats, "PARQUET_COMPRESSION", "none")


@pytest.fixture
def in_place(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return how to make frames; relations of the kind "engine" are not fetched."""

    def make(kind: str, table: pa.Table) -> Any:
        if kind == "engine":
            monkeypatch.setattr(small, "HELD_ROWS", 0)
        return made_as(kind, table)

    return make


@every_publisher
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_released_is_in_no_byte(
    make: Publisher, kind: str, in_place: Any, tmp_path: Path
) -> None:
    release = make(KAnonymity(3), random_state=1).release(Table(in_place(kind, planted_rows()), ROLES))
    shown = str(released_rows(release)) + counted(release)
    needles = [f"NAME-{PLANTED}", *(f"{what}-{PLANTED}" for what in ("CITY", "ILL", "NOTE"))]
    absent = [needle.encode() for needle in needles if needle not in shown]
    assert f"NAME-{PLANTED}".encode() in absent
    hidden = [struct.pack("<q", HIDDEN), str(HIDDEN).encode()] if str(HIDDEN) not in shown else []
    for form in FORMATS:
        path = writing.write_frame(release.frame, tmp_path / form / f"data.{form}", form)
        if hasattr(release.data, "counts"):
            writing.write_frame(release.data.counts, tmp_path / form / f"counts.{form}", form)
        written = bytes_of(path.parent)
        for needle in (*absent, *hidden):
            assert needle not in written, (form, needle)
        if not any(PLANTED in needle for needle in (shown,)):
            assert PLANTED.encode() not in written, form


@every(
    {
        # The last variant suppresses rows; that of levels then keeps some in a class of stars.
        name: EVERYONE[name][-2:-1] if name == "OptimalLattice" else EVERYONE[name][-1:]
        for name in ("OptimalLattice", "Samarati", "Incognito", "Generalization", "Recipe")
    }
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_suppressed_row_leaves_nothing_behind(make: Publisher, kind: str, in_place: Any) -> None:
    release = make(KAnonymity(3), random_state=1).release(Table(in_place(kind, planted_rows()), ROLES))
    assert release.evidence.suppressed == 1
    frame = release.frame
    if kind == "arrow":
        values = [
            value for name in ("disease", "note") for value in frame[name].chunk(0).dictionary.to_pylist()
        ]
        assert values == ["a", "b", "c", "p", "q"]
        assert frame.schema.metadata is None
        assert all(field.metadata is None for field in frame.schema)
        assert not any(
            struct.pack("<q", HIDDEN) in bytes(buffer)
            for column in frame.columns
            for chunk in column.chunks
            for buffer in chunk.buffers()
            if buffer is not None
        )
    elif kind == "pandas":
        assert list(frame["disease"].cat.categories) == ["a", "b", "c"]
        assert frame.attrs == {}
        assert frame.columns.name is None
        assert frame.index.equals(pd.RangeIndex(len(frame)))
        assert not (frame["visits"].array._data == HIDDEN).any()
    elif kind == "polars":
        assert sorted(frame["disease"].to_arrow().dictionary.to_pylist()) == ["a", "b", "c"]
        city = frame.schema["city"]
        assert not isinstance(city, pl.Enum) or PLANTED not in str(city.categories.to_list())
    else:
        assert not [type_ for type_ in frame.types if str(type_).startswith("ENUM")]


@pytest.mark.parametrize("kind", ["arrow", "pandas"])
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_no_metadata_is_written(kind: str, form: str, tmp_path: Path) -> None:
    path = writing.write_frame(made_as(kind, planted_rows()), tmp_path / f"data.{form}")
    if form == "parquet":
        metadata = parquet.read_metadata(path).metadata or {}
        assert set(metadata) <= {b"ARROW:schema"}
        assert parquet.read_schema(path).metadata is None
    else:
        schema = arrow_table(path).schema
        assert schema.metadata is None
        assert all(field.metadata is None for field in schema)


@every_publisher
@pytest.mark.parametrize("kind", ["arrow", "engine"])
def test_released_rows_are_not_in_the_order_they_came(
    make: Publisher, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 300
    numbers = pa.array(np.arange(n))
    table = pa.table({"age": [30] * n, "disease": ["a", "b", "c"] * (n // 3), "visit": numbers})
    frame = table if kind == "arrow" else duckdb.connect().from_arrow(table)
    if kind == "engine":
        monkeypatch.setattr(small, "HELD_ROWS", 0)
    roles = {"age": quasi(), "disease": sensitive(), "visit": other(allow_unique=True)}
    release = make(KAnonymity(3)).release(Table(frame, roles))
    if release.kind == "pseudo-data":
        return
    order = np.array([row["visit"] for row in released_rows(release)])
    assert len(set(order)) == order.size == n - release.evidence.suppressed
    assert abs(np.corrcoef(order, np.arange(order.size))[0, 1]) < 0.4
    assert (np.diff(order) == 1).mean() < 0.2


NUMBERS = st.sampled_from([0.0, -0.0, float("nan"), None, 1.0, 1.5])
WORDS = st.sampled_from(
    ["a", "A", "a ", " a", "á", "a\u0301", "", None, "1", "1.0", 'q"', "x,y", "-0.0", "\u00a0"]
)
PEOPLE = st.lists(st.tuples(NUMBERS, WORDS, st.sampled_from(["x", "y", "x ", None])), min_size=1, max_size=24)


@judged_publisher
@given(people=PEOPLE, k=st.integers(1, 3), form=st.sampled_from(TEXT), kind=st.sampled_from(KINDS))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_written_text_keeps_the_promise(
    make: Publisher, people: list[Any], k: int, form: str, kind: str, tmp_path: Path
) -> None:
    age, city, disease = (list(column) for column in zip(*people, strict=True))
    table = pa.table(
        {
            "age": pa.array(age, pa.float64()),
            "city": pa.array(city, pa.string()),
            "disease": pa.array(disease, pa.string()),
        }
    )
    frame = {
        "arrow": lambda: table,
        "pandas": lambda: table.to_pandas(),
        "polars": lambda: pl.DataFrame(table),
    }.get(kind, lambda: duckdb.connect().from_arrow(table))()
    roles = {"age": quasi(), "city": quasi(), "disease": sensitive()}
    with pytest.MonkeyPatch.context() as patch:
        if kind == "engine":
            patch.setattr(small, "HELD_ROWS", 0)
        try:
            release = make(KAnonymity(k) & DistinctDiversity(1)).release(Table(frame, roles))
        except InfeasibleError:
            return
        assert release.verdict.ok
        path = writing.write_frame(release.frame, tmp_path / f"data.{form}", form)
    rows = rows_of(path, form)
    assert len(rows) == len(people) - release.evidence.suppressed
    classes = Counter((row["age"], row["city"]) for row in rows)
    assert min(classes.values(), default=k) >= k
    assert sorted(classes.values()) == sorted(release.groups().sizes)


RESERVED = (
    *(
        "c0",
        "c1",
        "code0",
        "value0",
        "label0",
        "new0",
        "place",
        "dropped",
        "start",
        "stop",
        "rank",
        "key0",
        "of0",
    ),
    *("source", "mapping", "admitted", "framed", "cleaned", "probed", "ranged", "counted", "count", "group"),
    *(
        "__code0",
        "__code1",
        "__label0",
        "__new0",
        "__row",
        "__dropped",
        "__rank",
        "__start",
        "__stop",
        "__key0",
    ),
    *(
        "__discreet_source",
        "__discreet_mapping",
        "__frame",
        "step_1",
        "step_2",
        "data",
        "basket",
        "item",
        "select",
    ),
)


@every_publisher
@given(data=st.data())
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_name_of_a_column_is_taken_for_ours(make: Publisher, data: st.DataObject, tmp_path: Path) -> None:
    spelled = st.sampled_from(RESERVED).flatmap(
        lambda name: st.sampled_from([name, name.upper(), name.title()])
    )
    names = data.draw(st.lists(spelled, min_size=3, max_size=3, unique_by=str.casefold))
    person = st.tuples(st.integers(0, 3), st.sampled_from("xyz"), st.integers(0, 99))
    people = data.draw(st.lists(person, min_size=8, max_size=30))
    disease, age, secret = names
    columns = [list(column) for column in zip(*((ill, old, tag) for old, ill, tag in people), strict=True)]
    lazy = data.draw(st.booleans())
    releases = []
    for taken in (("disease", "age", "secret"), (disease, age, secret)):
        frame = duckdb.connect().from_arrow(pa.table(columns, names=list(taken)))
        roles = {taken[0]: sensitive(), taken[1]: quasi(), taken[2]: identifier()}
        with pytest.MonkeyPatch.context() as patch:
            if lazy:
                patch.setattr(small, "HELD_ROWS", 0)
            try:
                publisher = _renamed(make, taken[1])
                release = publisher.release(Table(frame, roles))
            except (InfeasibleError, ParameterError):
                return
            rows = sorted(map(str, release.frame.fetchall()))
            # Hidden rules break ties by the names of items.
            is_hidden = isinstance(release.guarantee, RulesHidden)
            sizes = len(rows) if is_hidden else sorted(release.groups().sizes)
            releases.append((release.verdict.ok, sizes, None if is_hidden else rows))
            assert taken[2] not in release.frame.columns
            writing.write_frame(release.frame, tmp_path / "data.csv")
    plain, odd = releases
    assert odd == plain


def _renamed(make: Publisher, age: str) -> Any:
    """Make a publisher whose levels name the age as it is called."""
    publisher = make(KAnonymity(2), random_state=3)
    if getattr(publisher, "levels", None) == {"age": 1}:
        publisher.levels = {age: 1}
    return publisher


@given(names=st.lists(st.sampled_from(RESERVED), min_size=2, max_size=2, unique_by=str.casefold))
@settings(max_examples=25, deadline=None)
def test_a_recipe_in_sql_takes_no_column_for_a_step(names: list[str]) -> None:
    from discreet import intervals

    frame = pa.table({names[0]: [21, 22, 37, 38], names[1]: ["a", "b", "a", "b"]})
    release = publish.Generalization(KAnonymity(2), levels={names[0]: 1}).release(
        Table(frame, {names[0]: quasi(intervals(10, 20)), names[1]: sensitive()})
    )
    connection = duckdb.connect()
    connection.from_arrow(frame).create("people")
    for dialect in ("duckdb", "ansi"):
        found = connection.sql(statement(release.recipe, "people", dialect)).fetchall()
        assert Counter(found) == Counter(
            zip(*(release.frame[name].to_pylist() for name in names), strict=True)
        )


@every_publisher
@pytest.mark.parametrize("kind", KINDS)
def test_formulas_are_counted_or_defused(make: Publisher, kind: str, in_place: Any) -> None:
    rows = planted_rows().drop_columns("visits").append_column("visits", pa.array([1] * 61))
    texts = pa.array(["=1+1", "plain"] * 30 + ["@SUM"])
    rows = rows.set_column(rows.column_names.index("disease"), "disease", texts.dictionary_encode())
    roles = {**ROLES, "note": identifier(), "visits": identifier()}
    frame = in_place(kind, rows)
    release = make(KAnonymity(3), random_state=1).release(Table(frame, roles))
    published = getattr(release.data, "counts", release.frame)
    assert formula_cells(published) > 0
    safe = make(KAnonymity(3), random_state=1).release(Table(frame, roles, spreadsheet_safe=True))
    published = getattr(safe.data, "counts", safe.frame)
    assert formula_cells(published) == 0
    assert "'=1+1" in str(released_rows(safe)) + counted(safe)
    assert safe.verdict.ok
    assert safe.recipe["spreadsheet_safe"] is True
    assert "spreadsheet_safe" not in release.recipe
