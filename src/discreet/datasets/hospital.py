"""The embedded sample: a generated hospital, and a voter roll to attack it with. Nobody in it exists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.hierarchy.specs import intervals, masked, tree
from discreet.core.params import FloatIn, InstanceOf, IntIn, require
from discreet.core.rng import RandomState, generator
from discreet.core.schema import Column, identifier, other, quasi, sensitive

_FEMALE_NAMES = """Ada Agnes Amina Anja Carla Chiara Dalia Elena Elif Fatou Flora Greta Hedda Ines Isolde
Jana Katya Lena Livia Mai Marta Mina Nora Olga Petra Rhea Ruth Selma Sofia Thea Uma Yara"""
_MALE_NAMES = """Adam Ahmed Anton Arne Bruno Carlo Chidi David Elias Enzo Farid Finn Hassan Hugo Ivan Jakob
Jonas Kenji Lars Luca Malik Max Milan Noah Oscar Otto Paul Piotr Rolf Simon Stefan Theo Tom Walter"""
_FAMILY_NAMES = """Abbott Achebe Alves Baker Barros Becker Bianchi Bishop Brandt Carver Castro Cooper Costa
Demir Diaz Eriksen Fischer Fontaine Garcia Gold Gruber Haas Hayes Hill Ibrahim Jansen Jensen Keller Khan
Klein Kovac Lang Lindt Lopez Mason Mbeki Miller Moreau Nguyen Okafor Olsen Park Perez Pohl Porter Reyes Rossi
Schmid Silva Singh Sousa Stein Suzuki Takeda Tran Varga Vogel Walsh Weber Wolf Wong Young"""

_DISTRICTS = ("011", "013", "018", "021", "024", "027")
_WEALTH = np.array([-0.3, -0.6, -0.4, 0.5, 0.8, 0.0])
_ZIPS = [district + ending for ending in ("08", "15", "26", "39", "52", "74") for district in _DISTRICTS]
_SEXES = ("female", "male")
_OLDEST = 100
_AGES = np.arange(_OLDEST + 1.0)

_EDUCATION = {
    "school": ["pre-school", "primary", "lower secondary"],
    "secondary": ["upper secondary", "vocational"],
    "higher": ["bachelor", "master", "doctorate"],
}
_EDUCATIONS = [name for names in _EDUCATION.values() for name in names]
_MARITAL = {"single": ["never married", "divorced", "widowed"], "partnered": ["married", "separated"]}
_MARITALS = [name for names in _MARITAL.values() for name in names]
_WARD = {
    "medical": ["cardiology", "infectious diseases", "internal medicine", "oncology"],
    "mind and brain": ["neurology", "psychiatry"],
    "surgical": ["orthopaedics", "surgery"],
    "family": ["maternity", "paediatrics"],
}
_WARDS = [name for names in _WARD.values() for name in names]
_YEAR = np.datetime64("2024-01-01")
_MOST = 10_000_000


class _Condition(NamedTuple):
    """How often a condition brings people in, whom, where, and for how long."""

    name: str
    ward: str
    weight: float
    age: float
    spread: float
    women: float  # the share of women where both sexes are as many
    days: float  # mean length of stay
    readmitted: float
    winter: float = 1.0  # how much likelier in January than in July
    district: str = ""  # where it is three times as common
    ages: tuple[int, int] = (0, _OLDEST)


_CONDITIONS = (
    _Condition("appendicitis", "surgery", 1.5, 20, 14, 0.47, 3, 0.04),
    _Condition("arthritis", "orthopaedics", 1.4, 70, 14, 0.63, 5, 0.10),
    _Condition("asthma", "internal medicine", 1.3, 15, 22, 0.52, 3, 0.15, 1.5, "013"),
    _Condition("breast cancer", "oncology", 1.6, 62, 13, 0.99, 6, 0.25, ages=(20, 100)),
    _Condition("bronchitis", "internal medicine", 1.6, 55, 30, 0.50, 5, 0.15, 3.0, "013"),
    _Condition("childbirth", "maternity", 14.0, 30, 5.5, 1.0, 3, 0.02, ages=(16, 48)),
    _Condition("colon cancer", "oncology", 1.2, 70, 12, 0.44, 8, 0.25),
    _Condition("depression", "psychiatry", 1.3, 40, 17, 0.62, 14, 0.28, 1.3, ages=(8, 100)),
    _Condition("diabetes", "internal medicine", 2.0, 64, 17, 0.44, 6, 0.22, 1.0, "018"),
    _Condition("epilepsy", "neurology", 0.8, 25, 30, 0.47, 4, 0.18),
    _Condition("fracture", "orthopaedics", 1.6, 50, 40, 0.52, 6, 0.06, 1.5, "011"),
    _Condition("gallstones", "surgery", 1.5, 55, 16, 0.64, 3, 0.05),
    _Condition("gastroenteritis", "infectious diseases", 1.4, 5, 25, 0.50, 2, 0.05, 1.5),
    _Condition("heart attack", "cardiology", 2.4, 70, 12, 0.38, 7, 0.18, 1.2, "018"),
    _Condition("heart failure", "cardiology", 2.2, 80, 10, 0.47, 8, 0.30, 1.2),
    _Condition("HIV infection", "infectious diseases", 0.5, 38, 12, 0.29, 9, 0.25, 1.0, "021"),
    _Condition("pneumonia", "infectious diseases", 1.8, 75, 25, 0.47, 7, 0.14, 3.0),
    _Condition("prostate cancer", "oncology", 1.6, 70, 9, 0.0, 6, 0.15, ages=(35, 100)),
    _Condition("schizophrenia", "psychiatry", 0.6, 33, 12, 0.44, 21, 0.32, 1.0, "021", (14, 100)),
    _Condition("stroke", "neurology", 2.0, 76, 12, 0.47, 11, 0.20),
)
_DIAGNOSES = [condition.name for condition in _CONDITIONS]


@public
def hospital(n_patients: int = 20_000, *, random_state: RandomState = 0) -> pa.Table:
    """Generate a hospital's admissions of one year, one row a patient, with dependencies as real ones have.

    Education depends on age and district; marital status on age and sex; the diagnosis on age, sex and
    district; ward, admission date, length of stay and readmission on the diagnosis. ZIP codes begin with a
    zero, and their first three digits are the district. Some educations and marital statuses are missing.

    Parameters
    ----------
    n_patients : int
        The number of rows.
    random_state : None, int or Generator
        The same seed produces the same table.

    Examples
    --------
    >>> from discreet.datasets import hospital
    >>> patients = hospital(1_000)
    >>> patients.num_rows, patients.column_names[:6]
    (1000, ['patient_id', 'name', 'age', 'sex', 'zip', 'education'])
    """
    require("hospital", "n_patients", n_patients, IntIn(1, _MOST))
    rng = generator(random_state, owner="hospital")
    people = _people(int(n_patients), rng)
    age, sex = people["age"], people["sex"]
    by_district = age * len(_DISTRICTS) + people["zip"] % len(_DISTRICTS)
    diagnosis = _draw(_diagnosis_weights(), by_district * 2 + sex, rng)
    education = _draw(_education_weights(), by_district, rng)
    marital = _draw(_marital_weights(), age * 2 + sex, rng)
    day = _draw(_season_weights(), diagnosis, rng)
    back = np.array([condition.readmitted for condition in _CONDITIONS])[diagnosis] * (0.7 + age / 150)
    return pa.table(
        {
            "patient_id": _numbers(int(n_patients), rng),
            **_known(people),
            "education": _words(_EDUCATIONS, education, rng.random(n_patients) < 0.04),
            "marital_status": _words(_MARITALS, marital, rng.random(n_patients) < 0.03),
            "admission": pa.array(_YEAR + day.astype("timedelta64[D]")),
            "ward": _words(_WARDS, _ward(diagnosis, age, rng)),
            "diagnosis": _words(_DIAGNOSES, diagnosis),
            "days": pa.array(_stay(diagnosis, age, rng), pa.int64()),
            "readmitted": pa.array(rng.random(n_patients) < back),
        }
    )


@public
def hospital_columns() -> dict[str, Column]:
    """Return the hospital's columns their roles and hierarchies, ready for a Table.

    What a neighbor, a visitor or a voter roll may know is quasi-identifying: the ward and the admission
    date as well. The length of stay and the readmission are taken as unknown outside.
    """
    return {
        "patient_id": identifier(),
        "name": identifier(),
        "age": quasi(intervals(5, 10, 20)),
        "sex": quasi(),
        "zip": quasi(masked()),
        "education": quasi(tree(_EDUCATION, ordered=True)),
        "marital_status": quasi(tree(_MARITAL)),
        "admission": quasi(intervals("month", "quarter")),
        "ward": quasi(tree(_WARD)),
        "diagnosis": sensitive(),
        "days": other(),
        "readmitted": other(),
    }


@public
def voter_roll(
    patients: pa.Table, *, share: float = 0.6, n_strangers: int | None = None, random_state: RandomState = 0
) -> pa.Table:
    """Generate a voter roll (name, age, sex, zip) that holds a share of the adult patients, among strangers.

    Parameters
    ----------
    patients : pyarrow.Table
        A table made by `hospital`.
    share : float
        The share of the adult patients who are on the roll.
    n_strangers : int, optional
        How many adults who were never in the hospital are on the roll; by default as many as patients are.
    random_state : None, int or Generator
        The same seed and patients produce the same roll.
    """
    require("voter_roll", "patients", patients, InstanceOf((pa.Table,), "a pyarrow Table made by hospital"))
    require("voter_roll", "share", share, FloatIn(0, 1))
    require("voter_roll", "n_strangers", n_strangers, IntIn(0, _MOST), InstanceOf((type(None),), "None"))
    rng = generator(random_state, owner="voter_roll")
    adults = patients.select(["name", "age", "sex", "zip"]).filter(pc.field("age") >= 18)
    on_roll = adults.take(rng.permutation(adults.num_rows)[: round(share * adults.num_rows)])
    others = _people(on_roll.num_rows if n_strangers is None else int(n_strangers), rng, youngest=18)
    roll = pa.concat_tables([on_roll, pa.table(_known(others))])
    return roll.take(rng.permutation(roll.num_rows)).combine_chunks()


def _people(n: int, rng: np.random.Generator, youngest: int = 0) -> dict[str, IntArray]:
    age = _draw(_age_weights(youngest), np.zeros(n, dtype=np.int64), rng)
    women = np.interp(_AGES, [0, 15, 20, 40, 50, 75, 100], [0.46, 0.48, 0.62, 0.58, 0.48, 0.5, 0.72])
    size = np.power(np.arange(len(_ZIPS)) + 2.0, -0.9)
    return {
        "age": age,
        "sex": _draw(np.column_stack([women, 1 - women]), age, rng),
        "zip": _draw(size[None, :], np.zeros(n, dtype=np.int64), rng),
        "given": rng.integers(0, 1 << 30, n),
        "family": rng.integers(0, 1 << 30, n),
    }


def _draw(weights: FloatArray, row: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw an option for every entry of ``row``, by the weights in that row of the table."""
    cumulated = np.cumsum(weights, axis=1)
    cumulated /= cumulated[:, -1:]
    steps = (cumulated + np.arange(len(weights))[:, None]).ravel()
    # A 24-bit draw plus a row number is exact, so a draw never slips into the next row.
    chance = rng.random(len(row), dtype=np.float32).astype(np.float64)
    return np.asarray(np.searchsorted(steps, row + chance, side="right") - row * weights.shape[1])


