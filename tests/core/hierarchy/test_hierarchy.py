"""Hierarchies: the arrays keep their promises, specifications bind, mistakes are told without a value."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import HierarchyError, ParameterError
from discreet.core.hierarchy.bound import build_hierarchy, domain_of
from discreet.core.hierarchy.specs import (
    Hierarchy,
    HierarchySpec,
    Intervals,
    Masked,
    Rows,
    cuts,
    flat,
    from_mapping,
    intervals,
    masked,
    read_hierarchy,
    spec_from_dict,
    suggest,
    tree,
)
from discreet.core.tables.labels import parse_label, texts

SECRET = "Rumpelstiltskin"

ints = st.lists(st.integers(-300, 300), unique=True, max_size=40).map(
    lambda v: pa.array(sorted(v), pa.int64())
)
floats = st.lists(st.floats(-1e6, 1e6), unique=True, max_size=30).map(lambda v: pa.array(v, pa.float64()))
codes = st.lists(st.text("ab01", max_size=5), unique=True, max_size=30).map(
    lambda v: pa.array(v, pa.string())
)
dates = st.lists(st.dates(), unique=True, max_size=30).map(lambda v: pa.array(v, pa.date32()))
moments = st.lists(st.datetimes(), unique=True, max_size=30).map(lambda v: pa.array(v, pa.timestamp("us")))
nested = st.recursive(
    st.lists(st.integers(0, 999), min_size=1, max_size=4),
    lambda below: st.dictionaries(st.integers(1000, 9999), below, min_size=1, max_size=4),
    max_leaves=12,
)

bound_numbers = st.tuples(
    st.one_of(
        st.builds(lambda w, m: intervals(w, w * m), st.integers(1, 20), st.integers(1, 5)),
        st.builds(
            lambda w, o: intervals(w, 2 * w, origin=o, bottom=-50, top=70.5),
            st.integers(1, 9),
            st.integers(-9, 9),
        ),
        st.just(intervals(0.1, 0.5, 2.5)),
        st.just(cuts([-10, 0, 2.5, 100], [0, 100], [100])),
        st.just(flat()),
        st.builds(masked, width=st.just(40)),
    ),
    st.one_of(ints, floats),
)
bound_dates = st.tuples(
    st.sampled_from(
        [
            intervals("month", "quarter", "year"),
            intervals("day", "week"),
            intervals("day", "month"),
            intervals(1, 5, 10, unit="year"),
            intervals("year", origin="2024-04-01", bottom="1000-05-05", top=dt.date(2020, 1, 15)),
            cuts(["1500-01-01", "2000-06-15"], ["2000-06-15"]),
            flat(),
        ]
    ),
    st.one_of(dates, moments),
)
bound_codes = st.tuples(
    st.builds(
        masked,
        from_=st.sampled_from(["left", "right"]),
        levels=st.sampled_from([None, 2]),
        width=st.integers(9, 12),
    ),
    codes,
)
bound = st.one_of(bound_numbers, bound_dates, bound_codes)


def check_promises(hierarchy: Hierarchy) -> None:
    n, height = hierarchy.n_leaves, hierarchy.height
    assert height >= 1
    assert len(hierarchy.levels) == len(hierarchy.labels) == height + 1
    assert len(hierarchy.leaves.unique()) == n
    assert hierarchy.levels[0].tolist() == list(range(n + 1))
    assert hierarchy.levels[height].tolist() == [0] * (n + 1)
    assert len(hierarchy.labels[height]) == 1
    for number, (nodes, names) in enumerate(zip(hierarchy.levels, hierarchy.labels, strict=True)):
        assert nodes.dtype == np.int32
        assert nodes.shape == (n + 1,)
        assert (np.diff(nodes) >= 0).all()
        under = hierarchy.leaves_under(number)
        if number < height:
            assert set(nodes.tolist()) == set(range(len(names)))
            assert names[0] is None
            assert (nodes[1:] > 0).all()
            assert len(set(names)) == len(names)
            assert under[0] == 1
            assert under[1:].sum() == n
        else:
            assert under.tolist() == [n]
    for below, above in zip(hierarchy.levels[:-1], hierarchy.levels[1:], strict=True):
        parents = set(zip(below.tolist(), above.tolist(), strict=True))
        assert len(parents) == len(set(below.tolist()))


@given(bound)
def test_bound_hierarchies_keep_their_promises(case: tuple[HierarchySpec, pa.Array]) -> None:
    spec, values = case
    hierarchy = spec.bind(values, column="c")
    check_promises(hierarchy)
    codes = hierarchy.encode(values)
    assert hierarchy.leaves.take(pa.array(codes - 1)).equals(values)
    assert Hierarchy.from_dict(json.loads(json.dumps(hierarchy.to_dict()))) == hierarchy
    again = spec_from_dict(json.loads(json.dumps(spec.to_dict())))
    assert again == spec
    assert again.bind(values, column="c") == hierarchy


@given(st.one_of(bound_numbers, bound_dates, bound_codes))
def test_labels_cover_the_leaves_of_their_node(case: tuple[HierarchySpec, pa.Array]) -> None:
    spec, values = case
    hierarchy = spec.bind(values, column="c")
    for nodes, names in zip(hierarchy.levels, hierarchy.labels, strict=True):
        for node, name in enumerate(names):
            if name is not None:
                mine = nodes[1:] == node
                covered = parse_label(name).covers(hierarchy.leaves)
                assert covered[mine].all()
                if not isinstance(spec, Masked):
                    assert covered.tolist() == mine.tolist()


@given(bound, st.data())
def test_lowest_common_is_the_slow_one(case: tuple[HierarchySpec, pa.Array], data: st.DataObject) -> None:
    hierarchy = case[0].bind(case[1], column="c")
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, hierarchy.n_leaves)] * 2), max_size=20))
    low, high = (np.array([pair[side] for pair in pairs], dtype=np.int32) for side in (0, 1))
    level, node = hierarchy.lowest_common(low, high)
    for number, (one, other) in enumerate(pairs):
        slow = next(n for n, nodes in enumerate(hierarchy.levels) if nodes[one] == nodes[other])
        assert level[number] == slow
        assert node[number] == hierarchy.levels[slow][one]
        between = hierarchy.levels[slow][min(one, other) : max(one, other) + 1]
        assert set(between.tolist()) == {int(node[number])}


def is_tree(spec: Rows) -> bool:
    pairs = [set(zip(*two, strict=True)) for two in pairwise(spec.columns)]
    distinct = len(set(spec.columns[0])) == len(spec.columns[0])
    return distinct and all(len(two) == len({below for below, _ in two}) for two in pairs)


@given(nested, st.booleans())
def test_trees_keep_their_promises(branches: object, ordered: bool) -> None:
    spec = tree(branches, ordered=ordered)  # type: ignore[arg-type]
    if not is_tree(spec):
        with pytest.raises(HierarchyError, match=r"appear more than once|more than one parent"):
            spec.bind(pa.array([], pa.string()), column="c")
        return
    hierarchy = spec.bind(pa.array([], pa.string()), column="c")
    check_promises(hierarchy)
    assert sorted(hierarchy.leaves.to_pylist()) == sorted(spec.columns[0])
    if ordered:
        assert hierarchy.leaves.to_pylist() == list(spec.columns[0])
    assert spec_from_dict(json.loads(json.dumps(spec.to_dict()))) == spec


def test_intervals_of_numbers() -> None:
    hierarchy = intervals(5, 10, 20, bottom=20, top=90).bind(
        pa.array([3, 19, 20, 24, 25, 88, 90, 101]), column="age"
    )
    assert hierarchy.labels[1] == [None, "< 20", "[20, 24]", "[25, 29]", "[85, 89]", ">= 90"]
    assert hierarchy.labels[3] == [None, "< 20", "[20, 39]", "[80, 89]", ">= 90"]
    assert hierarchy.leaves_under(1).tolist() == [1, 2, 2, 1, 1, 2]
    assert hierarchy.ordered
    assert repr(hierarchy) == "Hierarchy(8 leaves, height 4, nodes per level 8, 5, 4, 4, 1)"


def test_intervals_of_floats_fall_on_written_bounds() -> None:
    hierarchy = intervals(0.1).bind(pa.array([0.3, 0.7, 0.6999]), column="x")
    assert hierarchy.labels[1] == [None, "[0.3, 0.4)", "[0.6, 0.7)", "[0.7, 0.8)"]


def test_infinite_values_need_coding() -> None:
    values = pa.array([float("-inf"), 1.0, float("inf")])
    with pytest.raises(HierarchyError, match="'x': 2 infinite values"):
        intervals(10).bind(values, column="x")
    coded = intervals(10, bottom=0, top=100).bind(values, column="x")
    assert coded.labels[1] == [None, "< 0", "[0, 10)", ">= 100"]


def test_intervals_of_dates() -> None:
    days = [dt.date(2023, 12, 31), dt.date(2024, 1, 1), dt.date(2024, 2, 29), dt.date(2024, 6, 1)]
    hierarchy = intervals("month", "quarter", "year").bind(pa.array(days), column="d")
    assert hierarchy.labels[1][3] == "[2024-02-01, 2024-02-29]"
    assert hierarchy.labels[2][2] == "[2024-01-01, 2024-03-31]"
    assert hierarchy.labels[3] == [None, "[2023-01-01, 2023-12-31]", "[2024-01-01, 2024-12-31]"]
    weekly = intervals("day", "week").bind(pa.array(days[:2]).cast(pa.timestamp("s")), column="d")
    assert weekly.labels[1] == [None, "[2023-12-31, 2024-01-01)", "[2024-01-01, 2024-01-02)"]
    assert weekly.labels[2] == [None, "[2023-12-25, 2024-01-01)", "[2024-01-01, 2024-01-08)"]
    fiscal = intervals("year", origin=dt.date(2024, 4, 1)).bind(pa.array(days), column="d")
    assert fiscal.labels[1] == [None, "[2023-04-01, 2024-03-31]", "[2024-04-01, 2025-03-31]"]


def test_zoned_timestamps_follow_the_local_clock() -> None:
    at = pa.array([dt.datetime(2023, 12, 31, 23, 30, tzinfo=dt.UTC)], pa.timestamp("us", "Europe/Paris"))
    hierarchy = intervals("year").bind(at, column="d")
    assert hierarchy.labels[1] == [None, "[2024-01-01, 2025-01-01)"]
    assert Hierarchy.from_dict(hierarchy.to_dict()) == hierarchy


@pytest.mark.parametrize(
    "make",
    [
        lambda: intervals(),
        lambda: intervals(5, 12),
        lambda: intervals(0),
        lambda: intervals(True),
        lambda: intervals("week", "month"),
        lambda: intervals("fortnight"),
        lambda: intervals(5, "year"),
        lambda: intervals(1.5, unit="day"),
        lambda: intervals(5, unit="eon"),
        lambda: intervals(5, bottom="2024-01-01"),
        lambda: intervals("year", top=5),
        lambda: intervals("year", top="soon"),
        lambda: intervals(5, bottom=9, top=3),
        lambda: cuts(),
        lambda: cuts([]),
        lambda: cuts([2, 1]),
        lambda: cuts([1, 2], [3]),
        lambda: cuts([1, "2024-01-01"]),
        lambda: cuts(["soon", "later"]),
        lambda: intervals("year", origin="once"),
        lambda: masked("**"),
        lambda: masked(from_="middle"),  # type: ignore[arg-type]
        lambda: masked(levels=0),
        lambda: from_mapping(),
        lambda: from_mapping(["a"]),  # type: ignore[arg-type]
        lambda: tree("abc"),
        lambda: tree({}),
        lambda: tree({"a": "bc"}),
        lambda: suggest(pa.array([1, 2]), branching=1),
        lambda: suggest(pa.array(["a", "b"]), kind="number"),
        lambda: suggest(pa.array(["a", "b"]), method="equal-width"),
        lambda: suggest(pa.array([1, 2]), counts=[1]),
    ],
)
def test_wrong_parameters_are_refused(make: object) -> None:
    with pytest.raises(ParameterError, match="parameter of"):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        (intervals(5), pa.array([SECRET])),
        (intervals(5), pa.array([dt.date(2024, 1, 1)])),
        (intervals("year"), pa.array([1])),
        (cuts([5]), pa.array([SECRET])),
    ],
)
def test_intervals_refuse_other_kinds(spec: HierarchySpec, values: pa.Array) -> None:
    with pytest.raises(HierarchyError, match=r"Column 'c' is of type") as caught:
        spec.bind(values, column="c")
    assert SECRET not in str(caught.value)


def test_masks() -> None:
    right = masked().bind(pa.array(["02139", "02138", "10001"]), column="zip")
    assert right.leaves.to_pylist() == ["02138", "02139", "10001"]
    assert [names[1] for names in right.labels[:-1]] == ["02138", "0213*", "021**", "02***", "0****"]
    left = masked("#", from_="left", levels=2).bind(pa.array([139, 238, 338]), column="n")
    assert left.labels[1:] == ([None, "#39", "#38"], [None, "##9", "##8"], ["*"])
    assert left.leaves.to_pylist() == [139, 238, 338]
    icd = masked(width=5).bind(pa.array(["J45", "J45.1", "J46"]), column="icd")
    assert icd.labels[1:3] == ([None, "J45", "J45.*", "J46"], [None, "J45**", "J46**"])


def test_one_long_code_uncovers_no_other() -> None:
    """One ZIP+4 among ZIP codes once showed five digits of everybody at the level that had shown three."""
    codes = pa.array(["02138", "02139", "", None])
    assert masked().bind(codes, column="zip").labels[2] == [None, "", "021**"]
    longer = pa.array(["02138", "02139", "02139-1234"])
    with pytest.raises(HierarchyError, match=r"2 lengths, from 5 to 10 characters.*width") as caught:
        masked().bind(longer, column="zip")
    assert "0213" not in str(caught.value)
    with pytest.raises(HierarchyError, match="1 codes are longer than the 5 characters"):
        masked(width=5).bind(longer, column="zip")
    assert masked(width=10).bind(longer, column="zip").labels[2] == [None, "02138", "02139", "02139-12**"]


def test_suggested_masks_and_ends_hold_for_the_next_month() -> None:
    assert suggest(pa.array(["02139-1234", "10001", "94110"]), name="zip") == masked(width=10)
    assert suggest(pa.array([7, 12, 130]), method="prefix") == masked(width=3)
    ends = suggest(pa.array([-3.7, 1.0, 88.2, float("inf")]), method="equal-width")
    assert isinstance(ends, Intervals)
    assert (ends.bottom, ends.top) == (-5, 90)


def test_flat_and_an_empty_domain() -> None:
    assert flat().bind(pa.array([True, False]), column="b").labels == ([None, "false", "true"], ["*"])
    for spec in (flat(), masked(), intervals(5), intervals("year"), cuts([1])):
        hierarchy = spec.bind(pa.array([], pa.null()), column="c")
        check_promises(hierarchy)
        assert hierarchy.encode(pa.array([None, None])).tolist() == [0, 0]


def test_from_mapping() -> None:
    spec = from_mapping({"Ulm": "DE", "Nice": "FR", "Bonn": "DE"}, {"DE": "Europe", "FR": "Europe"})
    hierarchy = spec.bind(pa.array(["Nice"]), column="town")
    assert hierarchy.labels[1:] == ([None, "DE", "FR"], ["Europe"])
    assert hierarchy.leaves.to_pylist() == ["Ulm", "Bonn", "Nice"]
    assert from_mapping({1: "odd", 2: "even"}).columns[-1] == ("*", "*")
    with pytest.raises(HierarchyError, match="1 labels of level 1 have no parent") as caught:
        from_mapping({"a": SECRET, "b": "c"}, {"c": "*"})
    assert SECRET not in str(caught.value)


def test_tree_pads_shallow_leaves_and_keeps_order() -> None:
    spec = tree({"school": {"lower": ["primary"], "upper": ["11th", "12th"]}, "none": []}, ordered=True)
    hierarchy = spec.bind(pa.array(["12th", "none"]), column="education")
    assert hierarchy.labels == (
        [None, "primary", "11th", "12th", "none"],
        [None, "lower", "upper", "none"],
        [None, "school", "none"],
        ["*"],
    )
    assert hierarchy.ordered
    assert tree({"Any": ["a", "b"]}).bind(pa.array(["a"]), column="c").labels[-1] == ["Any"]
    assert tree(["a", "b"]).bind(pa.array(["a"]), column="c").height == 1


def test_numeric_leaves_take_the_type_and_order_of_the_column() -> None:
    rows = Rows((("100", "9", "20"), ("high", "low", "low"), ("*",) * 3))
    hierarchy = rows.bind(pa.array([9, 100], pa.int16()), column="n")
    assert hierarchy.leaves.to_pylist() == [9, 20, 100]
    assert hierarchy.ordered
    assert hierarchy.encode(pa.array([100.0, None, 9.0, float("nan")])).tolist() == [3, 0, 1, 0]
    torn = Rows((("1", "2", "3"), ("odd", "even", "odd"), ("*",) * 3)).bind(pa.array([1]), column="n")
    assert torn.leaves.to_pylist() == [1, 3, 2]
    assert not torn.ordered
    mixed = Rows((("1", "2", "other"), ("*",) * 3)).bind(pa.array([1, 2]), column="n")
    assert mixed.leaves.type == pa.string()
    assert mixed.encode(pa.array([2, 1, None])).tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([2, 1, None], pa.int8()),
        pa.array([2, 1, None], pa.uint64()),
        pa.array([2.0, 1.0, float("nan")]),
        pa.array([Decimal("2.00"), Decimal("1.00"), None]),
        pa.array(["2", "1", None]),
        pa.array(["2", "1", None], pa.large_string()),
        pa.array([2, 1, None]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([1, 0, 2]), pa.array([1.0, 2.0, None])),
        pa.chunked_array([[2], [1, None]]),
    ],
)
def test_encode_finds_values_of_any_type(values: pa.Array) -> None:
    for leaves in (pa.array([1, 2]), pa.array([1.0, 2.0]), pa.array(["1", "2"])):
        codes = flat().bind(leaves, column="n").encode(values)
        assert codes.tolist() == [2, 1, 0]
        assert codes.dtype == np.int32


def test_encode_matches_dates_with_midnights() -> None:
    day = dt.date(2024, 1, 31)
    hierarchy = flat().bind(pa.array([day]), column="d")
    assert hierarchy.encode(pa.array([day]).cast(pa.timestamp("ns"))).tolist() == [1]
    assert hierarchy.encode(pa.array(["2024-01-31"])).tolist() == [1]
    assert hierarchy.encode(pa.chunked_array([], pa.date32())).tolist() == []


def test_uncovered_values_are_counted_not_shown() -> None:
    hierarchy = tree(["a", "b"]).bind(pa.array(["a"]), column="name")
    values = pa.array(["a", SECRET, None, SECRET])
    for call in (
        lambda: hierarchy.encode(values, column="name"),
        lambda: tree(["a"]).bind(values, column="name"),
    ):
        with pytest.raises(HierarchyError, match=r"Column 'name': \d of \d values are not among") as caught:
            call()
        assert SECRET not in str(caught.value)
    with pytest.raises(HierarchyError, match=r"^The column: 2 of 4"):
        hierarchy.encode(values)
    with pytest.raises(HierarchyError, match="1 of 2"):
        flat().bind(pa.array([1, 2]), column="n").encode(pa.array([1.5, 2.0]))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (((SECRET, SECRET, "b"), ("*",) * 3), "1 leaves of the hierarchy appear more than once"),
        (
            ((SECRET, "b", "c"), ("x", "x", "y"), ("p", "q", "q"), ("*",) * 3),
            "level 2 .* coarsen level 1: 1 nodes",
        ),
        (((SECRET, "b", "c"), ("x", "y", "z")), "3 roots at its top level 1"),
    ],
)
def test_what_is_no_tree_is_refused(columns: tuple[tuple[str, ...], ...], message: str) -> None:
    with pytest.raises(HierarchyError, match="Column 'c': .*" + message) as caught:
        Rows(columns).bind(pa.array(["b"]), column="c")
    assert SECRET not in str(caught.value)


def test_nothing_shows_values() -> None:
    spec = tree({SECRET: ["a"], "x": [SECRET + "2"]})
    assert SECRET not in repr(spec)
    assert SECRET not in repr(spec.bind(pa.array(["a"]), column="c"))
    assert "12345" not in repr(cuts([12345]))


@pytest.mark.parametrize(
    ("content", "leaves", "height"),
    [
        (b"a;x;*\nb;x;*", ["a", "b"], 2),
        (b"\xef\xbb\xbfa,x,*\r\nb,y,*\r\n", ["a", "b"], 2),
        (b"a\tx\t*\nb\tx\t*\n\n", ["a", "b"], 2),
        (b"a|*\nb|*\n", ["a", "b"], 1),
        (b'"a;b";"[1,2["\n"c""";"[1,2["\n', ["a;b", 'c"'], 1),
        (b"29;[20,30[;*\n31;[30,40[;*\n", ["29", "31"], 2),
        ("Köln;*\nNîmes;*".encode(), ["Köln", "Nîmes"], 1),
    ],
)
def test_reads_arx_layout(tmp_path: Path, content: bytes, leaves: list[str], height: int) -> None:
    path = tmp_path / "hierarchy.csv"
    path.write_bytes(content)
    hierarchy = read_hierarchy(path).bind(pa.array(leaves), column="c")
    assert hierarchy.leaves.to_pylist() == leaves
    assert hierarchy.height == height


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a;x;*\nRumpelstiltskin;*\nb;x;*\n", "ragged: 1 of 3 lines"),
        (b"Rumpelstiltskin\nb\n", "no levels"),
        (b"K\xf6ln;*\n", "is not utf-8"),
        (None, "cannot be read .FileNotFoundError."),
    ],
)
def test_unreadable_files_are_told_by_counts(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "hierarchy.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(HierarchyError, match=message) as caught:
        read_hierarchy(path)
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


ARX = [
    ("adult-arx/adult_hierarchy_age.csv", 100, 5),
    ("adult-arx/adult_hierarchy_education.csv", 16, 4),
    ("adult-arx/adult_hierarchy_marital-status.csv", 7, 3),
    ("adult-arx/adult_hierarchy_native-country.csv", 41, 3),
    ("adult-arx/adult_hierarchy_occupation.csv", 14, 3),
    ("adult-arx/adult_hierarchy_race.csv", 5, 2),
    ("adult-arx/adult_hierarchy_salary-class.csv", 2, 2),
    ("adult-arx/adult_hierarchy_sex.csv", 2, 2),
    ("adult-arx/adult_hierarchy_workclass.csv", 8, 3),
    ("arx-examples/test_hierarchy_zipcode.csv.gz", 10000, 6),
    ("arx-examples/test_hierarchy_gender.csv", 2, 2),
    ("arx-examples/test2_hierarchy_ZIPCode.csv", 9, 6),
    ("arx-examples/test2_hierarchy_Age.csv", 9, 3),
    ("arx-examples/test2_hierarchy_Disease.csv", 6, 4),
]


@pytest.mark.parametrize(("name", "n_leaves", "n_levels"), ARX)
def test_arx_files(shared_data: Path, name: str, n_leaves: int, n_levels: int) -> None:
    spec = read_hierarchy(shared_data / name)
    hierarchy = spec.bind(pa.array(spec.columns[0]), column="c")
    check_promises(hierarchy)
    assert (hierarchy.n_leaves, hierarchy.height + 1) == (n_leaves, n_levels)


def test_arx_ages_bind_to_numbers(shared_data: Path) -> None:
    ages = read_hierarchy(shared_data / "arx-examples/test2_hierarchy_Age.csv").bind(
        pa.array([22, 43]), column="Age"
    )
    assert ages.leaves.to_pylist() == [22, 27, 29, 30, 32, 36, 43, 47, 52]
    assert ages.labels[1] == [None, "[20,30[", "[30,40[", ">=40"]
    assert ages.ordered


@given(
    st.one_of(ints, floats, dates, moments, codes, st.lists(st.text(max_size=3), unique=True).map(pa.array)),
    st.data(),
)
def test_suggestions_bind(values: pa.Array, data: st.DataObject) -> None:
    values = values if len(values) else pa.array([], pa.string())
    counts = data.draw(st.none() | st.lists(st.integers(0, 99), min_size=len(values), max_size=len(values)))
    branching = data.draw(st.integers(2, 4))
    methods: list[str | None] = [None]
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        methods += ["equal-width", "equal-frequency", "prefix"]
    elif pa.types.is_string(values.type):
        methods += ["balanced", "prefix"]
    else:
        methods += ["calendar", "equal-frequency"]
    method = data.draw(st.sampled_from(methods))
    spec = suggest(values, counts=counts, method=method, branching=branching)  # type: ignore[arg-type]
    hierarchy = spec.bind(values, column="c")
    check_promises(hierarchy)
    assert spec_from_dict(json.loads(json.dumps(spec.to_dict()))).bind(values, column="c") == hierarchy


def test_suggestions_follow_the_data() -> None:
    ages = pa.array(list(range(17, 91)))
    assert suggest(ages, method="equal-width") == intervals(5, 10, 20, 40)
    even = suggest(ages, branching=4).bind(ages, column="age").leaves_under(1)[1:]
    assert even.max() - even.min() <= 1
    skewed = suggest(pa.array([1, 2, 3, 4, 5, 6, 7, 8]), counts=[0, 0, 0, 0, 10, 10, 10, 10])
    assert skewed.bind(pa.array([1, 8]), column="n").labels[-2] == [None, "< 7", ">= 7"]
    assert suggest(pa.array(["02139", "10001", "94110"])) == masked(width=5)
    assert suggest(pa.array(["250.83", "276", "V27"])) == masked(width=6)
    assert suggest(pa.array(["a", "b"])) == flat()
    assert suggest(pa.array([1, 2, 3]), kind="text") == suggest(pa.array(["1", "2", "3"]))
    assert suggest(pa.array([False, True])) == flat()
    years = pa.array([dt.date(1950, 1, 1), dt.date(1970, 1, 1), dt.date(2000, 1, 1)])
    assert suggest(years) == intervals("month", "quarter", "year", "decade")
    assert suggest(pa.array([dt.date(2020, m, 1) for m in range(1, 13)])) == intervals(
        "month", "quarter", "year"
    )


def test_balanced_categories_are_even() -> None:
    spec = suggest(pa.array(["red", "blue", "green", "pink"]), counts=[40, 30, 20, 10], method="balanced")
    hierarchy = spec.bind(pa.array(["red", "blue", "green", "pink"]), column="color")
    assert set(hierarchy.labels[1]) == {None, "{pink, red}", "{blue, green}"}


def test_intervals_spec_is_plain() -> None:
    assert intervals(np.float64(2.5), 5, top=np.float64(90)).to_dict() == {
        "kind": "intervals",
        "widths": [2.5, 5],
        "origin": 0,
        "bottom": None,
        "top": 90.0,
        "unit": None,
    }
    with pytest.raises(HierarchyError, match="kind must be one of"):
        spec_from_dict({"kind": "pyramid"})
    with pytest.raises(HierarchyError, match="fields"):
        spec_from_dict({"kind": "flat", "width": 5})


def test_a_bound_hierarchy_stands_in_for_its_specification() -> None:
    hierarchy = tree(["a", "b"]).bind(pa.array(["a"]), column="c")
    assert hierarchy.bind(pa.array(["b"]), column="c") is hierarchy
    with pytest.raises(HierarchyError, match="1 of 1"):
        hierarchy.bind(pa.array(["c"]), column="c")


def test_equality_and_hash() -> None:
    one, same = (intervals(5).bind(pa.array([1, 2]), column="c") for _ in range(2))
    assert one == same
    assert hash(one) == hash(same)
    assert one != intervals(5).bind(pa.array([1, 3]), column="c")
    assert one != flat().bind(pa.array([1, 2]), column="c")
    assert one != 5
    assert isinstance(intervals(5), Intervals)


def test_domain_is_sorted_and_distinct() -> None:
    assert domain_of(pa.array([0.0, -0.0, float("nan"), None, -1.0])).to_pylist() == [-1.0, 0.0]
    assert domain_of(pa.array(["b", "a", None, "b"]).dictionary_encode()).to_pylist() == ["a", "b"]


def test_a_hundred_thousand_leaves() -> None:
    values = pa.array(np.arange(100_000) * 3)
    hierarchy = intervals(10, 100, 1000).bind(values, column="n")
    assert hierarchy.n_leaves == 100_000
    rows = pa.array(np.random.default_rng(0).integers(0, 100_000, 1_000_000) * 3)
    assert (hierarchy.encode(rows) == np.asarray(rows) // 3 + 1).all()
    assert texts(hierarchy.leaves)[1].as_py() == "3"
    assert build_hierarchy(values, [["*"] * 100_000], column="n", ordered=True).ordered
