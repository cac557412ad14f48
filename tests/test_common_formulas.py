"""Cells that a spreadsheet would run: every kind of published data is counted, and defused where that is asked for."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from click.testing import CliRunner

from discreet import Baskets, Table, quasi, sensitive
from discreet.cli._app import app
from discreet.core.registry import METHODS, Method, methods
from discreet.core.tables.publication import defused, formula_cells
from discreet.engines.duckdb import large as spreadsheet
from discreet.guarantees import KmAnonymity, PrivacyDegree, RulesHidden
from discreet.job import BasketSection, Job, run
from discreet.measure.spelling import published_formulas

ITEMS = ["=SUM(A1)", "+tea", "-milk", "@beer", "\uff0bjam", "'=ham", "bread", "-5", "\uff1dcake"]
RUN = 6
"""How many of the items a spreadsheet would run."""
STARTS = set("=+-@\t\r\uff0b\uff1d")
PROMISES = {"PrivacyDegree": PrivacyDegree(3), "KmAnonymity": KmAnonymity(2, m=2)}
RULE = [["=SUM(A1)"], ["bread"]]


def baskets() -> Baskets:
    pairs = [[item, ITEMS[(at + 1) % 9]] for at, item in enumerate(ITEMS)] * 8
    return Baskets.from_lists([*([one, "bread"] for one, _ in pairs), *pairs, *([["-milk"]] * 40)])


def basket_jobs() -> list[Any]:
    """Return a job for every method that makes a release of baskets; a new entry of the registry is among them."""
    found = []
    for method in methods(role=("publisher", "hider"), takes="baskets"):
        if method.role == "hider":
            by_confidence = {"min_confidence": 0.3} if method.name in ("1.a", "1.b", "wsda") else {}
            promise: Any = RulesHidden([RULE], 0.02, **by_confidence)
        else:
            promise = next(PROMISES[name] for name in method.guarantees if name in PROMISES)
        named = ["@beer"] if "sensitive" in method.supplied else []
        found.append(pytest.param(method, promise, named, id=method.name))
    return found


def job(method: Method, promise: Any, named: list[str], **more: Any) -> Job:
    return Job(baskets(), guarantee=promise, method=method.name, baskets=BasketSection(named), seed=3, **more)


def first_signs(folder: Path) -> set[str]:
    """Return how the texts of the files in a folder begin, as a spreadsheet reads them."""
    found = set()
    for path in folder.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as lines:
            found |= {cell[:1] for row in csv.reader(lines) for cell in row if cell != "-5"}
    return found


SKIPPED = (" ", "\u00a0", "\u3000", "\ufeff", "\u200b", "\u2060", "\u00ad", "\x0b", "\x1f", " \u200b ")
"""What stands before a sign and is trimmed by many readers: white space and invisible characters."""
HARMLESS = ["-5", " -5", "\u00a0+1.5e3", "\u200b-5", "'-5", "' -5", "a=1", " a", "5 - 3", " '=1", ""]


@pytest.mark.parametrize("sign", ["=1+1", "+x", "-x", "@x", "\tx", "\uff1d1+1"])
def test_white_space_and_invisible_characters_hide_no_formula(sign: str) -> None:
    texts = [sign, *(skipped + sign for skipped in SKIPPED)]
    frame = pa.table({"cell": [*texts, *HARMLESS]})
    relation = duckdb.connect().from_arrow(frame)
    assert formula_cells(frame) == formula_cells(relation) == len(texts)
    expected = [*("'" + text for text in texts), *HARMLESS]
    assert defused(frame["cell"]).to_pylist() == expected
    assert [cell for (cell,) in spreadsheet.defused_relation(relation).fetchall()] == expected
    assert defused(pa.array([" =1", "' =1", "'' =1"])).to_pylist() == ["' =1", "'' =1", "''' =1"]


@pytest.mark.parametrize(("method", "promise", "named"), basket_jobs())
def test_items_are_counted_or_defused(method: Method, promise: Any, named: list[str], tmp_path: Path) -> None:
    raw = run(job(method, promise, named))
    assert published_formulas(raw) > 0
    assert "formula-cells" in {one.code for one in raw.cautions}
    assert "spreadsheet_safe" not in raw.recipe
    safe = run(job(method, promise, named, spreadsheet_safe=True, out=tmp_path / "out"))
    assert published_formulas(safe) == 0
    assert "formula-cells" not in {one.code for one in safe.cautions}
    assert safe.verdict.ok
    assert not first_signs(tmp_path / "out") & STARTS
    record = json.loads((tmp_path / "out" / "release.json").read_text())
    assert record["spreadsheet_safe"] is True
    if method.role == "hider":
        assert safe.evidence.details["already_hidden"] == 0


def test_rules_in_tables_are_judged_as_they_are_published() -> None:
    frame = pa.table({"age": [20, 20, 30, 30] * 5, "disease": ["=flu", "=flu", "=flu", "cold"] * 5})
    table = Table(frame, {"age": quasi(), "disease": sensitive()}, spreadsheet_safe=True)
    rule = [["age=20"], ["disease==flu"]]
    release = METHODS["exact"].make(RulesHidden([rule], 0.2, 0.5), random_state=0).hide(table)
    assert formula_cells(release.frame) == 0
    assert str(release.guarantee.rules[0]) == "age=20 => disease='=flu"
    unhidden = frame.set_column(1, "disease", pa.array(["'=flu", "'=flu", "'=flu", "cold"] * 5))
    assert not release.guarantee.check(Table(unhidden, table.schema)).ok


def invoke(*args: object) -> Any:
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout) if "--json" in args else result.output


def test_perturbed_rows_are_counted_or_defused(tmp_path: Path) -> None:
    rows = "".join(f'{20 + n},"{item}"\n' for n, item in enumerate(ITEMS))
    (tmp_path / "people.csv").write_text("age,note\n" + rows, encoding="utf-8")
    noise = ("--columns", "age", "--noise", "gaussian", "--spread", 3, "--text", "note", "--json")
    raw = invoke("perturb", tmp_path / "people.csv", *noise, "--out", tmp_path / "raw.csv")
    assert any(caution["text"].startswith(f"{RUN} cells") for caution in raw["cautions"])
    safe = invoke(
        "perturb", tmp_path / "people.csv", *noise, "--out", tmp_path / "safe.csv", "--spreadsheet-safe"
    )
    assert [one["code"] for one in safe["cautions"]] == ["exact-columns", "unique-column"], (
        "each note is one person's"
    )
    (tmp_path / "raw.csv").unlink()
    (tmp_path / "people.csv").unlink()
    assert not first_signs(tmp_path) & STARTS


def test_distorted_baskets_are_counted_or_defused(tmp_path: Path) -> None:
    from discreet import read_baskets, write_baskets

    write_baskets(baskets(), tmp_path / "shop.csv", format="long")
    options = ("--p", 0.9, "--q", 0.9, "--format", "long", "--basket", "basket", "--item", "item", "--json")
    raw = invoke(
        "distort", tmp_path / "shop.csv", *options, "--out", tmp_path / "raw.basket", "--out-format", "lines"
    )
    assert raw["cautions"][0]["text"].startswith(f"{RUN} cells, items")
    out = ("--out", tmp_path / "safe.basket", "--out-format", "lines", "--spreadsheet-safe")
    safe = invoke("distort", tmp_path / "shop.csv", *options, *out)
    assert [one["code"] for one in safe["cautions"]] == ["item-list"]
    names = read_baskets(tmp_path / "safe.basket", format="lines").names
    assert formula_cells(pa.table({"item": names})) == 0


def test_columns_of_streams_are_counted(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("=age,weight\n" + "".join(f"{20 + n},{n % 7}\n" for n in range(40)))
    command = ("stream", "condense", "--from", tmp_path / "visits.csv", "--columns", "=age,weight", "-k", 5)
    made = invoke(*command, "--out", tmp_path / "out", "--json")
    assert [one["code"] for one in made["cautions"]] == ["formula-cells"]


def test_results_of_parties_are_counted() -> None:
    from types import SimpleNamespace

    from discreet.cli._output import plain_cautions
    from discreet.parties.network.running import written_frames

    files = {
        "result.csv": {"item": ITEMS},
        "matched.csv": pa.table({"id": ["@x"]}),
        "model.json": {"a": "=1"},
    }
    protocol = SimpleNamespace(result_files=lambda output: files)
    outcome: Any = SimpleNamespace(session=SimpleNamespace(protocol=protocol), output=None)
    (caution,) = plain_cautions(*written_frames(outcome))
    assert str(caution["text"]).startswith(f"{RUN + 1} cells")