def _age_weights(youngest: int) -> FloatArray:
    weights = 2.2 * np.exp(-_AGES / 4) + 0.9 * _bump(31, 9) + 2.0 * _bump(68, 16) + 0.25
    weights[:youngest] = 0.0
    return weights[None, :]


def _diagnosis_weights() -> FloatArray:
    weights = np.empty((len(_AGES), len(_DISTRICTS), len(_SEXES), len(_CONDITIONS)))
    for c, condition in enumerate(_CONDITIONS):
        possible = np.clip(_AGES, *condition.ages) == _AGES
        by_age = condition.weight * possible * (_bump(condition.age, condition.spread) + 0.002)
        by_district = np.where(np.array(_DISTRICTS) == condition.district, 3.0, 1.0)
        by_sex = np.array([condition.women, 1 - condition.women])
        weights[..., c] = by_age[:, None, None] * by_district[:, None] * by_sex
    return weights.reshape(-1, len(_CONDITIONS))


def _education_weights() -> FloatArray:
    rank = np.arange(len(_EDUCATIONS))
    young = [0, 1, 5, 25, 25, 28, 14, 2]
    middle = [0, 2, 9, 27, 33, 18, 9, 2]
    old = [0, 14, 22, 24, 26, 9, 4, 1]
    weights = np.zeros((len(_AGES), len(_DISTRICTS), len(_EDUCATIONS)))
    for age in range(_OLDEST + 1):
        if age < 19:
            weights[age, :, np.searchsorted([7, 12, 16], age, side="right")] = 1.0
            continue
        reached = rank < np.searchsorted([22, 25, 29], age, side="right") + 5
        cohort = young if age < 35 else middle if age < 65 else old
        weights[age] = np.array(cohort) * reached * np.exp(0.4 * _WEALTH[:, None] * (rank - 4))
    return weights.reshape(-1, len(_EDUCATIONS))


