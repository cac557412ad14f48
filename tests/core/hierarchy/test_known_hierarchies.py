"""Hierarchies that are known without looking at the data: bands, scales of words, diagnosis codes, addresses."""

from __future__ import annotations

import ipaddress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import code_system, icd, intervals, ip_addresses, masked, scale, suggest
from discreet.core.errors import ParameterError
from discreet.core.hierarchy.bands import band_of
from discreet.core.hierarchy.code_systems import code_path
from discreet.core.hierarchy.knowledge import is_coded, recognized
from discreet.core.hierarchy.scales import scale_names, scale_of
from discreet.core.hierarchy.specs import Icd, Rows, Scale, spec_from_dict
from discreet.core.hierarchy.structured_codes import _chapters, diagnosis_path
from discreet.core.hierarchy.vocabularies import vocabulary
from discreet.core.tables.labels import SetOf, parse_label

ADULT = [
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
    "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
]  # fmt: skip
HOSPITAL = [f"[{low}-{low + 10})" for low in range(0, 100, 10)]


def test_ordered_bands_stay_ordered_and_join_their_neighbors() -> None:
    bound = suggest(pa.array(sorted(HOSPITAL, reverse=True))).bind(pa.array(HOSPITAL), column="age")
    assert bound.ordered
    assert bound.leaves.to_pylist() == HOSPITAL
    assert bound.labels[1][1:] == ["[0-20)", "[20-40)", "[40-60)", "[60-80)", "[80-100)"]


def test_the_education_of_adult_is_a_ladder() -> None:
    bound = suggest(pa.array(sorted(ADULT))).bind(pa.array(sorted(ADULT)), column="education")
    leaves = bound.leaves.to_pylist()
    assert bound.ordered
    assert (
        leaves.index("12th") < leaves.index("HS-grad") < leaves.index("Bachelors") < leaves.index("Doctorate")
    )
    groups = {leaf: bound.labels[1][bound.levels[1][code]] for code, leaf in enumerate(leaves, start=1)}
    assert groups["5th-6th"] != groups["Bachelors"] == groups["Masters"]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("[70-80)", (70, 80)), ("18-24", (18, 24)), ("18 – 24", (18, 24)), ("18 to 24 years", (18, 24)),
        ("65+", (65, None)), ("65 and over", (65, None)), (">=65", (65, None)), (">200", (200, None)),
        ("<18", (None, 18)), ("under 5", (None, 5)), ("$10,000-$19,999", (10_000, 19_999)),
        ("10k-20k", (10_000, 20_000)),
        ("10-20k", (10_000, 20_000)), ("500-1k", (500, 1000)), ("1.5-2.5", (1.5, 2.5)),
    ],
)  # fmt: skip
def test_bands_are_read(text: str, ends: tuple[float | None, float | None]) -> None:
    found = band_of(text)
    assert found is not None
    assert tuple(None if end is None else float(end) for end in found) == ends


@pytest.mark.parametrize("text", ["Bachelors", "20-10", "2024-01-02", "", "a-b", "12th", "1-2-3"])
def test_what_is_no_band(text: str) -> None:
    assert band_of(text) is None


@given(
    st.lists(st.integers(0, 30), min_size=3, max_size=12, unique=True),
    st.sampled_from([1, 5, 10]),
    st.booleans(),
    st.booleans(),
)
def test_bands_of_any_width_are_joined_to_bands_that_hold_them(
    places: list[int], width: int, closed: bool, top: bool
) -> None:
    width = max(width, 2) if closed else width
    texts = [f"{at * width}-{(at + 1) * width - int(closed)}" for at in places]
    texts += [f"{(max(places) + 1) * width}+"] if top else []
    bound = scale("bands").bind(pa.array(texts), column="band")
    lows = [float(band_of(text)[0]) for text in bound.leaves.to_pylist()]  # type: ignore[index]
    assert lows == sorted(lows)
    assert bound.ordered
    for level in range(1, bound.height):
        for code, low in enumerate(lows, start=1):
            wider = band_of(str(bound.labels[level][bound.levels[level][code]]))
            assert wider is not None
            assert wider[0] is None or wider[0] <= low
            assert wider[1] is None or low <= wider[1]


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (["Jan", "Mar", "Dec"], "months"), (["monday", "Tue", "Sunday"], "weekdays"), (["S", "M", "XL"], "sizes"),
        (["strongly agree", "agree", "neutral", "disagree"], "agreement"), (["never", "often", "always"], "frequency"),
        (["poor", "fair", "excellent", "unknown"], "quality"), (["mild", "moderate", "severe"], "severity"),
        (["low", "medium", "high"], "heights"), (["Never-married", "Divorced", "Married-civ-spouse"], "marital"),
        (["Primary school", "High school", "Master's degree"], "education"),
        (["red", "green", "blue"], None), (["1", "2", "3"], None), (["S", "M"], None),
        (["a", "unknown", "other", "n/a"], None),
    ],
)  # fmt: skip
def test_scales_are_recognized(values: list[str], name: str | None) -> None:
    assert scale_of(values) == name


