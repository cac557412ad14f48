"""The embedded sample: reproducible, plausible, and with the dependencies it says it has."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.core.schema import Role
from discreet.core.tables.table import Table
from discreet.datasets import hospital, hospital_columns, voter_roll


@pytest.fixture(scope="module")
def patients() -> pa.Table:
    return hospital()


def where(table: pa.Table, **wanted: object) -> pa.Table:
    for column, value in wanted.items():
        table = table.filter(pc.equal(table[column], value))
    return table


def share(table: pa.Table, column: str, value: object) -> float:
    return float(where(table, **{column: value}).num_rows / table.num_rows)


def aged(table: pa.Table, low: int, high: int) -> pa.Table:
    return table.filter((pc.field("age") >= low) & (pc.field("age") <= high))


def association(table: pa.Table, one: str, two: str) -> float:
    """Return Cramér's V of two columns: 0 when independent, 1 when one determines the other."""
    codes = [
        pc.fill_null(table[name].cast(pa.string()), "").combine_chunks().dictionary_encode()
        for name in (one, two)
    ]
    counts = np.zeros([len(code.dictionary) for code in codes])
    np.add.at(counts, tuple(code.indices.to_numpy() for code in codes), 1)
    return float(stats.contingency.association(counts.astype(int), method="cramer"))


def with_district(table: pa.Table) -> pa.Table:
    return table.append_column("district", pc.utf8_slice_codeunits(table["zip"], 0, 3))


def test_same_seed_same_bytes() -> None:
    assert hospital(500, random_state=3).equals(hospital(500, random_state=3))
    assert not hospital(500, random_state=3).equals(hospital(500, random_state=4))
    assert hospital(500).equals(hospital(500))
    assert not hospital(500, random_state=None).equals(hospital(500, random_state=None))


def test_a_generator_is_used_and_moves_on() -> None:
    rng = np.random.default_rng(3)
    assert hospital(100, random_state=rng).equals(hospital(100, random_state=3))
    assert not hospital(100, random_state=rng).equals(hospital(100, random_state=3))


def test_global_generator_is_untouched() -> None:
    before = np.random.get_state()  # noqa: NPY002
    voter_roll(hospital(200, random_state=None), random_state=None)
    after = np.random.get_state()  # noqa: NPY002
    assert all(np.array_equal(one, two) for one, two in zip(before, after, strict=True))


def test_shape_and_types(patients: pa.Table) -> None:
    assert patients.num_rows == 20_000
    assert patients.schema.field("age").type == pa.int64()
    assert patients.schema.field("zip").type == pa.string()
    assert patients.schema.field("admission").type == pa.date32()
    assert patients.schema.field("readmitted").type == pa.bool_()
    assert pc.min(patients["age"]).as_py() >= 0
    assert pc.max(patients["age"]).as_py() <= 100
    assert pc.min(patients["days"]).as_py() == 1
    assert set(pc.unique(pc.year(patients["admission"])).to_pylist()) == {2024}
    assert len(pc.unique(patients["diagnosis"])) == 20


def test_patient_numbers_are_unique_and_in_no_order(patients: pa.Table) -> None:
    numbers = patients["patient_id"]
    assert len(pc.unique(numbers)) == patients.num_rows
    assert pc.all(pc.match_substring_regex(numbers, r"^P-\d{9}$")).as_py()
    rank = pc.cast(pc.utf8_slice_codeunits(numbers, 2), pa.int64()).to_numpy()
    assert abs(stats.spearmanr(rank, np.arange(len(rank))).statistic) < 0.05


def test_zip_codes_keep_their_leading_zero(patients: pa.Table) -> None:
    assert pc.all(pc.match_substring_regex(patients["zip"], r"^0\d{4}$")).as_py()


def test_regions_are_skewed(patients: pa.Table) -> None:
    sizes = sorted((entry["counts"] for entry in pc.value_counts(patients["zip"]).to_pylist()), reverse=True)
    assert 24 <= len(sizes) <= 60
    assert sizes[0] > 5 * sizes[-1]


def test_nulls_only_where_hospitals_have_them(patients: pa.Table) -> None:
    nulls = {name: patients[name].null_count / patients.num_rows for name in patients.column_names}
    assert {name for name, part in nulls.items() if part > 0} == {"education", "marital_status"}
    assert 0.01 < nulls["education"] < 0.08
    assert 0.01 < nulls["marital_status"] < 0.08


def test_some_people_are_unique_on_what_neighbors_know(patients: pa.Table) -> None:
    sizes = patients.group_by(["age", "sex", "zip"]).aggregate([([], "count_all")])["count_all"]
    unique = pc.sum(pc.equal(sizes, 1)).as_py() / patients.num_rows
    assert 0.02 < unique < 0.3


@pytest.mark.parametrize(
    ("one", "two", "least"),
    [
        ("diagnosis", "sex", 0.25),
        ("diagnosis", "district", 0.12),
        ("diagnosis", "ward", 0.6),
        ("diagnosis", "readmitted", 0.15),
        ("education", "district", 0.08),
        ("marital_status", "sex", 0.1),
    ],
)
def test_columns_depend_on_one_another(patients: pa.Table, one: str, two: str, least: float) -> None:
    table = with_district(patients)
    assert association(table, one, two) > least
    shuffled = table.set_column(
        table.column_names.index(one),
        one,
        table[one].take(np.random.default_rng(1).permutation(table.num_rows)),
    )
    assert association(shuffled, one, two) < 0.05


