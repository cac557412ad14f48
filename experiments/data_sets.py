"""Public data sets that several experiments read, and their paths in the folder of data sets."""

from __future__ import annotations

from pathlib import Path

from discreet.core.baskets.baskets import Baskets

CLICK_STREAMS = {
    "BMS-WebView-1": Path("bms-webview-1") / "BMS-WebView-1.dat.gz",
    "BMS-WebView-2": Path("bms-webview-2") / "BMS-WebView-2.dat.gz",
}
"""The click streams of the KDD Cup 2000, by their names."""
THANKS = "We wish to thank Blue Martini Software for contributing the KDD Cup 2000 data."
"""The acknowledgment on a page that uses a click stream."""


def present(data: Path | None, place: Path) -> Path | None:
    """Return the path of a file in the folder of data sets; None where there is no such file, or no folder."""
    path = None if data is None else data / place
    return path if path is not None and path.is_file() else None


def click_stream(data: Path | None, name: str) -> Baskets | None:
    """Read a click stream; None where it is absent."""
    from discreet.engines.baskets.files import read_baskets

    path = present(data, CLICK_STREAMS[name])
    return None if path is None else read_baskets(path)