def test_weekdays_and_months_are_grouped() -> None:
    days = scale("weekdays").bind(pa.array(["Sun", "Mon", "Sat", "Fri"]), column="day")
    assert days.leaves.to_pylist() == ["Mon", "Fri", "Sat", "Sun"]
    assert days.labels[1][1:] == ["working day", "weekend"]
    months = scale("months").bind(pa.array([1, 4, 12]), column="month")
    assert months.labels[1][1:] == ["quarter 1", "quarter 2", "quarter 4"]


def test_countries_lie_in_regions_and_continents() -> None:
    towns = pa.array(["United-States", "Germany", "Austria", "Mexico", "Viet Nam"])
    bound = scale("countries").bind(towns, column="native-country")
    path = {
        leaf: [bound.labels[level][bound.levels[level][code]] for level in (1, 2)]
        for code, leaf in enumerate(bound.leaves.to_pylist(), start=1)
    }
    assert path["Germany"] == path["Austria"] == ["western Europe", "Europe"]
    assert path["United-States"] == ["northern America", "Americas"]
    assert not bound.ordered
    assert scale_of(["USA", "China", "France", "unknown"]) == "countries"
    assert scale_of(["north", "south", "east", "west"]) is None


def test_what_does_not_belong_to_a_scale_lies_apart() -> None:
    bound = scale("quality").bind(pa.array(["good", "poor", "fair", "very good", "purple"]), column="q")
    assert bound.leaves.to_pylist()[-1] == "purple"
    assert bound.labels[1][-1] == "unknown"
    with pytest.raises(ParameterError):
        scale("colors")


@pytest.mark.parametrize("version", [9, 10])
def test_chapters_and_blocks_are_nested_and_do_not_overlap(version: int) -> None:
    chapters = _chapters(version)
    assert len(chapters) == {9: 19, 10: 22}[version]
    for first, last, _, blocks in chapters:
        assert blocks
        ends = [end for block in blocks for end in block]
        assert first <= min(ends)
        assert max(ends) <= last
        for (low, high), (after, _) in pairwise(blocks):
            assert low <= high < after or (low, high, after) == ("C45", "C49", "C4A")


def test_every_number_of_the_ninth_revision_has_one_chapter() -> None:
    for number in range(1, 1000):
        category, block, chapter = diagnosis_path(f"{number:03d}", 9)
        assert category == f"{number:03d}"
        low, high = chapter.split()[0].split("-")
        assert int(low) <= number <= int(high)
        if "elsewhere" not in block:
            ends = block.split("-")
            assert int(ends[0]) <= number <= int(ends[-1])


@pytest.mark.parametrize(
    ("code", "version", "path"),
    [
        ("428.0", 9, ("428", "420-429", "390-459 circulatory")),
        ("25083", 9, ("250", "249-259", "240-279 endocrine and metabolic")),
        ("V57", 9, ("V57", "V50-V59", "V01-V91 factors and contacts")),
        ("E885.9", 9, ("E885", "E880-E888", "E000-E999 external causes")),
        ("E11.9", 10, ("E11", "E08-E14", "E00-E90 endocrine and metabolic")),
        ("I21", 10, ("I21", "I20-I25", "I00-I99 circulatory")),
        ("C4A.1", 10, ("C4A", "C4A", "C00-D49 neoplasms")),
        ("o9a2", 10, ("O9A", "O94-O9A", "O00-O9A pregnancy and childbirth")),
        ("flu", 10, ("no valid code",) * 3),
        ("000", 9, ("no valid code",) * 3),
    ],
)
def test_codes_find_their_category_block_and_chapter(code: str, version: int, path: tuple[str, ...]) -> None:
    assert diagnosis_path(code, version) == path


def test_diagnosis_codes_are_recognized_by_name_and_shape() -> None:
    ninth = pa.array(["250.83", "276", "648", "V27", "E885"])
    assert recognized("diag_1", ninth).spec == icd(9)  # type: ignore[union-attr]
    assert recognized("town", ninth) is None
    tenth = pa.array(["E11.9", "I21.0", "J45.1", "S72.0", "Z38.0"])
    assert recognized("code", tenth).spec == Icd(10)  # type: ignore[union-attr]
    with pytest.raises(ParameterError):
        icd(11)


@given(st.lists(st.ip_addresses(), min_size=2, max_size=20, unique=True))
def test_addresses_lie_in_their_networks(
    addresses: list[ipaddress.IPv4Address | ipaddress.IPv6Address],
) -> None:
    bound = ip_addresses().bind(pa.array([str(one) for one in addresses]), column="ip")
    for code, leaf in enumerate(bound.leaves.to_pylist(), start=1):
        for level in range(1, bound.height):
            label = bound.labels[level][bound.levels[level][code]]
            address = ipaddress.ip_address(leaf)
            inside = getattr(address, "ipv4_mapped", None) or address
            assert inside in ipaddress.ip_network(label)


