"""Pictures: charts written as SVG, PNG, JSON or a page that works offline."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from discreet.core.errors import OutputError
from discreet.engines.atomic import atomic_file

KINDS = (".svg", ".png", ".html", ".json")


def write_picture(spec: dict[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write a picture, all or nothing, in the format of the file name's ending: SVG, PNG, HTML or JSON."""
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in KINDS:
        raise OutputError(f"The name of a picture must end in {', '.join(KINDS)}.")
    with atomic_file(target) as temporary:
        temporary.write_bytes(encoded(spec, kind))
    return target


def encoded(spec: dict[str, Any], kind: str) -> bytes:
    """Return a picture as the bytes of a file with this ending."""
    if kind == ".json":
        return json.dumps(spec, indent=1, ensure_ascii=False).encode()
    import vl_convert

    if kind == ".png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=2))
    if kind == ".svg":
        return str(vl_convert.vegalite_to_svg(spec)).encode()
    from discreet.kinds.blocks import Figure
    from discreet.report.page import page

    title = spec["title"]
    figure = Figure(title["text"], title.get("subtitle", ""), untitled(spec))
    return page([figure], title=title["text"], footer="This page shows one chart.").encode()


def untitled(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a chart for a page: without its title, which the page shows itself, and the address of its schema."""
    return {key: value for key, value in spec.items() if key not in ("title", "$schema")}
