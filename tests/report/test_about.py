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
    GlobalRecoding,
    Incognito,
    LocalRecoding,
    Microaggregation,
    Mondrian,
    OptimalLattice,
    PermMondrian,
    Samarati,
)
from discreet.report.page import render_report
from discreet.report.pdf import browser, without_metadata

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
    "global": GlobalRecoding(K, max_suppressed=2, weights={"age": 2.0}),
    "microaggregation": Microaggregation(K, weights={"age": 2.0}),
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
        page = render_report(release, internal=internal)
        assert "other values" not in page
        assert "A few rows of rarer values are not shown." in page


def test_wide_tables_have_an_index_and_examples_column_by_column() -> None:
    rng = np.random.default_rng(1)
    frame = pa.table({f"c{at}": rng.integers(0, 3, 300) for at in range(12)})
    release = Mondrian(KAnonymity(5)).release(Table(frame, {f"c{at}": quasi() for at in range(12)}))
    page = render_report(release)
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


def test_a_pdf_has_no_metadata_but_its_title(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_BROWSER", raising=False)
    try:
        browser()
    except OutputError:
        pytest.skip("no browser is installed that prints a PDF")
    release = Mondrian(K).release(Table(people(), TREES))
    folder = release.write(tmp_path / "out", name="People (2030)", pdf=True)
    pdf = (folder / "report.pdf").read_bytes()
    for planted in (b"Mozilla", b"Chrome", b"Linux", b"Skia/", b"/CreationDate", b"/ModDate", b"/Producer"):
        assert planted not in pdf
    assert str(tmp_path).encode() not in pdf
    assert b"(People \\(2030\\): the guarantee is verified)" in pdf
    assert_sound(pdf)


def assert_sound(pdf: bytes) -> None:
    """Follow the table of places of a PDF: every object must begin where it says."""
    start = int(re.search(rb"startxref\s+(\d+)", pdf)[1])
    assert pdf[start : start + 4] == b"xref"
    places = re.findall(rb"(\d{10}) (\d{5}) n", pdf[start:])
    assert places
    for place, generation in places:
        assert re.match(rb"\d+ %d obj" % int(generation), pdf[int(place) :])


def test_metadata_of_every_form_is_removed_from_a_pdf() -> None:
    packet = b"<?xpacket?><xmp:CreateDate>2030-01-02T03:04:05</xmp:CreateDate>"
    parts = [
        b"1 0 obj\n<</Creator (Secret \\(x\\))\n/Title <FEFF0041>\n/CreationDate (D:20300102030405)>>\nendobj\n",
        b"2 0 obj\n<</Type /Metadata /Subtype /XML /Length %d>>\nstream\n%b\nendstream\nendobj\n"
        % (len(packet), packet),
        b"3 0 obj\n<</Type /Catalog /Metadata 2 0 R>>\nendobj\n",
    ]
    pdf, places = b"%PDF-1.7\n", []
    for part in parts:
        places.append(len(pdf))
        pdf += part
    lines = b"".join(b"%010d 00000 n \n" % place for place in places)
    pdf += b"xref\n0 4\n0000000000 65535 f \n" + lines
    pdf += (
        b"trailer\n<</Root 3 0 R /Info 1 0 R /ID [<ABCDEF01><ABCDEF01>]>>\nstartxref\n%d\n%%%%EOF"
        % pdf.index(b"xref\n")
    )
    made = without_metadata(pdf)
    assert len(made) == len(pdf)
    for planted in (b"Secret", b"2030", b"xpacket", b"ABCDEF", b"/Metadata 2"):
        assert planted not in made
    assert b"/Title <FEFF0041>" in made
    assert_sound(made)


def test_a_pdf_whose_metadata_are_packed_is_refused() -> None:
    with pytest.raises(OutputError, match="metadata cannot be removed"):
        without_metadata(b"%PDF-1.7\n4 0 obj\n<</Type /XRef /Info 9 0 R>>\nstream\nx\nendstream\nendobj\n")


@pytest.mark.parametrize("named", [None, "Patients, 2030"])
def test_the_name_of_the_file_is_not_published(tmp_path: Path, named: str | None) -> None:
    release = Mondrian(K).release(Table(people(), TREES))
    folder = release.write(tmp_path / "out", name=named, source="patients-of-dr-smith.csv")
    for path in folder.iterdir():
        assert b"smith" not in path.read_bytes()
    assert json.loads((folder / "release.json").read_text()).get("name") == named
    assert (named or "A table without a name") in (folder / "report.html").read_text()
    private = tmp_path / "out.private"
    assert json.loads((private / "recipe.private.json").read_text())["source"] == "patients-of-dr-smith.csv"
    assert "read('patients-of-dr-smith.csv')" in code_in(private / "report-internal.html")
