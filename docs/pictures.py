"""The pictures of README, the docs and the notebooks: ``python docs/pictures.py``, or with the names of some.

Reports and the studio take Chromium, Chrome or Edge, and Pillow and Playwright, which come with the packages of ``make
test``. Terminals and plots take no browser. ``notebooks`` runs those of ``examples/`` and writes their outputs and
plots into them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from discreet.report.pdf import browser

FOLDER = Path(__file__).parent / "pictures"
REPORT = FOLDER / "report.png"
EXAMPLES = Path(__file__).parents[1] / "examples"
TERMINALS = {
    "terminal-init.svg": "init patients.csv",
    "terminal-explore.svg": "explore patients.csv --quasi age,zip --sensitive disease -k 5 "
    "--hierarchy age=intervals:5,10,20 --hierarchy zip=mask:5 --max-suppressed 0 --measure loss",
    "terminal-check.svg": "check release",
}
"""The commands whose output is drawn; they run beside the sample of patients and a release of it."""
_RELEASE = "anonymize patients.csv --quasi age,zip --sensitive disease --rest drop -k 5 -l 2 --no-report --out release"
_COLUMNS = 100
_WIDTH, _HEIGHT = 1000, 980
_COLORS = 128
_SECONDS = 120
# The studio and the browser are opened as the tests open them.
sys.path.insert(0, str(Path(__file__).parents[1]))


def draw_report(out: Path = REPORT) -> Path:
    """Write the first screen of the demo's report as a picture; return its file."""
    with TemporaryDirectory() as folder:
        release = Path(folder) / "release"
        _run(sys.executable, "-m", "discreet", "demo", "--quiet", "--out", str(release))
        shot = photograph(release / "report.html")
    out.write_bytes(shot)
    return _light(out)


def draw_terminals(folder: Path = FOLDER) -> list[Path]:
    """Write what some commands print as pictures of a terminal; return their files."""
    from rich.console import Console
    from rich.text import Text

    drawn = []
    with TemporaryDirectory() as work:
        _printed("sample patients", work)
        _printed(_RELEASE, work)
        for name, command in TERMINALS.items():
            console = Console(record=True, width=_COLUMNS, file=StringIO())
            console.print(Text(f"$ discreet {command}", "bold"))
            console.print(Text.from_ansi(_printed(command, work)))
            svg = console.export_svg(title="discreet", unique_id="discreet", code_format=_svg_format())
            drawn.append(folder / name)
            drawn[-1].write_text(svg, encoding="utf-8")
    return drawn


def _svg_format() -> str:
    """Return how rich draws a terminal, without the fonts that it would load from the network."""
    from rich._export_format import CONSOLE_SVG_FORMAT

    return re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def _printed(command: str, folder: str) -> str:
    """Return what a command prints, in colors."""
    run = [sys.executable, "-m", "discreet", *command.split()]
    shown = subprocess.run(run, check=True, capture_output=True, timeout=_SECONDS, cwd=folder, text=True)
    return re.sub(
        r"^(verified|caution|private)(?= )",
        lambda match: f"\x1b[{_TONES[match[1]]}m{match[1]}\x1b[0m",
        shown.stdout,
        flags=re.MULTILINE,
    )


_TONES = {"verified": "1;32", "caution": "1;33", "private": "1;36"}


def draw_plots(folder: Path = FOLDER) -> list[Path]:
    """Write the plots of the pages on noise and on p and q; return their files."""
    import numpy as np

    from discreet.collect import AdditiveNoise, Gaussian
    from discreet.report.pictures import chart, privacy_plane, write_picture

    ages = np.random.default_rng(1).triangular(0, 35, 100, 5000)
    channel = AdditiveNoise(Gaussian.for_privacy(1.0, low=0, high=100), low=0, high=100)
    noisy = channel.perturb(ages, random_state=1)
    density = channel.reconstruct(noisy, intervals=30, band=0.95)
    histogram = channel.reconstruction(30).histogram(noisy)
    return [
        write_picture(chart(density, noisy=histogram), folder / "reconstruction.svg"),
        _light(write_picture(privacy_plane(0.01), folder / "privacy-plane.png")),
    ]


def _light(picture: Path) -> Path:
    """Give a picture a palette, which is a third of the size, and nobody sees the difference."""
    Image.open(picture).convert("RGB").quantize(_COLORS).save(picture, optimize=True)
    return picture


def run_notebooks(folder: Path = EXAMPLES) -> list[Path]:
    """Run the notebooks and write them with their outputs and plots, without times and paths; return their files."""
    import nbformat
    from nbclient import NotebookClient

    notebooks = sorted(folder.glob("*.ipynb"))
    for path in notebooks:
        document = nbformat.read(path, as_version=4)
        with TemporaryDirectory() as work:
            resources = {"metadata": {"path": work}}
            NotebookClient(document, timeout=_SECONDS, resources=resources, record_timing=False).execute()
        nbformat.write(document, path)
    return notebooks


def photograph(page: Path) -> bytes:
    """Return the first screen of a page as PNG."""
    from tests.studio.servers import FLAGS

    with TemporaryDirectory() as folder:
        shot = Path(folder) / "shot.png"
        _run(
            browser(),
            *FLAGS,
            "--hide-scrollbars",
            "--virtual-time-budget=10000",
            f"--user-data-dir={folder}/profile",
            f"--window-size={_WIDTH},{_HEIGHT}",
            f"--screenshot={shot}",
            page.resolve().as_uri(),
        )
        return shot.read_bytes()


def draw_studio(folder: Path = FOLDER) -> list[Path]:
    """Walk the sample of the studio from drop to release, and write a picture of each step; return their files."""
    from tests.studio.servers import browser as chromium
    from tests.studio.servers import running

    drawn = []
    with running() as server, chromium() as opened:
        server.open_sample()
        page = opened.new_page(viewport={"width": 1200, "height": 860}, color_scheme="light")
        page.set_default_timeout(_SECONDS * 1000)
        for name, steps in STUDIO.items():
            for verb, *arguments in steps:
                _step(page, server.address, verb, arguments)
            drawn.append(folder / f"studio-{name}.png")
            page.screenshot(path=drawn[-1])
            _light(drawn[-1])
    return drawn


STUDIO: dict[str, list[tuple[str, ...]]] = {
    "look": [("open",), ("wait", "#pairs ~ div table")],
    "roles": [("click", "text=Next: roles"), ("wait", "#roles")],
    "hierarchy": [("click", "li:has(h2:text-is('age')) a"), ("wait", "#levels table")],
    "protect": [
        ("click", "text=Back to the columns"),
        ("click", "text=Next: protect"),
        ("wait", "#count strong"),
    ],
    "result": [("click", "#start"), ("wait", "#use-this"), ("wait", ".chart svg")],
    "hand-over": [("click", "#use-this"), ("wait", "#zip")],
}
"""The pictures of the studio, each with the steps that lead there from the one before."""


def _step(page: Any, address: str, verb: str, arguments: list[str]) -> None:
    if verb == "open":
        page.goto(address)
    elif verb == "click":
        page.click(*arguments)
    else:
        page.wait_for_selector(*arguments)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)


MADE = {
    "report": lambda: [draw_report()],
    "studio": draw_studio,
    "terminals": draw_terminals,
    "plots": draw_plots,
    "notebooks": run_notebooks,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or MADE:
        for made in MADE[part]():
            sys.stdout.write(f"{made}\n")
