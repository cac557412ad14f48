"""What names people is found before anything is released, in every kind of data, and may be allowed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet import Baskets, Table, identifier, other, quasi, sensitive
from discreet.errors import SchemaError
from discreet.guarantees import DistinctDiversity, KAnonymity, KmAnonymity, PrivacyDegree
from discreet.output.tabular import CellSuppression, Tabulation
from discreet.publish import Anatomy, AprioriAnonymization, Cahd, Condensation, Mondrian, UncertainRecords
from discreet.report.folder import private_folder

MAIL = "ann.lee@clinic.example"


def table(**more: Any) -> Table:
    n = 40
    frame = pa.table({
        "age": [20 + i // 4 for i in range(n)], "ill": ["flu", "cold", MAIL, "ache"] * 10,
        "note": [f"seen by the nurse of ward {i} at noon" for i in range(n)],
    })  # fmt: skip
    return Table(frame, {"age": quasi(), "ill": sensitive(), "note": identifier()} | more)


def baskets() -> Baskets:
    return Baskets.from_lists(
        [["milk", "bread", f"i{at % 5}"] + ([MAIL] if at % 10 == 0 else []) for at in range(60)]
    )


def released() -> dict[str, tuple[Any, str]]:
    numbers = pa.table(
        {
            "x": [float(i) for i in range(40)],
            "y": [float(i % 7) for i in range(40)],
            "class": ["a", MAIL] * 20,
        }
    )
    counts = pa.table({"ill": ["flu", "cold", MAIL, "ache"] * 10, "ward": ["a", "b"] * 20})
    roles = {"x": quasi(), "y": quasi(), "class": sensitive()}
    return {
        "table": (Mondrian(KAnonymity(4)).release(table()), "ill"),
        "grouped-table": (Anatomy(DistinctDiversity(2)).release(table()), "ill"),
        "baskets": (AprioriAnonymization(KmAnonymity(2, 1), fan_out=2).release(baskets()), "item"),
        "grouped-baskets": (Cahd(PrivacyDegree(2), sensitive=[MAIL]).release(baskets()), "item"),
        "pseudo-data": (Condensation(5, random_state=1).release(Table(numbers, roles)), "class"),
        "uncertain-records": (
            UncertainRecords(5, label="class", random_state=1).release(Table(numbers, roles)),
            "class",
        ),
        "cells": (
            CellSuppression(3).release(Tabulation.of(Table(counts, {"ill": quasi(), "ward": quasi()}))),
            "label",
        ),
    }


KINDS = ("table", "grouped-table", "baskets", "grouped-baskets", "pseudo-data", "uncertain-records", "cells")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_release_is_refused_until_allowed(kind: str, tmp_path: Path) -> None:
    release, column = released()[kind]
    assert "direct-identifier" in {caution.code for caution in release.cautions}
    assert MAIL not in " ".join(caution.text for caution in release.cautions)
    with pytest.raises(SchemaError, match="e-mail addresses in 1 of its different values") as refused:
        release.write(tmp_path / "release")
    assert (refused.value.fix, MAIL in str(refused.value)) == ({"allow": column}, False)
    assert not (tmp_path / "release").exists()
    release.write(tmp_path / "release", allow=[column], report=False)
    record = json.loads((tmp_path / "release" / "release.json").read_text())
    assert record["allowed"] == [column]
    assert private_folder(tmp_path / "release").is_dir()


def test_free_text_is_refused_until_allowed_and_labels_are_not(tmp_path: Path) -> None:
    release = Mondrian(KAnonymity(4)).release(table(ill=identifier(), note=other(allow_unique=True)))
    with pytest.raises(SchemaError, match="'note' is free text"):
        release.write(tmp_path / "release")
    with pytest.raises(SchemaError):
        release.write(tmp_path / "release", allow=["ill"])
    release.write(tmp_path / "release", allow=["note"], report=False)
    plain = Mondrian(KAnonymity(4)).release(table(ill=identifier()))
    assert plain.figures.identifiers == ()
    plain.write(tmp_path / "plain", allow=["note"], report=False)
    assert "allowed" not in json.loads((tmp_path / "plain" / "release.json").read_text())


def test_a_column_named_after_an_identifier_has_a_caution_and_is_published(tmp_path: Path) -> None:
    frame = pa.table(
        {"age": [20 + i // 30 for i in range(60)], "maiden_name": [f"name{i // 2}" for i in range(60)]}
    )
    release = Mondrian(KAnonymity(4)).release(Table(frame, {"age": quasi(), "maiden_name": sensitive()}))
    assert [(each.code, each.column) for each in release.figures.identifiers] == [
        ("named-identifier", "maiden_name")
    ]
    assert (
        "Column 'maiden_name' is called as if it held names"
        in {c.code: c.text for c in release.cautions}["named-identifier"]
    )
    release.write(tmp_path / "release", report=False)


def test_check_agrees_with_what_was_written(tmp_path: Path, invoke) -> None:
    for name, (release, column) in released().items():
        release.write(tmp_path / name, allow=[column], report=False)
        judged = json.loads(invoke("check", tmp_path / name, "--json").stdout)
        assert judged["verdict"] in ("verified", "claimed"), name
        assert judged["record"]["wrong"] == [], name


def test_the_command_line_and_job_files_allow(tmp_path: Path, invoke) -> None:
    rows = ["age,ill", *(f"{20 + i // 4},{['flu', MAIL][i % 2]}" for i in range(40))]
    (tmp_path / "p.csv").write_text("\n".join(rows) + "\n")
    base = ["anonymize", tmp_path / "p.csv", "--quasi", "age", "--sensitive", "ill", "-k", "4"]
    refused = invoke(*base, "--out", tmp_path / "r")
    assert refused.exit_code == 2
    assert "--allow ill" in refused.stderr
    assert MAIL not in refused.output
    assert invoke(*base, "--out", tmp_path / "r", "--dry-run").exit_code == 2
    assert invoke(*base, "--out", tmp_path / "r", "--allow", "ill").exit_code == 0
    job = tmp_path / "job.toml"
    job.write_text(
        '[input]\npath = "p.csv"\n[columns]\nage = {role = "quasi"}\nill = {role = "sensitive"}\n'
        '[[guarantee]]\nkind = "k-anonymity"\nk = 4\n[output]\nfolder = "j"\nallow = ["ill"]\n'
    )
    assert invoke("run", job).exit_code == 0
    assert invoke("run", job, "--out", tmp_path / "j2", "--allow", "age").exit_code == 2
