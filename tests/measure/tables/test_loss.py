"""Loss against the definitions, row by row."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.oracles import tables as oracles

from discreet import Release, Table, from_mapping, intervals, quasi, sensitive
from discreet.core.errors import InfeasibleError, ParameterError, SchemaError
from discreet.guarantees import KAnonymity
from discreet.measure import Loss, aggregate, loss, loss_between
from discreet.publish import Generalization, Mondrian

WARDS = {
    "a": ("a", "early", "letters"),
    "b": ("b", "early", "letters"),
    "ç": ("ç", "middle", "letters"),
    "東": ("東", "late", "letters"),
    "y": ("y", "late", "letters"),
    "z": ("z", "late", "letters"),
}
"""A tree with a single child and leaves that a table may not show; the root has a name of its own."""
TYPES = pa.schema([("age", pa.int64()), ("ward", pa.string()), ("sex", pa.string()), ("ill", pa.string())])
Rows = list[dict[str, Any]]

ROW = st.fixed_dictionaries(
    {
        "age": st.none() | st.integers(20, 30),
        "ward": st.none() | st.sampled_from(list(WARDS)),
        "sex": st.none() | st.sampled_from(["f", "m"]),
        "ill": st.sampled_from("uvw"),
    }
)
ROWS = st.lists(ROW, min_size=1, max_size=20)
LEVELS = st.fixed_dictionaries(
    {"age": st.integers(0, 3), "ward": st.integers(0, 2), "sex": st.integers(0, 1)}
)


def table_of(rows: Rows, *, trees: bool = True, weights: tuple[float, float, float] = (1, 1, 1)) -> Table:
    age, ward = (intervals(2, 4), _ward_tree()) if trees else (None, None)
    roles = {
        "age": quasi(age, weight=weights[0]),
        "ward": quasi(ward, weight=weights[1]),
        "sex": quasi(weight=weights[2]),
        "ill": sensitive(),
    }
    return Table(pa.Table.from_pylist(rows, schema=TYPES), roles)


def _ward_tree() -> Any:
    return from_mapping(
        {leaf: path[1] for leaf, path in WARDS.items()}, {path[1]: path[2] for path in WARDS.values()}
    )


def paths_of(rows: Rows) -> dict[str, oracles.Path]:
    """The trees as the oracles read them: ages and sexes over the values that occur."""
    ages, sexes = ({row[name] for row in rows} - {None} for name in ("age", "sex"))
    return {
        "age": {age: (age, age // 2, age // 4, "*") for age in ages} | {None: (None, None, None, "*")},
        "ward": WARDS | {None: (None, None, "letters")},
        "sex": {sex: (sex, "*") for sex in sexes} | {None: (None, "*")},
    }


def generalized(rows: Rows, levels: dict[str, int], k: int, **options: Any) -> tuple[Release, list[bool]]:
    """A full-domain release that suppresses classes below k, and which rows it keeps."""
    table = table_of(rows, **options)
    try:
        release = Generalization(KAnonymity(k), levels=levels, max_suppressed=1.0).release(table)
    except InfeasibleError:
        assume(False)
    keys = [tuple(path[row[name]][levels[name]] for name, path in paths_of(rows).items()) for row in rows]
    return release, [keys.count(key) >= k for key in keys]


def has_several_leaves(rows: Rows) -> bool:
    """Whether no tree has a single leaf: (leaves - 1)/(D - 1) says nothing of it."""
    distinct = {name: {row[name] for row in rows} - {None} for name in ("age", "ward", "sex")}
    return len(distinct["age"]) > 1 and len(distinct["sex"]) > 1 and len(distinct["ward"]) > 0


VARIED = ROWS.filter(has_several_leaves)


def flat_figures(found: Loss) -> dict[str, Any]:
    """Every figure by its path."""
    figures: dict[str, Any] = {}
    open_ends: list[tuple[str, Any]] = list(found.to_dict().items())
    while open_ends:
        name, value = open_ends.pop()
        if isinstance(value, dict):
            open_ends += [(f"{name}.{key}", below) for key, below in value.items()]
        else:
            figures[name] = value
    return figures


def same(left: Loss, right: Loss) -> None:
    expected = {name: value for name, value in flat_figures(left).items() if value is not None}
    found = {name: value for name, value in flat_figures(right).items() if value is not None}
    assert found == pytest.approx(expected, abs=1e-9)


@given(rows=VARIED, levels=LEVELS, k=st.integers(1, 3), g=st.floats(0, 1))
def test_generalization_against_the_definitions(rows: Rows, levels: dict[str, int], k: int, g: float) -> None:
    release, kept = generalized(rows, levels, k)
    found, n, s = loss(release), len(rows), kept.count(False)
    factored = found.generalized(g)
    spans, gaps = 0.0, 0.0
    for name, path in paths_of(rows).items():
        values, level = oracles.column(rows, name), levels[name]
        assert found.columns[name] == pytest.approx(oracles.column_loss(values, path, level, kept), abs=1e-9)
        assert factored[name] == pytest.approx(oracles.column_loss(values, path, level, kept, g), abs=1e-9)
        for entropy, monotone in ((found.entropy, False), (found.entropy_monotone, True)):
            assert entropy is not None
            bits = oracles.entropy_bits(values, path, level, kept, monotone=monotone)
            assert entropy.bits[name] == pytest.approx(bits, abs=1e-9)
            most = oracles.most_bits(values)
            assert entropy.normalized[name] == pytest.approx(bits / most if most else 0.0, abs=1e-9)
        shares = [
            float(oracles.leaf_share(path, value, level)) if stays else 1.0
            for value, stays in zip(values, kept, strict=True)
        ]
        least = 1 / (len(path) - 1)
        spans, gaps = spans + 1 - least, gaps + np.mean(shares) - least
    assert found.granularity == pytest.approx(1 - gaps / spans)
    assert (found.suppressed, found.suppressed_share, found.n_rows) == (s, s / n, n)
    classes = classes_of(rows, levels)
    stay = [size for size in classes if size >= k]
    assert found.discernibility == oracles.discernibility(stay, s, n)
    assert found.discernibility_monotone == oracles.discernibility(classes, 0, n)
    assert found.average_class_size == n / (len(stay) + (s > 0))
    heights = {"age": 3, "ward": 2, "sex": 1}
    precise = [((n - s) * levels[name] / height + s) / n for name, height in heights.items()]
    assert found.precision == pytest.approx(np.mean(precise))
    assert found.precision_monotone == pytest.approx(np.mean([levels[c] / h for c, h in heights.items()]))
    assert found.height == sum(levels.values())


def classes_of(rows: Rows, levels: dict[str, int]) -> list[int]:
    nodes = [{name: path[row[name]][levels[name]] for name, path in paths_of(rows).items()} for row in rows]
    return [len(members) for members in oracles.equivalence_classes(nodes, list(levels))]


@given(rows=VARIED, levels=LEVELS, k=st.integers(1, 3))
def test_reading_a_generalization_back_gives_the_same(rows: Rows, levels: dict[str, int], k: int) -> None:
    release, _ = generalized(rows, levels, k)
    same(loss(release), loss_between(release.original, release.table, levels=levels))
    if release.evidence.suppressed == 0:
        blind = flat_figures(loss_between(release.original, release.table))
        known = flat_figures(loss(release)) | {"precision": None, "precision_monotone": None, "height": None}
        assert {name for name, value in blind.items() if value is None} == {
            "precision",
            "precision_monotone",
            "height",
        }
        assert blind == pytest.approx(known, abs=1e-9)


@given(rows=VARIED, levels=LEVELS)
def test_starred_rows_count_as_suppressed_when_told(rows: Rows, levels: dict[str, int]) -> None:
    """A release that stars rows in place costs what one does that leaves them out."""
    release, _ = generalized(rows, levels, 2)
    s = release.evidence.suppressed
    frame = pa.table({name: release.frame[name].cast(pa.string()) for name in TYPES.names})
    stars = pa.table({name: ["*"] * s for name in TYPES.names}, schema=frame.schema)
    starred = Table(pa.concat_tables([frame, stars]), release.schema)
    assume(starred.groups().sizes[starred.groups().suppressed].sum() == s)
    same(loss(release), loss_between(release.original, starred, suppressed=s, levels=levels))
    untold = loss_between(release.original, starred)
    assert untold.suppressed == 0
    assert untold.columns == pytest.approx(loss(release).columns)


@given(
    rows=VARIED,
    trees=st.booleans(),
    strict=st.booleans(),
    k=st.integers(1, 4),
    weights=st.tuples(*[st.sampled_from([0.5, 1.0, 3.0])] * 3),
)
def test_boxes_against_the_released_cells(
    rows: Rows, trees: bool, strict: bool, k: int, weights: tuple[float, float, float]
) -> None:
    assume(len(rows) >= k)
    original = table_of(rows, trees=trees, weights=weights)
    release = Mondrian(KAnonymity(k), strict=strict).release(original)
    found = loss(release)
    same(found, loss_between(original, release.table))
    cells = release.frame.to_pylist()
    for name, path in paths_of(rows).items():
        values = oracles.column(rows, name)
        if not trees:
            path = {value: (value,) for value in {*values, None}}
        covers = [covered(cell[name], path, trees=trees) for cell in cells]
        costs = [spread(cover, path, line=name == "age" and not trees) for cover in covers]
        assert found.columns[name] == pytest.approx(np.mean(costs), abs=1e-9)
        before = sum(math.log2(values.count(value)) for value in values)
        after = sum(math.log2(sum(value in cover for value in values)) for cover in covers)
        assert found.entropy.bits[name] == pytest.approx(after - before, abs=1e-9)
    sizes = [len(members) for members in oracles.equivalence_classes(cells, ["age", "ward", "sex"])]
    assert (
        found.discernibility == found.discernibility_monotone == oracles.discernibility(sizes, 0, len(rows))
    )
    assert found.average_class_size == len(rows) / len(sizes)
    weighted = [found.columns[c] * w / max(weights) for c, w in zip(found.columns, weights, strict=True)]
    assert found.total == pytest.approx(sum(weighted) / 3)
    assert found.maximum == pytest.approx(max(weighted))
    assert found.geometric == pytest.approx(math.prod(one + 1 for one in weighted) ** (1 / 3) - 1)
    assert found.precision is None
    assert found.generalized(0.5) == pytest.approx(found.columns, abs=1e-9)


def covered(cell: Any, path: oracles.Path, *, trees: bool) -> set[Any]:
    """The values a released cell may stand for, read in the plainest way."""
    if cell is None:
        return {None}
    if cell in ("*", "letters"):
        return set(path)
    if str(cell).startswith("{"):
        return set(cell[1:-1].split(", "))
    if str(cell).startswith("["):
        low, high = (int(end) for end in cell[1:-1].split(","))
        return {age for age in path if age is not None and low <= age < high + (cell[-1] == "]")}
    above = {leaf for leaf in path if cell in path[leaf]} if trees else set()
    return above or {leaf for leaf in path if str(leaf) == str(cell)}


def spread(cover: set[Any], path: oracles.Path, *, line: bool) -> float:
    leaves = set(path) - {None}
    if cover >= set(path):
        return 1.0
    known = cover - {None}
    if line:
        return (max(known) - min(known)) / (max(leaves) - min(leaves)) if known else 0.0
    return (len(known) - 1) / (len(leaves) - 1) if len(known) > 1 else 0.0


def test_suppressed_rows_of_unknown_levels_stand_for_anything() -> None:
    original = table_of([{"age": 20 + n // 2, "ward": "a", "sex": "f", "ill": "u"} for n in range(8)])
    kept = Table(original.frame.slice(0, 6), original.schema.released())
    found = loss_between(original, kept)
    assert (found.suppressed, found.columns["age"]) == (2, 2 / 8)
    assert (found.discernibility, found.average_class_size) == (3 * 4 + 8 * 2, 8 / 4)
    assert found.entropy.bits["age"] == pytest.approx(2 * math.log2(8 / 2))
    assert found.entropy_monotone is found.discernibility_monotone is found.precision is None
    assert found.generalized(0.0)["age"] == found.generalized(1.0)["age"] == pytest.approx(2 / 8)


def test_one_row_and_constant_columns_lose_nothing() -> None:
    original = table_of([{"age": 20, "ward": "a", "sex": None, "ill": "u"}])
    for release in (
        Mondrian(KAnonymity(1)).release(original),
        Generalization(KAnonymity(1), levels={}).release(original),
    ):
        found = loss(release)
        assert (found.total, found.granularity, found.entropy.total) == (0.0, 1.0, 0.0)
        assert (found.discernibility, found.average_class_size) == (1, 1.0)


def test_everything_starred_loses_everything() -> None:
    rows = [{"age": 20 + n % 3, "ward": "aç"[n % 2], "sex": "fm"[n % 2], "ill": "u"} for n in range(6)]
    original = table_of(rows)
    starred = Table(pa.table({name: ["*"] * 6 for name in TYPES.names}), original.schema.released())
    for s in (None, 6, 2):
        found = loss_between(original, starred, suppressed=s)
        assert (found.total, found.maximum, found.geometric, found.granularity) == (
            1.0,
            1.0,
            pytest.approx(1.0),
            0.0,
        )
        assert found.entropy.total_normalized == pytest.approx(1.0)
        assert found.discernibility == (36 if s is None or s == 6 else 16 + 6 * 2)
        assert found.suppressed == (s or 0)


def test_all_suppressed_but_one_class() -> None:
    rows = [{"age": age, "ward": "y", "sex": "m", "ill": "u"} for age in (20, 20, 21, 24, 28)]
    release, _ = generalized(rows, {"age": 0, "ward": 0, "sex": 0}, 2)
    found = loss(release)
    assert found.columns == {"age": 3 / 5, "ward": 3 / 5, "sex": 3 / 5}
    assert (found.discernibility, found.average_class_size) == (4 + 5 * 3, 5 / 2)
    assert found.entropy.bits["age"] == pytest.approx(3 * math.log2(3))
    assert found.entropy_monotone is not None
    assert found.entropy_monotone.total == pytest.approx(0.0, abs=1e-9)


def test_plain_data_without_values() -> None:
    rows = [{"age": 20 + n, "ward": "東", "sex": "f", "ill": "u"} for n in range(4)]
    found = loss(Mondrian(KAnonymity(2)).release(table_of(rows)))
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["columns"] == found.columns
    assert plain["total"] == found.total
    assert "東" not in repr(found) + str(plain)


def test_means_are_measured_by_their_boxes() -> None:
    rows = [{"age": 20 + n, "ward": None, "sex": "f", "ill": "u"} for n in range(4)]
    table = table_of(rows, trees=False)
    assert loss(Mondrian(KAnonymity(2), summary="mean").release(table)).columns["age"] == pytest.approx(1 / 3)


def test_refusals_name_no_value() -> None:
    rows = [{"age": 20 + n, "ward": "a", "sex": "f", "ill": "u"} for n in range(4)]
    original = table_of(rows)
    roles = {"age": quasi(), "ward": quasi(), "sex": quasi(), "ill": sensitive()}
    strange = Table(original.frame.set_column(1, "ward", pa.array(["Unheard"] * 4)), roles)
    with pytest.raises(SchemaError, match="labels of column 'ward'") as refused:
        loss_between(original, strange)
    assert "Unheard" not in str(refused.value)
    with pytest.raises(SchemaError, match="4 rows of column 'ward'") as refused:
        loss_between(original, strange, levels={"ward": 1})
    assert "Unheard" not in str(refused.value)
    with pytest.raises(SchemaError, match="4 rows more"):
        loss_between(original, Table(pa.concat_tables([original.frame] * 2), roles))
    with pytest.raises(SchemaError, match="no quasi-identifier 'ward'"):
        loss_between(original, Table(original.frame, roles | {"ward": sensitive()}))
    with pytest.raises(SchemaError, match="level is given for 'ill'"):
        loss_between(original, original, levels={"ill": 1})
    with pytest.raises(ParameterError, match="'suppressed' parameter of loss_between"):
        loss_between(original, original, suppressed=1)
    with pytest.raises(ParameterError, match="'levels' parameter of loss_between"):
        loss_between(original, original, levels={"ward": 9})
    with pytest.raises(ParameterError, match="'release' parameter of loss"):
        loss(original)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'g' parameter of generalized"):
        loss_between(original, original).generalized(2)
    with pytest.raises(ParameterError, match="'how' parameter of aggregate"):
        aggregate({"age": 0.1}, {"age": 1.0}, how="median")  # type: ignore[arg-type]