def _marital_weights() -> FloatArray:
    ages = [17, 25, 35, 50, 65, 80, 100]
    women = [[99, 0, 0, 1, 0], [55, 3, 0, 40, 2], [22, 12, 1, 61, 4], [12, 19, 4, 62, 3]]
    women += [[8, 15, 25, 51, 1], [6, 9, 58, 27, 0], [5, 4, 86, 5, 0]]
    men = [[99, 0, 0, 1, 0], [65, 2, 0, 32, 1], [27, 10, 0, 59, 4], [14, 16, 1, 66, 3]]
    men += [[8, 12, 8, 71, 1], [5, 7, 24, 64, 0], [4, 4, 55, 37, 0]]
    shares = [[np.interp(_AGES, ages, share) for share in zip(*rows, strict=True)] for rows in (women, men)]
    weights = np.array(shares).transpose(2, 0, 1)
    weights[:18] = [1, 0, 0, 0, 0]
    return weights.reshape(-1, len(_MARITALS))


def _season_weights() -> FloatArray:
    winter = np.array([condition.winter for condition in _CONDITIONS])[:, None]
    cosine = np.cos(2 * np.pi * (np.arange(366) - 15) / 366)
    return np.asarray(np.exp(0.5 * np.log(winter) * cosine), dtype=np.float64)


