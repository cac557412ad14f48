"""Several releases on the command line, and jobs about linked tables: what is said, and what is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from discreet import Table, identifier, other, person, quasi, sensitive, tree
from discreet.guarantees import (
    AlphaKAnonymity,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    KAnonymity,
    MaxRisk,
    RecursiveDiversity,
    TCloseness,
)
from discreet.publish import Generalization, Microaggregation, Mondrian

TREE = {"north": ["Oslo", "Bergen"], "south": ["Rome", "Nice"]}


def released(folder: Path, ages: list[str], illnesses: list[str], **more: Any) -> Path:
    frame = pa.table({"age": ages, "illness": illnesses})
    table = Table(frame, {"age": quasi(), "illness": sensitive()})
    release = Mondrian(KAnonymity(2) & DistinctDiversity(2), random_state=1).release(table)
    return release.write(folder, report=False, **more)


@pytest.fixture
def releases(tmp_path: Path) -> list[str]:
    first = released(tmp_path / "first", ["20", "21", "30", "31"], ["flu", "cold", "flu", "asthma"])
    second = released(tmp_path / "second", ["20", "22", "30", "31"], ["flu", "asthma", "flu", "asthma"])
    return [str(first), str(second)]


def test_releases_that_disclose_together_are_broken(invoke: Any, releases: list[str]) -> None:
    alone = [invoke("check", folder) for folder in releases]
    assert [each.exit_code for each in alone] == [0, 0]
    done = invoke("check", *releases)
    assert done.exit_code == 1
    assert "DistinctDiversity(l=2) of release 1, for people in all: 1 left" in done.stdout
    assert "'illness' is certain" in done.stdout
    found = json.loads(invoke("check", *releases, "--json").stdout)
    assert found["ok"] is False
    assert found["together"]["values"] == {"illness": 1}
    assert found["verdicts"] == ["verified", "verified"]


def test_the_same_release_twice_is_kept(invoke: Any, releases: list[str]) -> None:
    done = invoke("check", releases[0], releases[0])
    assert done.exit_code == 0, done.stdout
    assert "broken" not in done.stdout


def test_a_changed_release_is_broken_together_as_well(invoke: Any, releases: list[str]) -> None:
    path = Path(releases[0]) / "data.csv"
    path.write_text(path.read_text().replace("cold", "flu"))
    assert invoke("check", releases[0], releases[0]).exit_code == 1


def test_a_third_release_hides_nothing(invoke: Any, releases: list[str], tmp_path: Path) -> None:
    """Releases of other people, before or after, leave what the two disclose."""
    far = str(released(tmp_path / "far", ["80", "80"], ["flu", "cold"]))
    for folders in ([far, *releases], [*releases, far], [releases[0], far, releases[1]]):
        done = invoke("check", *folders)
        assert done.exit_code == 1, done.stdout
        assert "'illness' is certain" in done.stdout
    assert invoke("check", far, releases[0]).exit_code == 0


def test_one_newcomer_whose_value_shows_is_broken(invoke: Any, tmp_path: Path) -> None:
    rows = {"age": ["20", "20", "20", "20"], "illness": ["flu", "cold", "flu", "cold"]}
    first = released(tmp_path / "before", rows["age"], rows["illness"])
    second = released(tmp_path / "after", [*rows["age"], "20"], [*rows["illness"], "asthma"])
    done = invoke("check", str(first), str(second))
    assert done.exit_code == 1
    assert "if people only came or went" in done.stdout
    assert "quasi-identifiers and sensitive values do not change" in done.stdout


def test_pseudonyms_of_identifiers_tie_rows_of_two_of_three(invoke: Any, tmp_path: Path) -> None:
    folders = []
    for number, names in enumerate(("abcd", "efgh", "abcd")):
        frame = pa.table({"who": list(names), "age": [20, 20, 30, 30], "illness": ["x", "y"] * 2})
        roles = {"who": identifier(pseudonym="k" * 16), "age": quasi(), "illness": sensitive()}
        release = Mondrian(KAnonymity(2)).release(Table(frame, roles))
        folders.append(str(release.write(tmp_path / str(number), report=False)))
    assert invoke("check", *folders[:2]).exit_code == 0
    done = invoke("check", *folders)
    assert done.exit_code == 1
    assert "4 pseudonyms are in several releases" in done.stdout


def test_what_is_no_release_is_refused(invoke: Any, releases: list[str], patients: Path) -> None:
    for arguments in ([releases[0], str(patients)], [*releases, "-k", "3"]):
        done = invoke("check", *arguments)
        assert done.exit_code == 2
        assert "Several are checked together only where all are folders of releases" in done.stderr


def test_other_hierarchies_are_one_clear_line(invoke: Any, tmp_path: Path) -> None:
    frame = pa.table({"town": ["Oslo", "Bergen", "Rome", "Nice"], "illness": ["flu", "cold"] * 2})
    folders = []
    for number, nested in enumerate((TREE, {"west": ["Bergen", "Nice"], "east": ["Oslo", "Rome"]})):
        table = Table(frame, {"town": quasi(tree(nested)), "illness": sensitive()})
        release = Generalization(KAnonymity(2), levels={"town": 1}).release(table)
        folders.append(str(release.write(tmp_path / str(number), report=False)))
    done = invoke("check", *folders)
    assert done.exit_code == 2
    assert "generalize 'town' by different hierarchies" in done.stderr
    assert invoke("check", folders[0], folders[0]).exit_code == 0
    (tmp_path / "1.private").rename(tmp_path / "elsewhere")
    assert "private folders" in invoke("check", *folders).stderr


JOB = """
[tables.people]
path = "people.csv"
columns = {{who = {{role = "{role}"}}, age = {{role = "quasi"}}}}
[tables.drugs]
path = "drugs.csv"
columns = {{who = {{role = "person"}}, month = {{role = "{month}"}}, drug = {{role = "sensitive"}}}}
{more}
[[guarantee]]
kind = "k-anonymity"
k = 2
[output]
folder = "release"
"""


@pytest.fixture
def job(tmp_path: Path) -> Any:
    people = pa.table({"who": list(range(8)), "age": [30, 30, 30, 30, 50, 50, 50, 50]})
    drugs = pa.table({"who": list(range(8)), "month": [1] * 8, "drug": ["SECRET-A", "SECRET-B"] * 4})
    pyarrow.csv.write_csv(people, tmp_path / "people.csv")
    pyarrow.csv.write_csv(drugs, tmp_path / "drugs.csv")

    def write(*, role: str = "person", month: str = "quasi", more: str = "") -> str:
        path = tmp_path / "job.toml"
        path.write_text(JOB.format(role=role, month=month, more=more))
        return str(path)

    return write


def test_a_job_about_linked_tables_is_run_and_checked(invoke: Any, job: Any, tmp_path: Path) -> None:
    done = invoke("run", job(), "--json")
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["verdict"] == "verified"
    assert said["people"] == {"in": 8, "out": 8, "suppressed": 0}
    assert said["table_rows"] == {"people": 8, "drugs": 8}
    assert invoke("check", str(tmp_path / "release")).exit_code == 0
    assert invoke("check", str(tmp_path / "release"), "-k", "4").exit_code == 0
    assert invoke("check", str(tmp_path / "release"), "-k", "5").exit_code == 1
    assert invoke("check", str(tmp_path / "release"), str(tmp_path / "release")).exit_code == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"role": "other"}, "Table 'people' has no key"),
        ({"month": "other"}, "Table 'drugs': The table has no quasi-identifier"),
        ({"more": 'shift = ["month"]'}, "must have the role other"),
        ({"more": 'dates = "x"'}, "unknown key 'dates'"),
        ({"more": "[input]\npath = 'x.csv'"}, "unknown key 'path'"),
        ({"more": "[tables.report]\npath = 'x.csv'\ncolumns = {}"}, "cannot be the name of a file"),
        ({"more": "[method]\nname = 'mondrian'"}, "unknown name"),
    ],
)
def test_bad_jobs_are_one_clear_line(
    invoke: Any, job: Any, tmp_path: Path, changes: dict[str, str], words: str
) -> None:
    done = invoke("run", job(**changes))
    assert done.exit_code == 2
    assert words in done.stderr
    assert "SECRET" not in done.stderr
    assert not (tmp_path / "release").exists()
    assert not (tmp_path / "release.private").exists()


def written(folder: Path, roles: dict[str, Any], publisher: Any, **columns: list[Any]) -> str:
    return str(publisher.release(Table(pa.table(columns), roles)).write(folder, report=False))


AGE = {"age": quasi(), "illness": sensitive()}


@pytest.mark.parametrize(
    ("guarantee", "code"),
    [
        (TCloseness(0.7), 3),
        (AlphaKAnonymity(0.6, 1), 1),
        (EntropyDiversity(2), 1),
        (RecursiveDiversity(2, 2), 1),
        (EnhancedBetaLikeness(5), 3),
        (DeltaDisclosure(5), 3),
        (MaxRisk(0.5), 1),
        (MaxRisk(1, mean=0.5), 3),
        (KAnonymity(1), 0),
    ],
)
def test_together_nothing_is_verified_that_intersections_do_not_say(
    invoke: Any, tmp_path: Path, guarantee: Any, code: int
) -> None:
    """One value is left: guarantees that this cannot keep are broken, and the others are no more than claimed."""
    publisher = Mondrian(guarantee)
    first = written(tmp_path / "1", AGE, publisher, age=[30] * 3, illness=["flu", "cold", "gout"])
    second = written(tmp_path / "2", AGE, publisher, age=[30] * 3, illness=["flu", "asthma", "mumps"])
    done = invoke("check", first, second)
    assert done.exit_code == code, done.stdout
    assert ("unsure" in done.stdout) is (code == 3)


def test_rows_that_are_left_are_no_people(invoke: Any, tmp_path: Path) -> None:
    roles = {"who": person(), **AGE}
    visits = {"who": [0, 0, 1, 1, 2, 2], "age": [30] * 6}
    first = written(tmp_path / "1", roles, Mondrian(KAnonymity(3)), **visits, illness=list("aabbcc"))
    second = written(tmp_path / "2", roles, Mondrian(KAnonymity(3)), **visits, illness=list("aabbdd"))
    done = invoke("check", first, second)
    assert done.exit_code == 3
    assert "unsure" in done.stdout
    assert "per 'who'" in done.stdout


@pytest.mark.parametrize(
    ("ages", "others"),
    [
        ([30, 30], [30.0, 30.0, 20.5, 20.5]),
        (["02130", "02130"], [2130, 2130]),
        (["NY", "NY"], ["ny", "ny"]),
        (["2020-01-01"] * 2, ["2020-01-01 00:00:00"] * 2 + ["2020-01-01 10:00:00"] * 2),
    ],
)
def test_the_same_value_written_otherwise_is_the_same(
    invoke: Any, tmp_path: Path, ages: list[Any], others: list[Any]
) -> None:
    """The type of a column in a text file comes from all its values, so one release has 30 and another 30.0."""
    first = written(tmp_path / "1", AGE, Mondrian(KAnonymity(2)), age=ages, illness=["1", "2"])
    ills = ["1.0", "3.5", "4", "5"][: len(others)]
    second = written(tmp_path / "2", AGE, Generalization(KAnonymity(1), levels={}), age=others, illness=ills)
    done = invoke("check", first, second)
    assert done.exit_code == 1, done.stdout
    assert "'illness' is certain" in done.stdout


@pytest.mark.parametrize(
    "publisher", [Mondrian(KAnonymity(3), summary="mean"), Microaggregation(KAnonymity(3))]
)
def test_means_are_refused(invoke: Any, tmp_path: Path, publisher: Any) -> None:
    """Somebody of 30 is in the class that shows 31 and in the one that shows 29."""
    first = written(tmp_path / "1", AGE, publisher, age=[30, 31, 32], illness=["flu", "cold", "gout"])
    second = written(tmp_path / "2", AGE, publisher, age=[30, 29, 28], illness=["flu", "mumps", "ms"])
    done = invoke("check", first, second)
    assert done.exit_code == 2
    assert "means of 'age'" in done.stderr


def test_what_others_know_in_one_release_they_know_in_all(invoke: Any, tmp_path: Path) -> None:
    town = {"town": ["a", "b", "c"], "age": [30] * 3, "illness": ["flu", "cold", "gout"]}
    exact = {**AGE, "town": other(allow_unique=True)}
    first = written(tmp_path / "1", exact, Mondrian(KAnonymity(3)), **town)
    second = written(tmp_path / "2", {**AGE, "town": quasi()}, Mondrian(KAnonymity(3)), **town)
    assert invoke("check", first, first).exit_code == 0
    done = invoke("check", first, second)
    assert done.exit_code == 1
    assert "KAnonymity(k=3) of release 1, for people in all: 1 left" in done.stdout
    assert "others know 'town'" in done.stdout
