"""`discreet anonymize`: a release that keeps the promise, or a line that says what to do."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from tests.cli.planted import ROLES
from tests.written import METADATA

KEY = "a key of more than sixteen bytes"


def written(out: Path) -> list[dict[str, str]]:
    with (out / "data.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def classes(rows: list[dict[str, str]], *names: str) -> Counter[tuple[str, ...]]:
    return Counter(tuple(row[name] for name in names) for row in rows)


def test_a_release_is_written_and_summed_up(invoke, patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    result = invoke("anonymize", patients, *ROLES, "-k", 5, "--out", out)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == sorted(
        ("data.csv", "release.json", "report.html", *METADATA)
    )
    rows = written(out)
    assert len(rows) == 40
    assert list(rows[0]) == ["age", "zip", "disease"]
    assert min(classes(rows, "age", "zip").values()) >= 5
    for word in ("verified", "KAnonymity(k=5)", "40", "loss", "risk", "→", "report.html", "next"):
        assert word in result.stdout
    assert result.stderr == ""


def test_the_secret_appears_only_where_a_sensitive_value_may(invoke, patients, tmp_path, secret) -> None:
    out = tmp_path / "release"
    result = invoke("anonymize", patients, *ROLES, "-k", 5, "--out", out, "--json")
    assert secret not in result.output
    assert secret not in (out / "release.json").read_text()
    assert secret in (out / "data.csv").read_text()


def test_json_is_one_object(invoke, patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    result = invoke("anonymize", patients, *ROLES, "-k", 5, "-l", 2, "--out", out, "--json")
    plain = json.loads(result.stdout)
    assert plain["ok"] is True
    assert plain["rows"] == 40
    assert plain["folder"] == str(out)
    assert plain["risk"]["before"]["prosecutor"]["highest"] == 1.0
    assert plain["risk"]["after"]["prosecutor"]["highest"] <= 0.2
    assert [part["guarantee"] for part in plain["judgment"]["parts"]] == [
        "KAnonymity(k=5)",
        "DistinctDiversity(l=2)",
    ]


def test_quiet_prints_nothing(invoke, patients: Path, tmp_path: Path) -> None:
    result = invoke("anonymize", patients, *ROLES, "-k", 5, "--out", tmp_path / "release", "--quiet")
    assert (result.exit_code, result.output) == (0, "")


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        (["-l", "2", "--diversity", "entropy"], "EntropyDiversity(l=2)"),
        (["-l", "2", "--diversity", "recursive", "--c", "5"], "RecursiveDiversity(c=5.0, l=2)"),
        (["-t", "0.6", "--distance", "kl"], "TCloseness(t=0.6, distance='kl')"),
        (["--alpha", "0.8", "-k", "3"], "AlphaKAnonymity(alpha=0.8, k=3)"),
        (["--beta", "30", "--likeness", "basic"], "BasicBetaLikeness(beta=30.0)"),
        (["--delta", "9"], "DeltaDisclosure(delta=9.0"),
    ],
)
def test_every_promise_can_be_asked_for(invoke, patients, tmp_path, flags: list[str], shown: str) -> None:
    result = invoke("anonymize", patients, *ROLES, *flags, "--out", tmp_path / "o", "--no-report")
    assert result.exit_code == 0, result.output
    assert shown in result.stdout
    assert not (tmp_path / "o" / "report.html").exists()


def test_hierarchies_and_levels(invoke, patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    result = invoke(
        "anonymize", patients, *ROLES, "-k", 2, "--hierarchy", "age=intervals:5,10", "--hierarchy", "zip=mask",
        "--level", "age=2", "--level", "zip=1", "--out", out,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert set(classes(written(out), "age", "zip")) == {("[20, 29]", "0210*"), ("[30, 39]", "0210*")}


def test_a_hierarchy_from_a_file(invoke, patients: Path, tmp_path: Path) -> None:
    tree = tmp_path / "zips.csv"
    tree.write_text("".join(f"{2100 + one:05d};{'low' if one < 4 else 'high'};*\n" for one in range(7)))
    out = tmp_path / "release"
    result = invoke(
        "anonymize", patients, *ROLES, "-k", 5, "--hierarchy", f"zip={tree}", "--level", "zip=1",
        "--level", "age=1", "--out", out,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert set(classes(written(out), "age", "zip")) == {("*", "low"), ("*", "high")}


def test_suppression_is_named_when_it_would_help(invoke, patients: Path, tmp_path: Path) -> None:
    base = ["anonymize", patients, *ROLES, "-k", "3", "--method", "generalization", "--level", "zip=1"]
    refused = invoke(*base, "--out", tmp_path / "a")
    assert refused.exit_code == 6
    hint = next(line for line in refused.stderr.splitlines() if line.startswith("try: --max-suppressed"))
    mended = invoke(*base, "--out", tmp_path / "a", *hint.removeprefix("try: ").split())
    assert mended.exit_code == 0, mended.output
    assert "left out" in mended.stdout


def test_pseudonyms_take_their_key_from_elsewhere(invoke, patients, tmp_path, monkeypatch, secret) -> None:
    monkeypatch.setenv("PATIENT_KEY", KEY)
    (tmp_path / "key").write_text(KEY + "\n")
    outs = [tmp_path / "a", tmp_path / "b"]
    for out, place in zip(outs, ("env:PATIENT_KEY", f"file:{tmp_path / 'key'}"), strict=True):
        result = invoke("anonymize", patients, *ROLES, "--pseudonym", f"name={place}", "-k", 5, "--out", out)
        assert result.exit_code == 0, result.output
        assert KEY not in result.output
        assert all(KEY not in path.read_text() for path in out.iterdir())
    names = [sorted(row["name"] for row in written(out)) for out in outs]
    assert names[0] == names[1]
    assert len(set(names[0])) == 40
    assert secret not in names[0]


def test_a_key_on_the_command_line_is_refused_and_not_repeated(
    invoke, patients: Path, tmp_path: Path
) -> None:
    for given in (KEY, f"name={KEY}"):
        result = invoke("anonymize", patients, *ROLES, "--pseudonym", given, "-k", 5, "--out", tmp_path / "o")
        assert result.exit_code == 2
        assert KEY not in result.output


def test_a_seed_makes_the_same_bytes(invoke, patients: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert (
            invoke("anonymize", patients, *ROLES, "-k", 5, "--seed", 7, "--out", tmp_path / name).exit_code
            == 0
        )
    assert (tmp_path / "a" / "data.csv").read_bytes() == (tmp_path / "b" / "data.csv").read_bytes()


def test_the_format_is_the_inputs_unless_told(invoke, patients: Path, tmp_path: Path) -> None:
    table = tmp_path / "patients.tsv"
    table.write_text(patients.read_text().replace(",", "\t"))
    assert invoke("anonymize", table, *ROLES, "-k", 5, "--out", tmp_path / "a").exit_code == 0
    assert (tmp_path / "a" / "data.tsv").is_file()
    again = invoke("anonymize", table, *ROLES, "-k", 5, "--out", tmp_path / "b", "--format", "parquet")
    assert again.exit_code == 0
    assert (tmp_path / "b" / "data.parquet").is_file()


def test_a_column_without_a_role_is_refused_with_the_flags_to_add(invoke, patients, tmp_path, secret) -> None:
    base = ["anonymize", patients, "--quasi", "age", "-k", "5", "--out", tmp_path / "o"]
    refused = invoke(*base)
    assert refused.exit_code == 2
    assert "'name', 'zip', 'disease' have none" in refused.stderr
    hint = refused.stderr.splitlines()[1]
    assert hint.startswith("try: --quasi zip --sensitive disease --identifier name")
    assert secret not in refused.output
    assert invoke(*base, *hint.removeprefix("try: ").split(" (")[0].split()).exit_code == 0


def test_the_rest_can_be_given_a_role(invoke, patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    assert (
        invoke(
            "anonymize", patients, "--quasi", "age", "--rest", "identifier", "-k", 5, "--out", out
        ).exit_code
        == 0
    )
    assert list(written(out)[0]) == ["age"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ([], "guarantee"),
        (["-k", "5", "--diversity", "entropy"], "requires -l"),
        (["-k", "5", "--distance", "kl"], "requires -t"),
        (["-k", "5", "-l", "2", "--c", "3"], "recursive"),
        (["-l", "2", "--diversity", "recursive"], "needs its c"),
        (["--k-map", "2"], "population"),
        (["-k", "5", "--method", "mondrian", "--level", "age=1"], "generalization"),
        (["-k", "5", "--level", "age=1", "--relaxed"], "mondrian"),
        (["-k", "5", "--level", "age"], "COLUMN=VALUE"),
        (["-k", "5", "--level", "age=high"], "COLUMN=NUMBER"),
        (["-k", "5", "--hierarchy", "disease=widest"], "--hierarchy takes"),
        (["-k", "5", "--hierarchy", "name=flat"], "not quasi or sensitive"),
        (["-k", "5", "--hierarchy", "age=intervals:5,7"], "multiple"),
        (["-k", "5", "--weight", "age=-1"], "weight"),
        (["-k", "5", "--quasi", "name"], "two roles"),
        (["-k", "5", "--other", "wrad"], "wrad"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    invoke, patients, tmp_path, flags: list[str], words: str
) -> None:
    result = invoke("anonymize", patients, *ROLES, *flags, "--out", tmp_path / "o")
    assert result.exit_code == 2
    assert words in result.stderr.splitlines()[0]
    assert not (tmp_path / "o").exists()


def test_an_earlier_release_is_replaced_only_when_told(invoke, patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    base = ["anonymize", patients, *ROLES, "-k", 5, "--out", out]
    assert invoke(*base).exit_code == 0
    before = (out / "data.csv").read_bytes()
    refused = invoke(*base)
    assert refused.exit_code == 7
    assert "try: --overwrite" in refused.stderr
    assert (out / "data.csv").read_bytes() == before
    assert invoke(*base, "--overwrite").exit_code == 0


def test_a_folder_that_is_no_release_is_never_replaced(invoke, patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "chapter.txt").write_text("years of work")
    for target in (out, tmp_path):
        result = invoke("anonymize", patients, *ROLES, "-k", 5, "--out", target, "--overwrite")
        assert result.exit_code == 2
    assert (out / "chapter.txt").read_text() == "years of work"
    assert patients.exists()