def _ward(diagnosis: IntArray, age: IntArray, rng: np.random.Generator) -> IntArray:
    usual = np.array([_WARDS.index(condition.ward) for condition in _CONDITIONS])[diagnosis]
    child = (age < 16) & (rng.random(len(age)) < 0.85)
    return np.where(child, _WARDS.index("paediatrics"), usual)


def _stay(diagnosis: IntArray, age: IntArray, rng: np.random.Generator) -> IntArray:
    mean = np.array([condition.days for condition in _CONDITIONS])[diagnosis] * (0.8 + age / 200)
    return np.clip(np.ceil(rng.gamma(2.5, mean / 2.5)), 1, 180).astype(np.int64)


def _bump(middle: float, spread: float) -> FloatArray:
    return np.asarray(np.exp(-0.5 * ((_AGES - middle) / spread) ** 2), dtype=np.float64)


def _words(words: Sequence[str], codes: IntArray, missing: BoolArray | None = None) -> pa.Array:
    return pa.array(words, pa.string()).take(pa.array(codes, mask=missing))


def _numbers(n: int, rng: np.random.Generator) -> pa.Array:
    """Return every patient a number of nine digits, unique and in no order."""
    digits = pc.utf8_lpad(pa.array(rng.choice(10**9, n, replace=False)).cast(pa.string()), 9, "0")
    return pc.binary_join_element_wise("P", digits, "-")


def _known(people: dict[str, IntArray]) -> dict[str, pa.Array]:
    """Write down what the neighbors know of these people."""
    women, men, families = _FEMALE_NAMES.split(), _MALE_NAMES.split(), _FAMILY_NAMES.split()
    first_name = people["given"] % np.where(people["sex"] == 0, len(women), len(men))
    first_name += len(women) * (people["sex"] == 1)
    family = _words(families, people["family"] % len(families))
    return {
        "name": pc.binary_join_element_wise(_words(women + men, first_name), family, " "),
        "age": pa.array(people["age"], pa.int64()),
        "sex": _words(_SEXES, people["sex"]),
        "zip": _words(_ZIPS, people["zip"]),
    }
