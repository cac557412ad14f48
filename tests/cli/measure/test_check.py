"""`discreet check` and `discreet risk`: any table, whoever made it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from discreet import quasi, sensitive
from discreet.cli._options import guarantees_of
from discreet.cli.measure.check import check
from discreet.cli.publish.anonymize import anonymize
from discreet.cli.publish.explore import explore
from discreet.guarantees import DeltaDisclosure
from discreet.job.parse import guarantee_from

# Table 20.3 of the chapter: 3-anonymous, and not 2-diverse.
PUBLISHED = """age,zip,disease
[20-30],Northeastern US,HIV
[30-40],Western US,Hepatitis C
[20-30],Northeastern US,HIV
[30-40],Western US,Hepatitis C
[30-40],Western US,Diabetes
[20-30],Northeastern US,HIV
"""
ROLES = ["--quasi", "age,zip", "--sensitive", "disease"]


@pytest.fixture
def published(tmp_path: Path) -> Path:
    path = tmp_path / "published.csv"
    path.write_text(PUBLISHED)
    return path


def test_the_chapters_table_is_3_anonymous(invoke, published: Path) -> None:
    result = invoke("check", published, *ROLES, "-k", 3)
    assert result.exit_code == 0
    assert result.stdout.startswith("verified")
    assert invoke("check", published, *ROLES, "-k", 4).exit_code == 1


def test_the_chapters_table_is_not_2_diverse(invoke, published: Path) -> None:
    result = invoke("check", published, *ROLES, "-k", 3, "-l", 2)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith("verified")
    assert lines[1].startswith("broken")
    assert "1 of 2 classes (3 rows) fail" in lines[1]


def test_everything_is_measured_asked_for_or_not(invoke, published: Path) -> None:
    result = invoke("check", published, *ROLES, "--json")
    assert result.exit_code == 0
    plain = json.loads(result.stdout)
    assert (plain["rows"], plain["classes"], plain["verdict"]) == (6, 2, None)
    reached = {measure["name"]: measure["worst"] for measure in plain["measures"]}
    assert reached["k-anonymity, k"] == 3
    assert reached["distinct diversity, l"] == 1
    assert reached["entropy diversity, l"] == pytest.approx(1)
    assert reached["recursive (c, 2)-diversity, c"] is None
    assert reached["t-closeness, t (equal)"] == pytest.approx(0.5)
    assert reached["t-closeness, t (Kullback-Leibler)"] == pytest.approx(math.log(2))
    assert reached["(alpha, k)-anonymity, alpha"] == 1
    assert reached["basic beta-likeness, beta"] == pytest.approx(1)
    assert reached["delta-disclosure, delta (absent ignored)"] == pytest.approx(1)
    assert reached["delta-disclosure, delta (absent counted)"] is None


def test_a_broken_promise_exits_with_one_also_as_json_and_quietly(process, published: Path) -> None:
    quiet = process("check", published, *ROLES, "-k", 4, "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (1, "", "")
    told = process("check", published, *ROLES, "-k", 4, "--json")
    assert told.returncode == 1
    assert json.loads(told.stdout)["judgment"]["failing_rows"] == 6


def test_delta_disclosure_has_two_readings_and_names_the_one_it_took(invoke, published: Path) -> None:
    """Python had both; the command line had one, and did not say which."""
    as_arx = invoke("check", published, *ROLES, "--delta", 1.1)
    assert as_arx.exit_code == 0
    assert "values absent from a class ignored" in as_arx.stdout
    literal = invoke("check", published, *ROLES, "--delta", 1.1, "--absent", "counted", "--json")
    assert literal.exit_code == 1
    verdict = json.loads(literal.stdout)["judgment"]
    assert verdict["measure"].endswith("values absent from a class counted")
    assert "absent='counted'" in verdict["guarantee"]
    idle = invoke("check", published, *ROLES, "-k", 3, "--absent", "counted")
    assert idle.exit_code == 2
    assert "--absent requires --delta" in idle.output


@pytest.mark.parametrize("command", [anonymize, check, explore])
def test_every_command_with_delta_has_the_readings_of_the_guarantee(command) -> None:
    found = {option.name: option for option in command.params}
    assert tuple(found["absent"].type.choices) == DeltaDisclosure.constraints["absent"].options
    asked = guarantees_of({"delta": 1.5, "absent": "counted"})
    schema = {"age": quasi(), "ill": sensitive()}
    assert guarantee_from(asked, schema, Path()) == DeltaDisclosure(1.5, absent="counted")
    assert "absent" not in guarantees_of({"delta": 1.5})[0]


def test_other_columns_do_not_matter(invoke, published: Path) -> None:
    assert invoke("check", published, "--quasi", "zip", "-k", 3).exit_code == 0


def test_suppressed_rows_are_judged_unless_exempt(invoke, published: Path) -> None:
    published.write_text(PUBLISHED + "*,*,HIV\n")
    assert invoke("check", published, *ROLES, "-k", 3).exit_code == 1
    assert invoke("check", published, *ROLES, "-k", 3, "--suppressed", "exempt").exit_code == 0


def test_null_keys_are_a_class(invoke, tmp_path: Path) -> None:
    path = tmp_path / "nulls.csv"
    path.write_text("age,disease\n30,flu\n30,cold\n30,flu\n,flu\n")
    result = invoke("check", path, "--quasi", "age", "--json")
    assert json.loads(result.stdout)["measures"][0]["worst"] == 1


def test_k_map_looks_at_the_population(invoke, tmp_path: Path) -> None:
    sample, people = tmp_path / "sample.csv", tmp_path / "people.csv"
    sample.write_text('age,disease\n"[20, 29]",flu\n"[30, 39]",cold\n')
    people.write_text("name,age\na,20\nb,25\nc,29\nd,31\ne,38\n")
    base = ["check", sample, "--quasi", "age", "--population", people]
    assert invoke(*base, "--k-map", 2).exit_code == 0
    assert invoke(*base, "--k-map", 3).exit_code == 1
    reached = json.loads(invoke(*base, "--json").stdout)["measures"]
    assert reached[1] == {"name": "k-map, k", "column": None, "relation": ">=", "worst": 2.0}


def test_a_promise_about_nothing_sensitive_is_refused(invoke, published: Path) -> None:
    result = invoke("check", published, "--quasi", "age", "-l", 2)
    assert result.exit_code == 2
    assert "sensitive" in result.stderr


@pytest.mark.parametrize("command", ["check", "risk", "explore"])
def test_a_missing_file_is_named_before_its_roles(invoke, tmp_path: Path, command: str) -> None:
    result = invoke(command, tmp_path / "nowhere.csv")
    assert result.exit_code == 2
    assert "There is no file" in result.stderr


def test_check_needs_a_quasi_identifier(invoke, published: Path) -> None:
    result = invoke("check", published, "-k", 2)
    assert result.exit_code == 2
    assert "try: --quasi" in result.stderr


def test_a_table_without_a_header_and_with_other_nulls(invoke, tmp_path: Path) -> None:
    path = tmp_path / "bare.txt"
    path.write_text("30|flu\n30|cold\n-|flu\n-|cold\n")
    flags = ["--no-header", "--delimiter", "|", "--null", "-", "--quasi", "column1", "--sensitive", "column2"]
    result = invoke("check", path, *flags, "-k", 2, "-l", 2)
    assert result.exit_code == 0, result.output


def test_names_with_commas_and_brackets(invoke, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text('"age, in years","[bold]zip"\n30,1\n30,1\n')
    result = invoke("check", path, "--quasi", '"age, in years"', "--sensitive", "[bold]zip", "-k", 2, "--all")
    assert result.exit_code == 0, result.output
    assert "[bold]zip" in result.stdout


def test_risk_counts_what_is_left(invoke, published: Path) -> None:
    plain = json.loads(invoke("risk", published, "--quasi", "age,zip", "--json").stdout)
    assert plain["risk"]["prosecutor"]["highest"] == pytest.approx(1 / 3)
    assert plain["risk"]["uniques"] == 0
    assert plain["linkage"] is None
    shown = invoke("risk", published, "--quasi", "age,zip", "--threshold", 0.4).stdout
    assert "prosecutor  highest 33.3%, mean 33.3%; 0 rows (0%) above 40%" in shown


def test_the_chapters_linkage_attack_names_the_two_candidates(invoke, tmp_path: Path) -> None:
    patients, voters = tmp_path / "patients.csv", tmp_path / "voters.csv"
    patients.write_text("age,zip,disease\n26,10547,HIV\n37,90210,Hepatitis C\n")
    voters.write_text("name,age,zip\nJoy,26,10547\nSue,26,10547\nWilliam,50,90210\n")
    base = ["risk", patients, "--quasi", "age,zip", "--sensitive", "disease", "--external", voters]
    linked = json.loads(invoke(*base, "--external-person", "name", "--json").stdout)["linkage"]
    assert linked["persons"] == 3
    assert linked["highest"] == 0.5
    assert "the highest certainty is 50%" in invoke(*base).stdout


def test_risk_with_a_population(invoke, tmp_path: Path) -> None:
    sample, people = tmp_path / "sample.csv", tmp_path / "people.csv"
    sample.write_text("age,disease\n20,flu\n30,cold\n")
    people.write_text("name,age\na,20\nb,20\nc,30\nd,30\n")
    plain = json.loads(invoke("risk", sample, "--quasi", "age", "--population", people, "--json").stdout)
    assert plain["risk"]["journalist"]["highest"] == 0.5
    assert plain["risk"]["prosecutor"]["highest"] == 1


def test_a_person_needs_an_external_table(invoke, published: Path) -> None:
    result = invoke("risk", published, "--quasi", "age", "--external-person", "name")
    assert result.exit_code == 2
    assert "try: --external" in result.stderr