def test_what_is_no_address_names_nobody() -> None:
    bound = ip_addresses().bind(pa.array(["10.0.0.1", "my laptop"]), column="ip")
    assert "my laptop" not in [label for level in bound.labels[1:] for label in level]


def test_names_say_what_numbers_are() -> None:
    assert suggest(pa.array(range(17, 91)), name="age") == intervals(5, 10, 20, top=90)
    assert suggest(pa.array([1950, 1980, 2001]), name="year_of_birth") == intervals(5, 10, 20)
    assert suggest(pa.array([94110, 10001, 60601]), name="ZIP code") == masked(width=5)
    assert suggest(pa.array(["SW1A 1AA", "M1 1AE", "B33 8TH"]), name="postcode") == masked(width=8)


@pytest.mark.parametrize(
    ("name", "values", "sure"),
    [
        ("admission_type_id", range(1, 9), "high"), ("discharge_disposition_id", range(1, 29), "high"),
        ("smoker", range(2), "high"), ("chestpain", range(1, 5), "low"), ("num_procedures", range(7), None),
        ("time_in_hospital", range(1, 15), None), ("age", range(3), None), ("id", range(5000), None),
        ("amount", [10, 5000, 99_999], None), ("chestpain", [1.0, 2.0, 4.0], "low"), ("chestpain", [1.0, 2.5], None),
    ],
)  # fmt: skip
def test_numeric_codes_are_categories(name: str, values: list[int], sure: str | None) -> None:
    assert is_coded(name, pa.array(list(values))) == sure


@given(
    st.dictionaries(st.text("abcdefgh", min_size=1, max_size=6), st.integers(1, 200), min_size=3, max_size=40)
)
def test_no_label_of_a_suggestion_names_a_rare_value(counts: dict[str, int]) -> None:
    """Slow definition: read every label above the values as a set, and look up how many rows each member has."""
    values = sorted(counts)
    spec = suggest(pa.array(values), counts=[counts[value] for value in values])
    bound = spec.bind(pa.array(values), column="town")
    for level in range(1, bound.height):
        for node, label in enumerate(bound.labels[level]):
            inside = np.flatnonzero(bound.levels[level] == node)
            if label is None or inside.size < 2:
                continue
            read = parse_label(label)
            named = read.items if isinstance(read, SetOf) else (label,)
            assert all(counts.get(one, 10) >= 10 for one in named)


def test_a_lone_rare_value_is_pooled_too() -> None:
    spec = suggest(pa.array(["Female", "Male", "Unknown/Invalid"]), counts=[54_708, 47_055, 3])
    assert isinstance(spec, Rows)
    assert spec.columns[1] == ("Female", "Male", "other values")


@pytest.mark.parametrize(
    ("name", "values", "system"),
    [
        ("state", ["NY", "CA", "TX", "Ohio"], "us-states"),
        ("country", ["DE", "FR", "USA", "JP"], "countries"),
        ("atc", ["A10BA02", "N02", "C07AB"], "atc"),
        ("code", ["A10BA02", "N02BE01", "C07AB02", "B01AC06", "R03AC02"], "atc"),
        ("nuts3", ["DE212", "FR101", "EL303", "XK0"], "nuts"),
        ("answer", ["NO", "NA", "NE"], None),
    ],
)
def test_code_systems_are_recognized(name: str, values: list[str], system: str | None) -> None:
    known = recognized(name, pa.array(values))
    assert (known.spec if known else None) == (code_system(system) if system else None)


def test_every_code_lies_in_one_place() -> None:
    for system, n_codes in (("countries", 249), ("us-states", 56)):
        listed = [
            member for members in vocabulary("codes")[system].values() for member in members.split(", ")
        ]
        short = [member.split(" ", 1)[0] for member in listed]
        assert len(set(short)) == len(short) >= n_codes
        assert len({member.split(" ", 1)[1] for member in listed}) >= n_codes
    assert code_path("xx", "countries") == ("no valid code",) * 2


def test_specifications_are_plain_data() -> None:
    for spec in (
        *(scale(name) for name in scale_names()),
        icd(9),
        icd(10),
        ip_addresses(),
        code_system("atc"),
    ):
        assert spec_from_dict(spec.to_dict()) == spec
    assert Scale("bands").to_dict() == {"kind": "scale", "name": "bands"}


def test_dates_go_up_to_decades() -> None:
    days = pa.array(np.arange("1950-01-01", "2000-01-01", dtype="datetime64[D]")[::700])
    assert suggest(days) == intervals("month", "quarter", "year", "decade")
    assert "[1950-01-01, 1959-12-31]" in suggest(days).bind(days, column="born").labels[4]


def test_the_ladder_of_real_adult(shared_data: Path) -> None:
    from discreet import read

    frame = read(shared_data / "adult-arx" / "adult.csv.gz")
    values = frame.aggregate('list(DISTINCT "education")').fetchall()[0][0]
    assert scale_of(values) == "education"
    for name, known in (("native-country", "countries"), ("marital-status", "marital")):
        values = frame.aggregate(f'list(DISTINCT "{name}")').fetchall()[0][0]
        assert scale_of(values) == known
