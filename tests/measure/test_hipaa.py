"""Safe Harbor: each rule on the columns that it is about, and the public data sets on which it must not cry wolf."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Baskets, Table, identifier, person, quasi, sensitive
from discreet.errors import InputError
from discreet.guarantees import KAnonymity
from discreet.measure import safe_harbor
from discreet.publish import Mondrian

PEOPLE = pa.table({"zip": ["021", "036"], "people": [900_000, 12_000]})


def letters(**columns) -> dict[str, str]:
    """Return the letter of the finding of each column; one that is not sure has a question mark."""
    judged = safe_harbor(pa.table(columns), year=2026)
    return {each.column: each.letter + ("" if each.is_sure else "?") for each in judged.findings}


@pytest.mark.parametrize(
    ("ages", "letter"),
    [
        ([34, 89], None),
        ([34, 90], None),  # one category, 90 and above
        ([34, 91], "C"),
        ([90, 95], "C"),
        (["[30, 39]", ">= 90"], None),
        (["[30, 39]", "[90, 94]"], "C"),
        (["[80, 99]", "[30, 39]"], "C?"),  # some may be over 89
        (["[85, 95]"], "C?"),
        (["<= 95"], "C?"),
        (["ninety-one"], "C?"),
        (["{91, 93}"], "C"),
        (["92 years", "34 years"], "C"),
        (["[70, 80)", "[80, 90)"], None),
        (["20-29", "90+"], None),
        (["*", "*"], None),
    ],
)
def test_ages_over_89_are_one_category(ages, letter) -> None:
    assert letters(age=ages).get("age") == letter


@pytest.mark.parametrize(
    ("days", "letter"),
    [
        ([dt.date(2020, 1, 5), dt.date(2021, 2, 3)], "C"),
        (["2020-01", "2021-05"], "C"),
        (["5.1.2020", "7.3.2021"], "C"),
        (["[2020-01-01, 2020-03-31]", "[2021-01-01, 2021-03-31]"], "C"),
        (["[2020-01-01, 2020-12-31]", "[2021-01-01, 2021-12-31]"], None),
        ([2020, 2021], None),
    ],
)
def test_dates_show_their_year_alone(days, letter) -> None:
    assert letters(admission=days, date=days).get("date") == letter
    if isinstance(days[0], str):
        assert letters(when=days).get("when") == letter  # also where no name says so


def test_years_of_birth_show_ages_over_89() -> None:
    assert letters(birth_year=[1950, 1980]) == {}
    assert letters(birth_year=[1930, 1980]) == {"birth_year": "C"}
    for label in ("[1920, 1929]", "[1930, 1934]", "1930 - 1934", "{1930, 1931}", "<= 1930"):
        assert letters(birth_year=[label]) == {"birth_year": "C"}
    for label in ("[1930, 1940]", "193*", "old"):
        assert letters(birth_year=[label]) == {"birth_year": "C?"}
    assert letters(birth_year=["<= 1936", "[1950, 1959]", "*"]) == {}


@pytest.mark.parametrize(
    "day",
    [
        "05/2024",
        "2024/05",
        "May 2024",
        "Q1 2024",
        "2024 W3",
        "20240501",
        20240501,
        "202405",
        "[2024-05, 2024-07]",
    ],
)
def test_dates_finer_than_a_year_are_found_however_written(day) -> None:
    assert letters(admission_date=[day]) == {"admission_date": "C"}


def test_days_are_found_whatever_the_column_is_called() -> None:
    assert letters(seen=[20200301 + n for n in range(20)]) == {"seen": "C"}
    assert letters(seen=["12MAR2020", "1feb21"]) == {"seen": "C"}
    assert letters(seen=["flu (2020-03-12)", "cold", "gout"]) == {"seen": "C?"}
    assert letters(code=[20200301, 20209999, 20191399]) == {}
    assert letters(cost=list(range(1900, 1920))) == {}


def test_what_is_not_read_as_a_year_is_open_and_photographs_need_no_many_values() -> None:
    assert letters(admission_date=["spring 2024"]) == {"admission_date": "C?"}
    assert letters(admission_date=["[2020, 2024]", "202*", "unknown"]) == {}
    few = {"photo": ["a"] * 40, "fingerprint": ["b"] * 40, "fips": ["c"] * 40, "location": ["d"] * 40}
    assert letters(**few, dna=["e"] * 40, face_image=["f"] * 40) == {
        "photo": "Q", "fingerprint": "P", "fips": "B", "location": "B?", "dna": "P?", "face_image": "Q?",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("codes", "letter"),
    [
        (["02139", "02140"], "B"),
        (["02139-1234"], "B"),
        (["0213*", "0214*"], "B"),
        ([2139, 60614], "B"),
        (["02***", "*"], None),
        (["00000", "000"], "B"),
        (["000", "0****"], None),
        (["021**", "036**"], "B?"),
        (["{021**, 036**}"], "B?"),
        (["SW1A 1AA"], "B"),
    ],
)
def test_zip_codes_without_populations(codes, letter) -> None:
    assert letters(zip=codes).get("zip") == letter


def test_three_digits_stay_where_more_than_20000_people_live() -> None:
    judged = safe_harbor(pa.table({"zip": ["021**", "000**"]}), zip3_populations=PEOPLE)
    assert (judged.word, judged.ok) == ("met", True)
    assert safe_harbor(pa.table({"zip": ["036**"]}), zip3_populations=PEOPLE).word == "not met"
    assert safe_harbor(pa.table({"zip": ["999**"]}), zip3_populations=PEOPLE).word == "not met"
    by_five = pa.table({"zcta": [2139, 2140, 3601], "people": [15_000, 15_000, 12_000]})
    assert safe_harbor(pa.table({"zip": ["021**"]}), zip3_populations=by_five).word == "met"


@pytest.mark.parametrize(
    "people",
    [
        pa.table({"zip": ["021"]}),
        pa.table({"a": ["Boston"], "n": [1]}),
        pa.table({"a": ["021"], "n": ["many"]}),
    ],
)
def test_populations_of_another_shape_are_refused(people) -> None:
    with pytest.raises(InputError, match="file of populations") as refused:
        safe_harbor(pa.table({"zip": ["021**"]}), zip3_populations=people)
    assert "Boston" not in str(refused.value)
    assert "many" not in str(refused.value)


def test_names_of_columns_and_keys() -> None:
    n = 100
    columns = {
        "surname": ["x"] * n, "phone": ["y"] * n, "city": ["z"] * n, "state": ["MA"] * n, "patient_nbr": range(n),
        "account_type": ["basic"] * n, "code": [f"q{i}" for i in range(n)], "weight": [0.5 + i for i in range(n)],
    }  # fmt: skip
    assert letters(**columns) == {"surname": "A", "phone": "D", "city": "B", "patient_nbr": "R", "code": "R"}


def test_free_text_nulls_and_allowed_columns() -> None:
    notes = [f"seen on the ward by nurse number {i} at noon" for i in range(40)]
    frame = pa.table({"note": notes, "none": pa.nulls(40), "list": [[1]] * 40})
    judged = safe_harbor(frame, allow=["note"])
    assert judged.allowed == ("note",)
    assert [(each.letter, each.is_sure) for each in judged.findings] == [("R", False)]
    assert {each.letter for each in safe_harbor(frame).findings} == {"A", "R"}


def test_pseudonyms_of_a_release_are_derived_from_an_identifier() -> None:
    frame = pa.table({"ssn": ["a", "b", "c", "d"], "age": [20, 20, 30, 30], "ill": ["flu", "cold"] * 2})
    roles = {"ssn": person(pseudonym=b"0123456789abcdef"), "age": quasi(), "ill": sensitive()}
    release = Mondrian(KAnonymity(2)).release(Table(frame, roles))
    assert [(each.letter, each.column) for each in safe_harbor(release).findings] == [("R", "ssn")]
    dropped = Mondrian(KAnonymity(2)).release(Table(frame, roles | {"ssn": identifier()}))
    assert safe_harbor(dropped).word == "met"


def test_items_of_baskets_are_a_list_and_no_rows() -> None:
    baskets = Baskets.from_lists([[f"item{n}"] for n in range(60)])
    assert safe_harbor(baskets).word == "met"
    assert [each.letter for each in safe_harbor(Baskets.from_lists([["a@b.org"], ["milk"]])).findings] == [
        "F"
    ]
    assert letters(item=[f"item{n}" for n in range(60)]) == {"item": "R"}


@given(
    st.lists(
        st.sampled_from(["02139", "ann@x.org", "secret", "91", None, "2020-01-05"]), min_size=1, max_size=30
    )
)
def test_findings_name_no_value(cells) -> None:
    for name in ("zip", "age", "date", "note"):
        judged = safe_harbor(pa.table({name: pa.array(cells, pa.string())}))
        words = " ".join(map(str, judged.findings)) + str(judged.to_dict())
        assert not any(cell and cell != "91" and cell in words for cell in cells)


DATA = os.environ.get("DISCREET_DATA")


@pytest.mark.skipif(DATA is None, reason="DISCREET_DATA names no folder of public data")
def test_adult_is_met() -> None:
    import gzip

    from pyarrow import csv

    path = Path(DATA or "") / "adult-arx" / "adult.csv.gz"
    if not path.is_file():
        pytest.skip("adult-arx is not there")
    with gzip.open(path) as stream:
        frame = csv.read_csv(stream, parse_options=csv.ParseOptions(delimiter=";"))
    assert safe_harbor(frame).word == "met"
