"""The description inside a PDF: its title stays, all that a browser adds about itself, the system and the moment goes.

Bytes are overwritten by as many blanks, so that every object stays where the file's table of places has it.
"""

from __future__ import annotations

import re

from discreet.core.errors import OutputError

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
    made = bytearray(pdf)
    for found in re.finditer(_REFERENCE % b"Info", pdf):
        start, end = _object(pdf, *found.groups())
        title = _TITLE.search(pdf, start, end)
        _overwrite(made, start, end, b"<<" + (title[0] if title else b""), b">>")
    for found in re.finditer(_REFERENCE % b"Metadata", pdf):
        stream = _STREAM.search(pdf, *_object(pdf, *found.groups()))
        if stream is not None:
            _overwrite(made, *stream.span(1), b"", b"\n")
        _overwrite(made, *found.span(), b"", b"")
    for found in _ID.finditer(pdf):
        for part in (1, 2):
            made[found.start(part) : found.end(part)] = b"0" * len(found[part])
    return bytes(made)


def _object(pdf: bytes, number: bytes, generation: bytes) -> tuple[int, int]:
    """Return where the content of an object begins and ends."""
    found = re.search(rb"(?<!\d)%b\s+%b\s+obj\b(.*?)endobj" % (number, generation), pdf, re.DOTALL)
    if found is None:
        raise OutputError(
            "The browser wrote a PDF whose metadata cannot be removed; open report.html and print it from there."
        )
    return found.span(1)


def _overwrite(made: bytearray, start: int, end: int, first: bytes, last: bytes) -> None:
    """Write new bytes at the beginning and the end of a part, and blanks between them."""
    made[start:end] = first + b" " * (end - start - len(first) - len(last)) + last
