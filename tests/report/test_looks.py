"""Pages as a browser shows them: how tall a wide table is on a telephone, and that nothing is cut."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet import Table, intervals, quasi, scale, sensitive
from discreet.core.errors import OutputError
from discreet.core.release import Release
from discreet.guarantees import KAnonymity
from discreet.job import Job
from discreet.kinds.distributions import released_shares
from discreet.publish import Mondrian
from discreet.report.page import render_report
from discreet.report.pdf import browser
from discreet.report.pictures import untitled

_MEASURED = """<script>setTimeout(() => {
  scrollTo(5000, 0);
  const root = document.documentElement;
  const drawn = document.querySelectorAll(".chart svg").length, charts = document.querySelectorAll(".chart").length;
  document.title = `${root.scrollHeight} ${scrollX} ${charts - drawn}`;
}, 5000)</script></body>"""


def wide_release() -> Release:
    rng = np.random.default_rng(0)
    known = {f"known {number}": rng.integers(0, 3, 300) for number in range(20)}
    secret = {f"secret {number}": rng.integers(0, 4, 300).astype(str) for number in range(27)}
    columns = {name: quasi() for name in known} | {name: sensitive() for name in secret}
    return Mondrian(KAnonymity(5)).release(Table(pa.table(known | secret), columns))


@pytest.mark.slow
def test_a_wide_table_is_folded_on_a_telephone(tmp_path: Path) -> None:
    """First use (22): a release of 47 columns was 41,050 px tall at a width of 400."""
    try:
        name = browser()
    except OutputError as error:
        pytest.skip(str(error))
    page = tmp_path / "page.html"
    before, _, after = render_report(wide_release()).rpartition("</body>")
    page.write_text(before + _MEASURED + after)
    window = ("--window-size=400,900", "--virtual-time-budget=20000")
    command = [name, "--headless", "--no-sandbox", "--disable-gpu", *window]
    shown = subprocess.run(
        [*command, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=240, check=True,
    ).stdout  # fmt: skip
    title = re.search(r"<title>(\d+) (\d+) (\d+)</title>", shown)
    assert title is not None
    height, scrolled, undrawn = map(int, title.groups())
    assert height < 16_000
    assert (scrolled, undrawn) == (0, 0)


def test_pages_fold_long_lists_and_paper_shows_them() -> None:
    page = render_report(wide_release())
    assert "Show all ${count} ${what}" in page
    assert "tr.folded { display: table-row !important; }" in page


def test_bands_are_in_the_order_of_their_bounds() -> None:
    """First use (23): overlapping intervals were in the order of their frequency."""
    bands = [f"[{low}-{low + 10})" for low in (0, 10, 20, 30)]
    rows = pa.table({"age": bands * 5 + bands[2:] * 30 + bands[:1] * 11, "sex": ["f", "m"] * 45 + ["f"]})
    release = Mondrian(KAnonymity(4)).release(Table(rows, {"age": quasi(scale("bands")), "sex": quasi()}))
    labels, _ = released_shares(release, "age", 1)
    lows = [int(label[1:].partition("-")[0]) for label in labels if label.startswith("[")]
    assert len(lows) > 1
    assert lows == sorted(lows)


def test_the_predicted_columns_can_be_chosen() -> None:
    """First use (23): the first three columns of few values were predicted, and none could be chosen."""
    frame = pa.table(
        {"age": list(range(40)), "sugar": ["a", "b"] * 20, "back": ["no", "yes", "yes", "no"] * 10}
    )
    columns = {"age": quasi(intervals(10)), "sugar": sensitive(), "back": sensitive()}
    job = Job(frame, columns, KAnonymity(5), predict=["sugar"])
    release = job.release(Table(frame, columns))
    assert [predicted.column for predicted in release.figures.public.predictions] == ["sugar"]
    with pytest.raises(Exception, match="'age' cannot be predicted"):
        Job(frame, columns, KAnonymity(5), predict=["age"]).release(Table(frame, columns))


def test_a_picture_in_a_page_follows_its_theme_and_its_width() -> None:
    """First use (22): the picture of a reconstruction stayed white at night, and filled 60% of its card."""
    spec = untitled(
        {
            "title": {"text": "x"},
            "width": 520,
            "config": {"background": "#ffffff"},
            "mark": {"color": "#1e2328"},
        }
    )
    assert spec["width"] == "container"
    assert spec["config"]["background"] == "transparent"
    assert spec["mark"]["color"].startswith("var(--ink")
