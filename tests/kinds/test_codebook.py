"""The codebook of a release, the bounds of intervals as columns, and metadata for catalogues."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet import Table, code_system, drop, icd, identifier, intervals, quasi, read, scale, sensitive
from discreet.core.errors import InputError, ParameterError
from discreet.core.release import Release
from discreet.guarantees import DistinctDiversity, KAnonymity
from discreet.job import Job, run
from discreet.job.release_checking import judge_release
from discreet.kinds import codebook
from discreet.kinds.codebook import DescribedLabel
from discreet.publish import Anatomy, Mondrian, OptimalLattice

ROWS = pa.table(
    {
        "name": [f"person {number}" for number in range(12)],
        "band": ["[0-10)", "[0-10)", "[10-20)", "[10-20)", "[20-30)", "[30-40)"] * 2,
        "age": [21, 22, 23, 34, 35, 36, 51, 52, 53, 64, 65, 66],
        "town": ["Ulm", "Bonn", None, "Ulm", "Bonn", "Köln"] * 2,
        "disease": ["flu", "cold", None, "HIV", "flu", "cold"] * 2,
        "note": ["x"] * 12,
    }
)
COLUMNS = {
    "name": identifier(),
    "band": quasi(scale("bands")),
    "age": quasi(intervals(10, 20)),
    "town": quasi(),
    "disease": sensitive(),
    "note": drop(),
}


def released() -> Release:
    return Mondrian(KAnonymity(2)).release(Table(ROWS, COLUMNS))


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_codebook_says_what_each_column_is_and_what_each_label_covers(tmp_path: Path) -> None:
    """First use (16): there was no codebook, and nothing said what [0, 7] covers."""
    folder = released().write(tmp_path / "release")
    lines = lines_of(folder / "codebook.csv")
    columns = {line["column"]: line for line in lines if line["entry"] == "column"}
    assert {name: line["role"] for name, line in columns.items()} == {
        "name": "identifier",
        "band": "quasi",
        "age": "quasi",
        "town": "quasi",
        "disease": "sensitive",
        "note": "drop",
    }
    assert columns["name"]["meaning"] == columns["note"]["meaning"] == "dropped: not in the data"
    shown = {row[1] for row in read(folder / "data.csv", nulls=("",), text=("age", "band")).fetchall()}
    ages = {line["label"]: line for line in lines if line["column"] == "age" and line["entry"] == "label"}
    assert set(ages) == shown
    for label, line in ages.items():
        if label.startswith("["):
            low, high = label[1:-1].split(", ")
            assert (line["low"], line["high"], line["high_included"]) == (low, high, "true")
    missing = [line for line in lines if line["entry"] == "missing"]
    assert {line["column"]: line["rows"] for line in missing}["disease"] == "2"


def test_a_column_of_bands_has_one_notation(tmp_path: Path) -> None:
    """First use (16): age held "[80-90)" beside "[80, 100)"."""
    cells = [cell for cell in released().frame["band"].to_pylist() if cell not in (None, "*")]
    assert any(cell not in ROWS["band"].to_pylist() for cell in cells)
    assert all("-" in cell and "," not in cell for cell in cells)
    lines = lines_of(released().write(tmp_path / "release") / "codebook.csv")
    bands = [line for line in lines if line["column"] == "band" and line["label"] in cells]
    assert bands
    assert all(line["low"] and line["high"] and line["high_included"] == "false" for line in bands)


def test_the_owners_codebook_names_what_a_label_covers(tmp_path: Path) -> None:
    folder = released().write(tmp_path / "release")
    owners = lines_of(tmp_path / "release.private" / "codebook-internal.csv")
    wide = {line["label"]: line["covers"].split("; ") for line in owners if line["column"] == "band"}
    assert wide
    assert all(set(covered) <= set(ROWS["band"].to_pylist()) for covered in wide.values())
    public = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"person 1" not in public


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_bounds_are_columns_on_request_and_the_release_is_judged_as_before(
    tmp_path: Path, format_: str
) -> None:
    folder = released().write(tmp_path / "release", include=("bounds",), format=format_)
    rows = read(folder / f"data.{format_}").to_arrow_table().to_pylist()
    for row in rows:
        if str(row["age"]).startswith("["):
            low, high = str(row["age"])[1:-1].split(", ")
            assert (row["age_low"], row["age_high"]) == (int(low), int(high))
    judgment = judge_release(folder)
    assert judgment.ok
    assert judgment.word == "verified"


def test_changed_bounds_are_found(tmp_path: Path) -> None:
    folder = released().write(tmp_path / "release", include=("bounds",))
    record = json.loads((folder / "release.json").read_text())
    record["bounds"]["age"] = record["bounds"]["age"][::-1]
    (folder / "release.json").write_text(json.dumps(record))
    for path in (tmp_path / "release.private").iterdir():
        path.unlink()
    with pytest.raises(InputError, match="not those of the labels"):
        judge_release(folder)


def test_bounds_that_differ_from_row_to_row_are_no_bounds(tmp_path: Path) -> None:
    folder = released().write(tmp_path / "release", include=("bounds",))
    rows = lines_of(folder / "data.csv")
    next(row for row in rows if row["age_low"])["age_low"] = "0"
    frame, bounds = pa.Table.from_pylist(rows), {"age": ["age_low", "age_high"]}
    assert not codebook.agrees_with_bounds(frame, bounds)
    with (folder / "data.csv").open("w", encoding="utf-8", newline="") as stream:
        written = csv.DictWriter(stream, rows[0])
        written.writeheader()
        written.writerows(rows)
    judgment = judge_release(folder)
    assert judgment.changed == ("data.csv",)
    assert not judgment.ok


@pytest.mark.parametrize(
    "bounds",
    [
        ["age"],
        5,
        {"age": 5},
        {"age": "ab"},
        {"age": ["age_low"]},
        {"age": [["age_low"], "age_high"]},
        {"age": ["age", "age"]},
        {"gone": ["a", "b"]},
    ],
)
def test_bounds_that_are_no_columns_are_refused(tmp_path: Path, bounds: Any) -> None:
    folder = released().write(tmp_path / "release", include=("bounds",))
    record = json.loads((folder / "release.json").read_text())
    record["bounds"] = bounds
    (folder / "release.json").write_text(json.dumps(record))
    shutil.rmtree(tmp_path / "release.private")
    with pytest.raises(InputError, match="columns of bounds that the data does not have"):
        judge_release(folder)


def test_only_what_everybody_reads_as_a_number_has_bounds(tmp_path: Path) -> None:
    cells = ["1_000", "-infinity", "٣", "12", "1e3"] * 2
    table = Table(pa.table({"amount": cells}), {"amount": quasi()})
    lines = lines_of(Mondrian(KAnonymity(2)).release(table).write(tmp_path / "release") / "codebook.csv")
    assert {line["label"] for line in lines if line["entry"] == "label"} == {*cells}
    for text in cells:
        is_number = text in ("12", "1e3")
        assert DescribedLabel(text, "this value", 2, *((text, text, True, True) if is_number else ())) == (
            described_label(text)
        )


def described_label(text: str) -> DescribedLabel:
    return codebook._described(text, 2, {"kind": "flat"})


def test_an_open_end_is_no_bound() -> None:
    label = described_label("[5, inf]")
    assert (label.meaning, label.low, label.high, label.high_included) == ("from 5", "5", None, None)
    assert described_label("(-inf, inf)").meaning == "any value"


def test_codes_of_known_systems_say_where_they_belong(tmp_path: Path) -> None:
    rows = pa.table(
        {"diagnosis": ["E11.9", "E11.9", "250", "C50", "C51"], "state": ["NY", "NY", "CA", "NJ", "CT"]}
    )
    roles = {"diagnosis": quasi(icd(10)), "state": quasi(code_system("us-states"))}
    release = OptimalLattice(KAnonymity(1)).release(Table(rows, roles))
    lines = lines_of(release.write(tmp_path / "release") / "codebook.csv")
    meanings = {line["label"]: line["meaning"] for line in lines if line["entry"] == "label"}
    assert meanings["E11.9"] == "this code or group of ICD-10, in E08-E14, E00-E90 endocrine and metabolic"
    assert meanings["NY"] == "this code or group of 'us-states', in Middle Atlantic, Northeast"
    assert not [words for words in meanings.values() if "its owner has" in words]


def test_bounds_are_refused_where_no_cell_is_an_interval(tmp_path: Path) -> None:
    table = Table(ROWS, COLUMNS | {"town": drop()})
    release = Anatomy(DistinctDiversity(2)).release(table)
    with pytest.raises(ParameterError, match="columns of bounds"):
        release.write(tmp_path / "release", include=("bounds",))
    with pytest.raises(ParameterError, match="include"):
        release.write(tmp_path / "release", include=("codebook",))
    assert not list(tmp_path.iterdir())


def test_metadata_follow_from_the_files_and_the_public_figures(tmp_path: Path) -> None:
    folder = released().write(tmp_path / "release", include=("healthdcat",), name="Visits, 2030")
    files = json.loads((folder / "release.json").read_text())["files"]
    package = json.loads((folder / "datapackage.json").read_text())
    resource = package["resources"][0]
    assert (package["name"], package["title"]) == ("visits-2030", "Visits, 2030")
    assert resource["hash"] == f"sha256:{files['data.csv']['sha256']}"
    assert [field["name"] for field in resource["schema"]["fields"]] == ["band", "age", "town", "disease"]
    record = json.loads((folder / "croissant.json").read_text())
    assert record["distribution"][0]["sha256"] == files["data.csv"]["sha256"]
    assert "shares all quasi-identifying values" in record["rai:personalSensitiveInformation"]
    assert "Verdict: verified." in record["rai:personalSensitiveInformation"]
    health = json.loads((folder / "healthdcat.jsonld").read_text())
    assert health["healthdcatap:numberOfRecords"] == 12
    assert {"datapackage.json", "croissant.json", "healthdcat.jsonld", "codebook.csv"} <= set(files)
    assert judge_release(folder).ok


def test_what_is_included_can_stand_in_a_job(tmp_path: Path) -> None:
    document: dict[str, Any] = {
        "columns": {"age": {"role": "quasi", "hierarchy": {"intervals": [10, 20]}}},
        "guarantee": [{"kind": "k-anonymity", "k": 2}],
        "input": {"path": str(tmp_path / "in.csv")},
        "output": {"folder": str(tmp_path / "release"), "include": ["bounds"]},
    }
    (tmp_path / "in.csv").write_text("age\n" + "\n".join(map(str, ROWS["age"].to_pylist())) + "\n")
    run(Job.from_dict(document))
    assert (tmp_path / "release" / "data.csv").read_text().startswith("age,age_low,age_high\n")