def test_identifier_is_independent_of_the_rest(patients: pa.Table) -> None:
    table = patients.append_column("digit", pc.utf8_slice_codeunits(patients["patient_id"], 10, 11))
    assert association(table, "digit", "diagnosis") < 0.05


def test_only_women_give_birth_and_only_men_have_a_prostate(patients: pa.Table) -> None:
    births = where(patients, diagnosis="childbirth")
    assert births.num_rows > 500
    assert share(births, "sex", "female") == 1
    assert aged(births, 16, 48).num_rows == births.num_rows
    assert share(where(patients, diagnosis="prostate cancer"), "sex", "male") == 1


def test_illness_follows_age(patients: pa.Table) -> None:
    mean = {
        name: pc.mean(where(patients, diagnosis=name)["age"]).as_py() for name in ("heart failure", "asthma")
    }
    assert mean["heart failure"] > mean["asthma"] + 30


def test_stay_follows_diagnosis(patients: pa.Table) -> None:
    mean = {
        name: pc.mean(where(patients, diagnosis=name)["days"]).as_py() for name in ("stroke", "gallstones")
    }
    assert mean["stroke"] > 2 * mean["gallstones"]


def test_pneumonia_comes_in_winter(patients: pa.Table) -> None:
    months = pc.month(where(patients, diagnosis="pneumonia")["admission"]).to_numpy()
    assert np.isin(months, [12, 1, 2]).sum() > 1.5 * np.isin(months, [6, 7, 8]).sum()


def test_marital_status_and_education_follow_age(patients: pa.Table) -> None:
    children, young, old = aged(patients, 0, 17), aged(patients, 18, 30), aged(patients, 80, 100)
    assert set(pc.unique(children["marital_status"]).to_pylist()) <= {"never married", None}
    assert not {"bachelor", "master", "doctorate"} & set(pc.unique(children["education"]).to_pylist())
    assert share(old, "marital_status", "widowed") > 0.3 > 0.05 > share(young, "marital_status", "widowed")
    assert share(aged(patients, 25, 40), "education", "bachelor") > 1.5 * share(old, "education", "bachelor")


@pytest.mark.parametrize("n_patients", [1, 2, 7])
def test_small_tables(n_patients: int) -> None:
    assert hospital(n_patients).num_rows == n_patients


@pytest.mark.parametrize("n_patients", [0, -1, 2.5, "many", True])
def test_bad_number_of_patients(n_patients: object) -> None:
    with pytest.raises(ParameterError, match="'n_patients' parameter of hospital"):
        hospital(n_patients)  # type: ignore[arg-type]


def test_roles_cover_the_columns(patients: pa.Table) -> None:
    columns = hospital_columns()
    assert list(columns) == patients.column_names
    assert {name for name, column in columns.items() if column.role is Role.IDENTIFIER} == {
        "patient_id",
        "name",
    }
    assert [name for name, column in columns.items() if column.role is Role.SENSITIVE] == ["diagnosis"]
    assert {"age", "sex", "zip"} <= {name for name, column in columns.items() if column.role is Role.QUASI}


def test_roles_and_hierarchies_fit_the_data(patients: pa.Table) -> None:
    table = Table(patients, hospital_columns())
    heights = {
        name: book.hierarchy.height for name, book in table.encoded.items() if book.hierarchy is not None
    }
    assert heights == {"age": 4, "zip": 5, "education": 2, "marital_status": 2, "admission": 3, "ward": 2}
    assert table.groups().n_rows == patients.num_rows


def test_voter_roll_holds_the_requested_share(patients: pa.Table) -> None:
    adults = aged(patients, 18, 100)
    roll = voter_roll(patients, share=0.25, n_strangers=0)
    assert roll.column_names == ["name", "age", "sex", "zip"]
    assert roll.num_rows == round(0.25 * adults.num_rows)
    assert pc.min(roll["age"]).as_py() >= 18
    left = {tuple(row.values()) for row in adults.select(roll.column_names).to_pylist()}
    assert all(tuple(row.values()) in left for row in roll.to_pylist())


def test_voter_roll_mixes_in_strangers(patients: pa.Table) -> None:
    roll = voter_roll(patients, share=0.5)
    assert roll.num_rows == 2 * round(0.5 * aged(patients, 18, 100).num_rows)
    known = {tuple(row.values()) for row in patients.select(roll.column_names).to_pylist()}
    found = np.array([tuple(row.values()) in known for row in roll.to_pylist()])
    assert 0.48 < found.mean() < 0.62
    assert abs(found[: len(found) // 2].mean() - found.mean()) < 0.03
    assert pc.all(pc.match_substring_regex(roll["zip"], r"^0\d{4}$")).as_py()


def test_voter_roll_is_reproducible(patients: pa.Table) -> None:
    assert voter_roll(patients).equals(voter_roll(patients))
    assert not voter_roll(patients).equals(voter_roll(patients, random_state=1))


@pytest.mark.parametrize(
    ("wrong", "name"),
    [({"share": 1.2}, "share"), ({"share": -0.1}, "share"), ({"n_strangers": -1}, "n_strangers")],
)
def test_bad_voter_roll(wrong: dict[str, float], name: str) -> None:
    with pytest.raises(ParameterError, match=f"'{name}' parameter of voter_roll"):
        voter_roll(hospital(10), **wrong)  # type: ignore[arg-type]


def test_voter_roll_wants_a_table() -> None:
    with pytest.raises(ParameterError, match="'patients' parameter of voter_roll"):
        voter_roll("patients.csv")
