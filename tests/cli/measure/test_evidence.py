"""`discreet evidence` and `discreet check --safe-harbor`: what is private, what is broken, and what people decide."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest
from pyarrow import csv
from tests.measure.attacks.test_regulators import CONTROL, ORIGINAL

TO = ("--recipient", "group of Dr. Lee", "--environment", "controlled")


@pytest.fixture
def release(invoke, tmp_path: Path) -> Path:
    csv.write_csv(ORIGINAL, tmp_path / "people.csv")
    csv.write_csv(CONTROL, tmp_path / "others.csv")
    made = invoke(
        "anonymize", tmp_path / "people.csv", "--quasi", "age,zip,town", "--sensitive", "ill", "-k", 5,
        "--out", tmp_path / "release", "--no-report", "--name", "Survey",
    )  # fmt: skip
    assert made.exit_code == 0
    return tmp_path / "release"


def paper(folder: Path, name: str = "evidence") -> tuple[str, dict]:
    text = (folder / f"{name}.html").read_text()
    body = re.sub(r"<(style|script).*?</\1>", " ", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", body)), json.loads(
        (folder / f"{name}.json").read_text()
    )


def test_the_paper_follows_the_clauses_and_leaves_room(invoke, release: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers.toml"
    answers.write_text('purpose = "Research on falls"\n')
    result = invoke("evidence", release, *TO, "--threshold", "0.25", "--answers", answers)
    assert result.exit_code == 0
    text, plain = paper(tmp_path / "release.evidence")
    places = [text.index(f"{name} (clause {n})") for name, n in (
        ("Context", 6), ("Data and attack modelling", 7), ("Identifiability", 8), ("Adversarial tests", 8),
        ("Mitigation", 8), ("Governance", 9),
    )]  # fmt: skip
    assert places == sorted(places)
    assert "Research on falls" in text
    assert "Survey" in text
    assert "10 of 11 decisions are open" in text
    risk = json.loads((release / "release.json").read_text())["risk"]["prosecutor"]["highest"]
    assert plain["identifiability"]["figures"]["risk"]["prosecutor"]["highest"] == risk
    assert f"is {'within' if risk <= 0.25 else 'above'} the accepted 25%" in text
    assert plain["release"]["files"] == json.loads((release / "release.json").read_text())["files"]
    assert (plain["private"], plain["adversarial_tests"]) == (False, None)
    assert not (tmp_path / "release.evidence.private").exists()
    assert invoke("check", release).exit_code == 0  # the folder of the release is as it was


def test_what_compares_with_the_original_is_in_the_private_paper_alone(
    invoke, release: Path, tmp_path: Path
) -> None:
    alone = invoke("evidence", release, *TO, "--out", tmp_path / "alone")
    base = [
        "evidence",
        release,
        *TO,
        "--out",
        tmp_path / "paper",
        "--original",
        tmp_path / "people.csv",
        "--seed",
        1,
    ]
    result = invoke(*base, "--control", tmp_path / "others.csv", "--attacks", 50)
    assert (alone.exit_code, result.exit_code) == (0, 0)
    for name in ("evidence.html", "evidence.json"):  # the original changes nothing of what may be handed on
        assert (tmp_path / "paper" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    owners = tmp_path / "paper.private"
    assert stat.S_IMODE(owners.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in owners.iterdir()} == {0o600}
    text, plain = paper(owners, "evidence-internal")
    attacked = json.loads(invoke(
        "attack", release, "--original", tmp_path / "people.csv", "--control", tmp_path / "others.csv", "--attacks", 50,
        "--seed", 1, "--json",
    ).stdout)  # fmt: skip
    assert plain["adversarial_tests"]["singling_out"] == attacked["singling_out"]
    assert text.index("Private: figures in this paper compare") < text.index("The guarantee is")
    assert "Singling out" in text
    assert invoke(*base).exit_code == 7
    assert invoke(*base, "--overwrite").exit_code == 0


def test_no_value_is_in_any_paper(invoke, tmp_path: Path) -> None:
    rows = ["age,town,ill", *(f"{20 + i % 4},planted-town-{i % 2},planted-ill-{i % 3}" for i in range(60))]
    (tmp_path / "p.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "b.dat").write_text(
        "\n".join(f"planted-a{i % 4} planted-b{i % 3} planted-c" for i in range(60)) + "\n"
    )
    for name, arguments in {
        "table": ("p.csv", "--quasi", "age,town", "--sensitive", "ill", "-k", 5),
        "anatomy": ("p.csv", "--quasi", "age,town", "--sensitive", "ill", "-l", 2, "--method", "anatomy"),
        "baskets": ("b.dat", "--km", "2,2"),
    }.items():
        data, *rest = arguments
        made = invoke("anonymize", tmp_path / data, *rest, "--out", tmp_path / name, "--no-report")
        assert made.exit_code == 0, made.stderr
        original = ("--original", tmp_path / data) if name != "baskets" else ()
        result = invoke("evidence", tmp_path / name, *TO, *original, "--out", tmp_path / f"{name}-paper")
        assert result.exit_code == 0, result.stderr
        for path in (*(tmp_path / f"{name}-paper").iterdir(), *tmp_path.glob(f"{name}-paper.private/*")):
            assert "planted-" not in path.read_text(), path


def test_a_broken_release_has_a_paper_that_says_so(invoke, release: Path, tmp_path: Path) -> None:
    (release / "notes.txt").write_text("mine")
    result = invoke("evidence", release, *TO)
    assert result.exit_code == 1
    assert "must not be handed on" in result.stdout
    text, plain = paper(tmp_path / "release.evidence")
    assert plain["identifiability"]["verdict"] == "broken"
    for words in ("This release must not be handed on", "notes.txt", "The folder is not as it was written"):
        assert words in text
    (release / "data.csv").write_text("age\n1\n")
    assert invoke("evidence", release, *TO, "--overwrite").exit_code == 1


def test_people_counted_privately_and_the_public_environment(invoke, tmp_path: Path) -> None:
    rows = ["id,age,ill", *(f"p{i // 2},{20 + i // 20},{['flu', 'cold'][i % 2]}" for i in range(80))]
    (tmp_path / "v.csv").write_text("\n".join(rows) + "\n")
    made = invoke(
        "anonymize", tmp_path / "v.csv", "--person", "id", "--quasi", "age", "--sensitive", "ill", "-k", 5,
        "--out", tmp_path / "visits", "--no-report",
    )  # fmt: skip
    assert made.exit_code == 0
    result = invoke(
        "evidence",
        tmp_path / "visits",
        "--recipient",
        "all",
        "--environment",
        "public",
        "--out",
        tmp_path / "e",
    )
    assert result.exit_code in (0, 3)
    text, plain = paper(tmp_path / "e")
    assert "at most 20%" in text
    assert plain["identifiability"]["figures"]["risk"] if result.exit_code == 0 else True
    assert "Highest risk</" not in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--environment", "public"), "--recipient"),
        (("--recipient", "x"), "--environment"),
        ((*TO, "--threshold", "0"), "--threshold"),
        ((*TO, "--original", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_written(
    invoke, release: Path, tmp_path: Path, options, words
) -> None:
    result = invoke("evidence", release, *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 2
    assert not (tmp_path / "release.evidence").exists()


def test_answers_to_other_questions_and_a_folder_inside_are_refused(
    invoke, release: Path, tmp_path: Path
) -> None:
    (tmp_path / "answers.toml").write_text('purpos = "x"\n')
    result = invoke("evidence", release, *TO, "--answers", tmp_path / "answers.toml")
    assert "did you mean 'purpose'?" in result.stderr
    assert invoke("evidence", release, *TO, "--out", release / "paper").exit_code == 2
    assert invoke("evidence", tmp_path, *TO).exit_code == 2


def test_limits_on_the_risk_are_verified_and_evidenced(invoke, release: Path, tmp_path: Path) -> None:
    made = invoke(
        "anonymize", tmp_path / "people.csv", "--quasi", "age,zip,town", "--sensitive", "ill", "--max-risk", "0.2",
        "--mean-risk", "0.1", "--method", "optimal", "--out", tmp_path / "limited", "--no-report",
    )  # fmt: skip
    assert made.exit_code == 0
    assert invoke("check", tmp_path / "limited").exit_code == 0
    assert invoke("evidence", tmp_path / "limited", *TO).exit_code == 0


def test_check_safe_harbor(invoke, release: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("zip,age,ill\n021**,34,flu\n036**,90,secret-ill\n")
    (tmp_path / "z.csv").write_text("zip,people\n021,900000\n036,30000\n")
    base = ["check", tmp_path / "t.csv", "--safe-harbor"]
    assert invoke(*base).exit_code == 3
    assert invoke(*base, "--zip3-populations", tmp_path / "z.csv").exit_code == 0
    judged = json.loads(invoke(*base, "--allow", "zip", "--json").stdout)
    assert (judged["safe_harbor"], judged["allowed"]) == ("met", ["zip"])
    assert "secret-ill" not in invoke(*base).output
    of_release = json.loads(invoke("check", release, "--safe-harbor", "--json").stdout)
    assert {finding["column"] for finding in of_release["findings"]} == {"zip", "town"}
    assert invoke("check", tmp_path / "t.csv", "--allow", "zip").exit_code == 2
