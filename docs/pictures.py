"""The picture of a report in README and on the home of the docs: ``python docs/pictures.py``.

Takes Chromium, Chrome or Edge, and Pillow, which comes with the packages of ``make test``.
"""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from discreet.report.pdf import browser

REPORT = Path(__file__).parent / "pictures" / "report.png"
_WIDTH, _HEIGHT = 1000, 980
_COLORS = 128
_SECONDS = 120
# A profile of its own, thrown away afterwards, and no connection to anywhere.
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--virtual-time-budget=10000",
)


def draw_report(out: Path = REPORT) -> Path:
    """Write the first screen of the demo's report as a picture; return its file."""
    with TemporaryDirectory() as folder:
        release = Path(folder) / "release"
        _run(sys.executable, "-m", "discreet", "demo", "--quiet", "--out", str(release))
        shot = photograph(release / "report.html")
    # A palette is a third of the size, and nobody sees the difference.
    Image.open(BytesIO(shot)).convert("RGB").quantize(_COLORS).save(out, optimize=True)
    return out


def photograph(page: Path) -> bytes:
    """Return the first screen of a page as PNG."""
    with TemporaryDirectory() as folder:
        shot = Path(folder) / "shot.png"
        _run(
            browser(),
            *_FLAGS,
            f"--user-data-dir={folder}/profile",
            f"--window-size={_WIDTH},{_HEIGHT}",
            f"--screenshot={shot}",
            page.resolve().as_uri(),
        )
        return shot.read_bytes()


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)


if __name__ == "__main__":
    sys.stdout.write(f"{draw_report()}\n")
