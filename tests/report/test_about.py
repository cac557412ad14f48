"""What a report says of itself: name, date, terms, what may be handed on, examples, and code that runs."""

from __future__ import annotations

import contextlib
import html
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from discreet import (
    Baskets,
    Release,
    Table,
    identifier,
    intervals,
    masked,
    quasi,
    read,
    sensitive,
    write_baskets,
)
from discreet.core.errors import OutputError, ParameterError
from discreet.guarantees import DistinctDiversity, EntropyDiversity, KAnonymity, TCloseness
from discreet.publish import (
    Anatomy,
    AprioriAnonymization,
    Cahd,
    Condensation,
    Generalization,
    Incognito,
    LocalRecoding,
    Mondrian,
    OptimalLattice,
    PermMondrian,
    Samarati,
)
from discreet.report.page import render

TREES = {
    "name": identifier(),
    "age": quasi(intervals(5, 10, 20), weight=2.0),
    "zip": quasi(masked()),
    "disease": sensitive(),
}
K = KAnonymity(3)


def people(n: int = 120) -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "name": [f"n{at}" for at in range(n)],
            "age": rng.integers(20, 60, n),
            "zip": [f"1{one:04d}" for one in rng.integers(0, 40, n)],
            "disease": rng.choice(["flu", "cold", "gout"], n).tolist(),
        }
    )


TABLES = {
    "mondrian": Mondrian(K & DistinctDiversity(2), strict=False, summary="mean", random_state=4),
    "generalization": Generalization(K, levels={"age": 2, "zip": 3}, max_suppressed=0.3),
    "optimal": OptimalLattice(K & EntropyDiversity(1.5), max_suppressed=0.1, measure="entropy"),
    "samarati": Samarati(K, max_suppressed=0.1),
    "incognito": Incognito(K & TCloseness(0.5)),
    "local": LocalRecoding(K, max_suppressed=0.05, highest={"age": 2}),
    "anatomy": Anatomy(2),
    "condensation": Condensation(5, label="disease", noise=0.1),
}
SHOP = {
    "cahd": Cahd(3, sensitive=[9], random_state=1),
    "perm-mondrian": PermMondrian(3, sensitive=[9]),
    "anatomy": Anatomy(3, sensitive=[9]),
    "apriori": AprioriAnonymization(3, m=2, fan_out=3),
}


def code_in(page: Path) -> str:
    """Return the code under "Run it again"."""
    found = re.search(r'<section id="again".*?<code>(.*?)</code>', page.read_text(), re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


def run_again(tmp_path: Path) -> dict[str, object]:
    code = code_in(tmp_path / "out.private" / "report-internal.html")
    with contextlib.chdir(tmp_path):
        names: dict[str, object] = {}
        exec(compile(code, "again", "exec"), names)
    return json.loads((tmp_path / "out-again" / "release.json").read_text())


@pytest.mark.parametrize("name", TABLES)
def test_the_code_of_a_table_runs_as_it_stands(name: str, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(people(), tmp_path / "people.csv")
    release = TABLES[name].release(Table(read(tmp_path / "people.csv"), TREES))
    release.write(tmp_path / "out", name="people.csv")
    first = json.loads((tmp_path / "out" / "release.json").read_text())
    second = run_again(tmp_path)
    for key in ("method", "parameters", "guarantee", "columns", "levels"):
        assert second.get(key) == first.get(key)
    if first["seeded"]:
        data = [(tmp_path / place / "data.csv").read_bytes() for place in ("out", "out-again")]
        assert data[0] == data[1]


@pytest.mark.parametrize("name", SHOP)
def test_the_code_of_baskets_runs_as_it_stands(name: str, tmp_path: Path) -> None:
    baskets = Baskets.from_lists([[1, 2, 3], [1], [1, 2], [1, 9]] * 6)
    write_baskets(baskets, tmp_path / "shop.dat")
    release: Release = SHOP[name].release(baskets)
    release.write(tmp_path / "out", name="shop.dat")
    first = json.loads((tmp_path / "out" / "release.json").read_text())
    second = run_again(tmp_path)
    for key in ("method", "parameters", "guarantee"):
        assert second[key] == first[key]


def test_a_report_has_a_name_a_date_terms_and_examples(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1900000000")
    release = Mondrian(K).release(Table(people(), TREES))
    folder = release.write(tmp_path / "out", name="People <2030>")
    page = (folder / "report.html").read_text()
    for words in (
        "People &lt;2030&gt;",
        "2030-03-17",
        "May it be handed on?",
        "<dt>Class</dt>",
        "<dt>Quasi-identifier</dt>",
        "Example rows",
        "Predictions",
        "Pairs of columns",
    ):
        assert words in page
    assert page.index("<dt>Class</dt>") < page.index("<dt>Classes</dt>")
    record = json.loads((folder / "release.json").read_text())
    assert (record["name"], record["date"]) == ("People <2030>", "2030-03-17")
    assert "From the original" not in page
    assert "From the original" in (tmp_path / "out.private" / "report-internal.html").read_text()


def test_no_bar_is_invented_for_rare_values() -> None:
    n = 2000
    frame = pa.table(
        {"age": [30, 40] * (n // 2), "drug": ["No"] * (n - 3) + ["Up"] * 3, "x": ["a", "b"] * (n // 2)}
    )
    roles = {"age": quasi(), "drug": sensitive(), "x": quasi()}
    release = Mondrian(KAnonymity(5)).release(Table(frame, roles))
    for internal in (False, True):
        page = render(release, internal=internal)
        assert "other values" not in page
        assert "A few rows of rarer values are not shown." in page


def test_wide_tables_have_an_index_and_examples_column_by_column() -> None:
    rng = np.random.default_rng(1)
    frame = pa.table({f"c{at}": rng.integers(0, 3, 300) for at in range(12)})
    release = Mondrian(KAnonymity(5)).release(Table(frame, {f"c{at}": quasi() for at in range(12)}))
    page = render(release)
    links = re.findall(r'href="#(distribution-\d+)"', page)
    assert len(links) == 12
    assert all(f'id="{one}"' in page for one in links)
    assert "Row 3" in page


def test_a_pdf_needs_a_browser_and_a_report(tmp_path: Path, monkeypatch) -> None:
    release = Mondrian(K).release(Table(people(), TREES))
    monkeypatch.setenv("DISCREET_BROWSER", "no-such-browser")
    with pytest.raises(OutputError, match=r"Chromium, Chrome or Edge, .* open report.html"):
        release.write(tmp_path / "out", pdf=True)
    with pytest.raises(ParameterError, match="PDF"):
        release.write(tmp_path / "out", pdf=True, report=False)
    assert list(tmp_path.iterdir()) == []


def test_a_pdf_is_printed_from_the_page(tmp_path: Path, monkeypatch) -> None:
    fake = tmp_path / "browser"
    fake.write_text(
        '#!/bin/sh\nfor one in "$@"; do\n'
        '  case "$one" in --print-to-pdf=*) printf "%%PDF-1.4" > "${one#*=}";; esac\ndone\n'
    )
    fake.chmod(0o700)
    monkeypatch.setenv("DISCREET_BROWSER", str(fake))
    release = Mondrian(K).release(Table(people(), TREES))
    folder = release.write(tmp_path / "out", pdf=True)
    assert (folder / "report.pdf").read_bytes() == b"%PDF-1.4"
    assert "report.pdf" in json.loads((folder / "release.json").read_text())["files"]
