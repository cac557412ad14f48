"""The report as a PDF, printed from the HTML page by a headless browser, and freed of the browser's metadata."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from discreet.core.errors import OutputError

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


# The description inside a PDF: its title stays, all that a browser adds about itself, the system and the moment goes.
#
# Bytes are overwritten by as many blanks, so that every object stays where the file's table of places has it.


_REFERENCE = rb"/%b\s+(\d+)\s+(\d+)\s+R"
_TITLE = re.compile(rb"/Title\s*(?:\((?:\\.|[^\\()])*\)|<[0-9A-Fa-f\s]*>)", re.DOTALL)
_ID = re.compile(rb"/ID\s*\[\s*<([0-9A-Fa-f]*)>\s*<([0-9A-Fa-f]*)>\s*\]")
_STREAM = re.compile(rb"stream\r?\n(.*?)endstream", re.DOTALL)


def without_metadata(pdf: bytes) -> bytes:
    """Return a PDF with no other metadata than its title; an OutputError where they cannot be found.

    >>> old = b"%PDF-1.4 1 0 obj <</Title (Kept) /Producer (Browser 9)>> endobj trailer <</Info 1 0 R>>"
    >>> new = without_metadata(old)
    >>> b"Kept" in new, b"Browser" in new, len(new) == len(old)
    (True, False, True)
    """
    cleaned = bytearray(pdf)
    for match in re.finditer(_REFERENCE % b"Info", pdf):
        start, end = _object(pdf, *match.groups())
        title = _TITLE.search(pdf, start, end)
        _overwrite(cleaned, start, end, b"<<" + (title[0] if title else b""), b">>")
    for match in re.finditer(_REFERENCE % b"Metadata", pdf):
        stream = _STREAM.search(pdf, *_object(pdf, *match.groups()))
        if stream is not None:
            _overwrite(cleaned, *stream.span(1), b"", b"\n")
        _overwrite(cleaned, *match.span(), b"", b"")
    for match in _ID.finditer(pdf):
        for part in (1, 2):
            cleaned[match.start(part) : match.end(part)] = b"0" * len(match[part])
    return bytes(cleaned)


def _object(pdf: bytes, number: bytes, generation: bytes) -> tuple[int, int]:
    """Return where the content of an object begins and ends."""
    match = re.search(rb"(?<!\d)%b\s+%b\s+obj\b(.*?)endobj" % (number, generation), pdf, re.DOTALL)
    if match is None:
        raise OutputError(
            "The browser wrote a PDF whose metadata cannot be removed; open report.html and print it from there."
        )
    return match.span(1)


def _overwrite(cleaned: bytearray, start: int, end: int, first: bytes, last: bytes) -> None:
    """Write new bytes at the beginning and the end of a part, and blanks between them."""
    cleaned[start:end] = first + b" " * (end - start - len(first) - len(last)) + last
