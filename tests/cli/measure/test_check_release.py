"""Roles are typed once: check, risk, explore, condense and apply take them from a job file or a release."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet import (
    Baskets,
    Release,
    Table,
    from_mapping,
    identifier,
    intervals,
    masked,
    other,
    person,
    quasi,
    sensitive,
    tree,
)
from discreet.guarantees import DistinctDiversity, KAnonymity, TCloseness
from discreet.output.hiding import ExactHiding
from discreet.publish import (
    Anatomy,
    AprioriAnonymization,
    Cahd,
    Condensation,
    DeltaSketch,
    Mondrian,
    OptimalLattice,
    SketchFamily,
)

N = 120
ROLES = {
    "ssn": identifier(),
    "card": identifier(pseudonym="a key of sixteen bytes"),
    "age": quasi(intervals(5, 10, 20)),
    "zip": quasi(masked()),
    "disease": sensitive(),
    "ward": other(),
}


def frame() -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "ssn": [f"s{at}" for at in range(N)],
            "card": [f"c{at}" for at in range(N)],
            "age": rng.integers(20, 60, N),
            "zip": [f"1{one:04d}" for one in rng.integers(0, 20, N)],
            "disease": rng.choice(["flu", "cold", "gout"], N).tolist(),
            "ward": rng.choice(["x", "y"], N).tolist(),
        }
    )


def patients() -> Table:
    return Table(frame(), ROLES)


def shop() -> Baskets:
    return Baskets.from_lists([[1, 2, 3], [1], [1, 2], [1, 9]] * 6)


def visits() -> Table:
    rows = frame().append_column("who", pa.array([at // 2 for at in range(N)]))
    return Table(rows, {**ROLES, "who": person()})


def with_trees() -> Table:
    """Hierarchies that lie in the private folder: a tree, an order, and masks wider than any code that is shown."""
    wards, wide = from_mapping({"x": "low", "y": "high"}), masked(width=9)
    roles = {"zip": quasi(wide), "ward": quasi(wards), "disease": quasi(ordered=["cold", "flu", "gout"])}
    return Table(frame(), {**ROLES, **roles, "card": identifier()})


RELEASES: dict[str, Any] = {
    "trees": lambda: OptimalLattice(KAnonymity(3), highest={"zip": 5}, max_suppressed=0.9).release(
        with_trees()
    ),
    "table": lambda: Mondrian(KAnonymity(3) & TCloseness(0.6)).release(patients()),
    "levels": lambda: OptimalLattice(KAnonymity(3), max_suppressed=0.1).release(patients()),
    "visits": lambda: Mondrian(KAnonymity(3)).release(visits()),
    "grouped-table": lambda: Anatomy(2).release(patients()),
    "pseudo-data": lambda: Condensation(5).release(Table(frame(), {**ROLES, "card": identifier()})),
    "cahd": lambda: Cahd(3, sensitive=[9]).release(shop()),
    "apriori": lambda: AprioriAnonymization(3, m=2).release(shop()),
    "sketches": lambda: DeltaSketch(0.5, family=SketchFamily("a key of sixteen bytes", 16)).release(shop()),
    "hidden": lambda: ExactHiding([([1], [2])], min_support=2, min_confidence=0.2).hide(shop()),
}


CLAIMED = ("pseudo-data", "sketches", "hidden", "visits")
"""The releases whose guarantee the public files cannot show."""


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("format_", [None, "parquet"])
def test_every_release_is_checked_by_its_folder_alone(
    invoke, tmp_path: Path, name: str, format_: str | None
) -> None:
    if format_ == "parquet" and name == "sketches":
        pytest.skip("sketches have one format")
    release: Release = RELEASES[name]()
    folder = release.write(tmp_path / "out", format=format_, report=False)
    shutil.rmtree(tmp_path / "out.private")
    result = invoke("check", folder, "--json")
    plain = json.loads(result.stdout)
    assert plain["changed_files"] == plain["added_files"] == plain["record"]["wrong"] == []
    word = "claimed" if name in CLAIMED else "verified"
    assert (plain["verdict"], result.exit_code) == (word, 3 if name in CLAIMED else 0), result.output
    assert plain["ok"] is plain["verified"] is (name not in CLAIMED)
    assert plain["record"]["vouched"] is False
    shown = invoke("check", folder / "release.json")
    assert shown.exit_code == result.exit_code
    assert word in shown.stdout
    assert "as the digests in release.json have them; reports and codebooks are not judged" in shown.stdout
    assert "nothing vouches for release.json itself" in shown.stdout
    data = next(path for path in sorted(folder.iterdir()) if path.name != "release.json")
    data.write_bytes(data.read_bytes() + b" ")
    changed = invoke("check", folder)
    assert changed.exit_code in (1, 2)
    assert data.name in changed.output or changed.exit_code == 2


VERDICT = {"ok": True, "guarantee": "KAnonymity(k=3)", "basis": "verified"}
ENTRY = {"sha256": "0" * 64, "bytes": 1}


@pytest.mark.parametrize("name", ["table", "cahd", "sketches", "hidden"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"verdict": None},
        {"verdict": "yes"},
        {"verdict": {}},
        {"verdict": {**VERDICT, "ok": "no"}},
        {"verdict": {**VERDICT, "ok": 1}},
        {"verdict": {"ok": True}},
        {"verdict": {**VERDICT, "guarantee": ""}},
        {"verdict": {**VERDICT, "guarantee": ["Ann Miller"]}},
        {"verdict": {**VERDICT, "guarantee": "kept\nby Ann Miller"}},
        {"verdict": {**VERDICT, "guarantee": "\x1b[2J Ann Miller"}},
        {"verdict": {**VERDICT, "guarantee": "Ann\u2028Miller"}},
        {"verdict": {**VERDICT, "parts": [{"ok": "no", "guarantee": "Ann Miller"}]}},
        {"files": []},
        {"files": {"data.csv": None}},
        {"files": {"data.csv": {"sha256": "Ann Miller"}}},
        *(
            {"files": {name: ENTRY}}
            for name in (
                "../../etc/passwd",
                "/etc/passwd",
                "a/b",
                "a\\b",
                "C:x",
                "",
                ".",
                "..",
                "Ann\nMiller",
            )
        ),
        {"rows": {"in": 1, "out": "Ann Miller", "suppressed": 0}},
        {"records": 7},
        {"kind": "Ann Miller"},
    ],
)
def test_a_record_of_another_shape_is_damaged(
    invoke, tmp_path: Path, name: str, wrong: dict[str, Any]
) -> None:
    folder = RELEASES[name]().write(tmp_path / "out", report=False)
    place = folder / "release.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | wrong))
    for more in ((), ("--json",)):
        result = invoke("check", folder, *more)
        assert result.exit_code == 2, result.output
        assert "damaged" in result.output or "kind" in wrong
        assert "Miller" not in result.output
        assert "passwd" not in result.output


@pytest.mark.parametrize("key", ["verdict", "files"])
def test_a_record_without_a_part_is_damaged(invoke, tmp_path: Path, key: str) -> None:
    folder = RELEASES["sketches"]().write(tmp_path / "out", report=False)
    record = json.loads((folder / "release.json").read_text())
    del record[key]
    (folder / "release.json").write_text(json.dumps(record))
    result = invoke("check", folder)
    assert result.exit_code == 2
    assert "damaged" in result.stderr


def test_a_recorded_verdict_that_is_not_kept_is_broken(invoke, tmp_path: Path) -> None:
    folder = RELEASES["sketches"]().write(tmp_path / "out", report=False)
    record = json.loads((folder / "release.json").read_text())
    record["verdict"]["ok"] = False
    (folder / "release.json").write_text(json.dumps(record))
    assert invoke("check", folder).exit_code == 1


@pytest.mark.parametrize("name", RELEASES)
def test_what_was_not_written_with_the_release_is_named(invoke, tmp_path: Path, name: str) -> None:
    folder = RELEASES[name]().write(tmp_path / "out", report=False)
    shutil.move(tmp_path / "out.private", folder / "private")
    (folder / "data.bak").write_text("secret")
    (folder / ".original.csv").write_text("secret")
    result = invoke("check", folder)
    if name == "trees":
        shutil.copytree(folder / "private", tmp_path / "out.private")
        result = invoke("check", folder)
    assert result.exit_code == 1, result.output
    assert "not written with the release" in result.stdout
    assert ".original.csv, data.bak, private/" in result.stdout
    assert "secret" not in result.output
    plain = json.loads(invoke("check", folder, "--json").stdout)
    assert plain["added_files"] == [".original.csv", "data.bak", "private/"]
    assert plain["changed_files"] == []
    assert plain["ok"] is False
    assert invoke("check", folder, "--quiet").exit_code == 1


def test_a_file_that_breaks_the_promise_is_found(invoke, tmp_path: Path) -> None:
    folder = Mondrian(KAnonymity(3)).release(patients()).write(tmp_path / "out", report=False)
    path = folder / "data.csv"
    path.write_text(path.read_text() + 'x,"[98, 99]",77777,flu,x\n')
    result = invoke("check", folder)
    assert result.exit_code == 1
    assert "broken" in result.stdout
    assert "77777" not in result.output
    assert invoke("check", folder, "-k", 1).exit_code == 1, "the file is not the one that was written"


def test_too_few_rows_are_found_where_whose_they_are_is_gone(invoke, tmp_path: Path) -> None:
    folder = Mondrian(KAnonymity(3)).release(visits()).write(tmp_path / "out", report=False)
    path = folder / "data.csv"
    path.write_text(path.read_text() + 'x,"[98, 99]",77777,flu,x\n')
    result = invoke("check", folder)
    assert result.exit_code == 1
    assert "KAnonymity(k=3) by rows: class size 1" in result.stdout


def test_roles_come_from_a_release_or_a_job(invoke, tmp_path: Path, monkeypatch) -> None:
    import pyarrow.csv

    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(frame(), tmp_path / "patients.csv")
    Mondrian(KAnonymity(3) & DistinctDiversity(2)).release(patients()).write(tmp_path / "out", report=False)
    assert invoke("check", "out/data.csv", "--roles", "out", "-k", 3, "-l", 2).exit_code == 0
    assert invoke("check", "patients.csv", "--roles", "out", "-k", 3).exit_code == 1
    assert json.loads(invoke("risk", "out", "--json").stdout)["risk"]["smallest_class"] >= 3
    assert invoke("init", "patients.csv").exit_code == 0
    assert json.loads(invoke("risk", "job.toml", "--json").stdout)["risk"]["uniques"] > 0
    assert invoke("check", "job.toml").exit_code == 1
    for place in ("job.toml", "out"):
        made = invoke(
            "condense", "patients.csv", "--roles", place, "-k", 5, "--quiet", "--out", f"pseudo {place}"
        )
        assert made.exit_code == 0, made.output
    assert invoke("condense", "job.toml", "-k", 5, "--quiet", "--out", "pseudo").exit_code == 0
    flags = ["--roles", "out", "-k", 3, "--pseudonym", "card=env:KEY", "--identifier", "card", "--quiet"]
    monkeypatch.setenv("KEY", "a key of sixteen bytes")
    assert invoke("anonymize", "patients.csv", *flags, "--out", "again").exit_code == 0
    applied = ["--pseudonym", "card=env:KEY", "--misfits", "coarsen", "--quiet"]
    assert invoke("apply", "out", "patients.csv", *applied, "--out", "new").exit_code == 0
    wrong = invoke("risk", "pseudo")
    assert wrong.exit_code == 2
    assert "pseudo-data" in wrong.stderr
    assert invoke("check", "patients.csv", "--roles", "patients.csv").exit_code == 2


def test_the_public_folder_alone_is_enough_for_roles_and_risk(invoke, tmp_path: Path) -> None:
    release = Mondrian(KAnonymity(3)).release(with_trees())
    folder = release.write(tmp_path / "out", report=False)
    beside = invoke("risk", folder, "--json")
    shutil.rmtree(tmp_path / "out.private")
    alone = invoke("risk", folder, "--json")
    assert alone.exit_code == 0, alone.output
    assert alone.stdout == beside.stdout
    named = invoke("check", folder / "data.csv", "--roles", folder, "-k", 3)
    assert named.exit_code == 0, named.output
    assert named.stdout.startswith("verified")
    assert invoke("check", folder / "data.csv", "--roles", folder, "-k", 40).exit_code == 1
    refused = invoke(
        "anonymize", folder / "data.csv", "--roles", folder, "-k", 3, "--out", tmp_path / "again"
    )
    assert refused.exit_code == 2
    assert "the folder that ends in .private does" in refused.stderr


def test_check_shows_what_was_promised_and_the_rest_on_demand(invoke, tmp_path: Path) -> None:
    folder = RELEASES["table"]().write(tmp_path / "out", report=False)
    assert "reaches" not in invoke("check", folder).stdout
    assert json.loads(invoke("check", folder, "--json").stdout)["measures"] == []
    shown = invoke("check", folder, "--all").stdout
    assert "reaches" in shown
    assert "none" not in shown.split("reaches")[1]
    assert not re.search(r"(alpha|\(equal\)), of \S+ +from 1\n", shown)
    assert "nothing beyond what any data keeps by" in shown
    reached = [line for line in shown.split("reaches")[1].splitlines() if " of disease" in line]
    assert len({re.search(r"  (up to|from|above) ", line).start() for line in reached[1:]}) == 1
    assert len(json.loads(invoke("check", folder, "--all", "--json").stdout)["measures"]) >= 10
    baskets = RELEASES["cahd"]().write(tmp_path / "baskets", report=False)
    assert json.loads(invoke("check", baskets, "--json").stdout)["measures"] == []


def test_trees_of_values_stay_in_the_private_part(invoke, tmp_path: Path) -> None:
    roles = {**ROLES, "disease": sensitive(tree({"cold": ["flu", "cold"], "joint": ["gout"]}))}
    release = Mondrian(KAnonymity(3) & TCloseness(0.6, "hierarchical")).release(Table(frame(), roles))
    folder = release.write(tmp_path / "out", report=False)
    assert invoke("check", folder).exit_code == 0
    shutil.rmtree(tmp_path / "out.private")
    result = invoke("check", folder)
    assert result.exit_code == 3
    words = [line.split()[0] for line in result.stdout.splitlines()[:2]]
    assert words == ["verified", "claimed"]
    assert "hierarchy or order" in result.stdout


def test_a_private_folder_that_may_not_be_read_counts_as_absent(
    invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ExactHiding([([1], [2])], min_support=2, min_confidence=0.2).hide(shop()).write(tmp_path / "out")
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: ".private" not in str(path) and access(path, mode))
    refused = invoke("check", tmp_path / "out")
    monkeypatch.undo()
    shutil.rmtree(tmp_path / "out.private")
    absent = invoke("check", tmp_path / "out")
    assert (refused.exit_code, refused.stdout) == (absent.exit_code, absent.stdout)
    assert refused.exit_code == 3


def test_a_folder_without_its_record_is_refused_and_a_link_is_no_file(invoke, tmp_path: Path) -> None:
    for name in ("table", "cahd", "sketches"):
        folder = RELEASES[name]().write(tmp_path / name, report=False)
        record = (folder / "release.json").read_bytes()
        (folder / "release.json").unlink()
        for _ in range(2):
            result = invoke("check", folder)
            assert result.exit_code == 2
            assert "holds no release.json" in result.stderr
            shutil.rmtree(tmp_path / f"{name}.private", ignore_errors=True)
        (folder / "release.json").write_bytes(record)
        data = next(path for path in sorted(folder.iterdir()) if path.name != "release.json")
        data.rename(tmp_path / "elsewhere")
        data.symlink_to(tmp_path / "elsewhere")
        result = invoke("check", folder)
        assert result.exit_code == 1, result.output
        assert f"replaced or missing since the release was written: {data.name}" in result.stdout


def test_wrong_figures_are_named_without_the_owners_folder(invoke, tmp_path: Path) -> None:
    folder = RELEASES["grouped-table"]().write(tmp_path / "out", report=False)
    shutil.rmtree(tmp_path / "out.private")
    record = json.loads((folder / "release.json").read_text())
    assert record["cautions"]
    for part, wrong, named in (
        ("risk", {**record["risk"], "uniques": 0}, "risk.uniques"),
        ("verdict", {**record["verdict"], "worst": 9.0}, "verdict.worst"),
        ("guarantee", {**record["guarantee"], "p": 1}, "verdict.bound"),
        ("rows", {"in": 130, "out": 120, "suppressed": 0}, "rows"),
        ("cautions", [], "cautions"),
        ("columns", record["columns"][:-1], "columns"),
    ):
        (folder / "release.json").write_text(json.dumps({**record, part: wrong}))
        result = invoke("check", folder)
        assert result.exit_code == 1, named
        assert "release.json is wrong about" in result.stdout
        assert named in result.stdout


def test_with_the_owners_folder_every_word_of_release_json_is_covered(invoke, tmp_path: Path) -> None:
    folder = RELEASES["table"]().write(tmp_path / "out", report=False)
    assert "release.json is the one that was written" in invoke("check", folder).stdout
    record = json.loads((folder / "release.json").read_text())
    for name, wrong in (("date", "1999-01-01"), ("method", "Other"), ("seeded", True), ("discreet", "9")):
        (folder / "release.json").write_text(json.dumps({**record, name: wrong}))
        result = invoke("check", folder)
        assert result.exit_code == 1
        assert "belongs to another release, or release.json was changed" in result.stdout
    risk = invoke("risk", folder)
    assert risk.exit_code == 2
    assert "belongs to another release" in risk.stderr


@pytest.mark.parametrize("field", ["verdict", "guarantee", "cautions", "files", "columns"])
def test_a_field_that_stands_twice_is_refused(invoke, tmp_path: Path, field: str) -> None:
    """Another reader of the file may take the value that was not judged."""
    folder = RELEASES["table"]().write(tmp_path / "out", report=False)
    shutil.rmtree(tmp_path / "out.private")
    record = folder / "release.json"
    record.write_text(record.read_text().replace(f'"{field}"', f'"{field}": {{}}, "{field}"', 1))
    result = invoke("check", folder)
    assert result.exit_code == 2
    assert "has a key twice" in result.stderr
