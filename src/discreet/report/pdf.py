"""The report as a PDF, printed from the HTML page by a headless browser."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from discreet.core.errors import OutputError
from discreet.report.pdf_metadata import without_metadata

BROWSER = "DISCREET_BROWSER"
"""The environment variable with the browser to use."""
_BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
_SECONDS = 120


def browser() -> str:
    """Return the path of a browser that can print; raise an OutputError where there is none."""
    named = os.environ.get(BROWSER)
    path = (
        [shutil.which(named)] if named else [*map(shutil.which, _BROWSERS), *filter(os.path.isfile, _PLACES)]
    )
    for name in path:
        if name:
            return name
    raise OutputError(
        "A PDF is printed by Chromium, Chrome or Edge, and none of them was found. Install one, name it in the "
        f"variable {BROWSER}, or open report.html and print it from there."
    )


def print_page(page: Path, out: Path) -> Path:
    """Print a page into a PDF file without metadata but its title; return the file."""
    with TemporaryDirectory() as profile:
        command = [
            browser(),
            "--headless",
            "--disable-gpu",
            "--no-pdf-header-footer",
            "--virtual-time-budget=20000",
            f"--user-data-dir={profile}",
            f"--print-to-pdf={out.resolve()}",
            *(["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []),
            page.resolve().as_uri(),
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            raise OutputError(f"The browser could not print the report ({type(error).__name__}).") from None
    printed = out.read_bytes() if out.is_file() else b""
    if not printed.startswith(b"%PDF"):
        raise OutputError("The browser printed no PDF; open report.html and print it from there.")
    out.write_bytes(without_metadata(printed))
    return out
