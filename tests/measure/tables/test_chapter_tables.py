"""Tables 20.1 to 20.3 of the chapter: the voter roll finds the patients, and 3-anonymity alone does not save them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from discreet import Release, Table, from_mapping, identifier, intervals, other, quasi, sensitive, tree
from discreet.guarantees import DistinctDiversity, EntropyDiversity, KAnonymity
from discreet.measure import linkage, loss, loss_between, risk
from discreet.publish import Generalization

PATIENTS = pa.table(
    {
        "ssn": [
            "012-345-6789",
            "823-627-9231",
            "987-654-3210",
            "382-827-8264",
            "847-872-7276",
            "422-061-0089",
        ],
        "age": [24, 37, 26, 38, 36, 25],
        "zip": ["10598", "90210", "10547", "90345", "89119", "02139"],
        "disease": ["HIV", "Hepatitis C", "HIV", "Hepatitis C", "Diabetes", "HIV"],
    }
)
VOTERS = pa.table(
    {
        "name": ["Mary", "John", "Ann", "Jack", "Joy", "Victor", "Peter", "Diana", "William", "Sue"],
        "age": [38, 36, 31, 57, 26, 46, 25, 24, 37, 26],
        "zip": [
            "90345",
            "89119",
            "02139",
            "10562",
            "10547",
            "90345",
            "02139",
            "10598",
            "90210",
            "10547",
        ],
    }
)
REGIONS = tree(
    {
        "Northeastern US": {"New York": ["10547", "10562", "10598"], "Massachusetts": ["02139"]},
        "Western US": {"California": ["90210", "90345"], "Nevada": ["89119"]},
    }
)
MAPPED = from_mapping(
    dict.fromkeys(["10547", "10562", "10598", "02139"], "Northeastern US")
    | dict.fromkeys(["90210", "90345", "89119"], "Western US")
)
EAST, WEST = ("[20, 30]", "Northeastern US"), ("[30, 40]", "Western US")
ANONYMIZED = Table(
    pa.table(
        {
            "age": [place[0] for place in (EAST, WEST, EAST, WEST, WEST, EAST)],
            "zip": [place[1] for place in (EAST, WEST, EAST, WEST, WEST, EAST)],
            "disease": PATIENTS["disease"],
        }
    ),
    {"age": quasi(), "zip": quasi(), "disease": sensitive()},
)


def patients() -> Table:
    roles = {"ssn": identifier(), "age": quasi(intervals(10)), "zip": quasi(REGIONS), "disease": sensitive()}
    return Table(PATIENTS, roles)


def voters() -> Table:
    """The roll with the tree of figure 20.1, as an attacker with a map has it."""
    return Table(VOTERS, {"name": other(), "age": quasi(), "zip": quasi(REGIONS)})


def release() -> Release:
    return Generalization(KAnonymity(3), levels={"age": 1, "zip": 2}).release(patients())


def by_name(values: object) -> dict[str, float]:
    return dict(zip(VOTERS["name"].to_pylist(), values, strict=True))  # type: ignore[call-overload]


def test_table_without_names_is_found_in_the_voter_roll() -> None:
    found = linkage(patients(), VOTERS)
    certainty = by_name(found.certainty)
    assert found.on == ("age", "zip")
    assert certainty["Joy"] == certainty["Sue"] == 0.5
    assert certainty["William"] == 1.0
    assert certainty["Ann"] == certainty["Jack"] == certainty["Victor"] == 0.0
    assert found.persons_pinned == found.records_pinned == 5
    assert by_name(found.attribute_certainty["disease"])["Joy"] == 1.0
    joint = by_name(found.joint_certainty["disease"])
    assert joint["Joy"] == joint["Sue"] == 0.5
    assert found.attributes["disease"].persons_above_joint == 5


@pytest.mark.parametrize("spec", [REGIONS, MAPPED], ids=["tree", "mapping"])
def test_anonymized_table_hides_records_but_tells_that_the_east_has_hiv(spec: object) -> None:
    roll = Table(VOTERS, {"name": other(), "age": quasi(), "zip": quasi(spec)})  # type: ignore[arg-type]
    found = linkage(ANONYMIZED, roll)
    assert found.persons_pinned == found.records_pinned == 0
    assert found.class_sizes.tolist() == [3, 3]
    assert sorted(found.class_candidates.tolist()) == [3, 4]
    learned, certainty = by_name(found.attribute_certainty["disease"]), by_name(found.certainty)
    joint = by_name(found.joint_certainty["disease"])
    assert (joint["Joy"], joint["Mary"]) == pytest.approx((3 / 4, 2 / 3))
    for name in ("Joy", "Sue", "Peter", "Diana"):
        assert (learned[name], certainty[name]) == (1.0, 0.25)
    for name in ("Mary", "John", "William"):
        assert (learned[name], certainty[name]) == pytest.approx((2 / 3, 1 / 3))
    assert learned["Ann"] == learned["Jack"] == learned["Victor"] == 0.0
    disease = found.attributes["disease"]
    assert (disease.highest, disease.prior, disease.persons_above) == (1.0, 0.5, 7)
    assert disease.mean == pytest.approx((4 * 1 + 3 * 2 / 3) / 7)


def test_a_release_knows_its_own_regions() -> None:
    """A plain frame suffices then, and ZIP codes outside the tree match nothing."""
    roll = pa.concat_tables([VOTERS, pa.table({"name": ["Zoe"], "age": [25], "zip": ["99999"]})])
    found = linkage(release(), roll)
    assert found.records.tolist() == [3, 3, 0, 0, 3, 0, 3, 3, 3, 3, 0]
    assert found.attribute_certainty["disease"][[4, 6, 7, 9]].tolist() == [1.0] * 4


def test_anonymized_table_is_three_anonymous_but_not_two_diverse() -> None:
    for table in (ANONYMIZED, release()):
        assert KAnonymity(3).check(table)
        assert not KAnonymity(4).check(table)
        assert not DistinctDiversity(2).check(table)
        assert not EntropyDiversity(2).check(table)
        assert risk(table).prosecutor.highest == pytest.approx(1 / 3)
    assert risk(patients()).uniques == 6


def test_what_the_anonymized_table_costs() -> None:
    """Three of six ages; four of seven ZIP codes in the east, three in the west."""
    expected = {"age": 2 / 5, "zip": (3 / 6 + 2 / 6) / 2}
    assert loss(release()).columns == pytest.approx(expected)
    assert loss_between(patients(), release().table).columns == pytest.approx(expected)
    assert loss(release()).precision == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert loss(release()).discernibility == 18
