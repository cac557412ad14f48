"""The charts' JavaScript: taken from vl-convert once per version, and kept in the user's cache folder."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

CACHE_VARIABLE = "DISCREET_CACHE"
_SHORTEST = 100_000


def javascript() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script that can stand in a page."""
    return _javascript(version("vl-convert-python"), cache_folder())


def cache_folder() -> Path | None:
    """Find the user's cache folder: DISCREET_CACHE, else as the platform has it; None where there is no home."""
    if folder := os.environ.get(CACHE_VARIABLE):
        return Path(folder)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "discreet" / "cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "discreet"
    folder = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(folder) if Path(folder).is_absolute() else home / ".cache") / "discreet"


@cache
def _javascript(release: str, folder: Path | None) -> str:
    if folder is None:
        return _made()
    cached = folder / f"vega-{release}.js"
    with contextlib.suppress(OSError, UnicodeError):
        script = cached.read_text(encoding="utf-8")
        if len(script) > _SHORTEST:
            return script
    script = _made()
    with contextlib.suppress(OSError):
        _keep(script, cached)
    return script


def _made() -> str:
    import vl_convert

    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return re.sub(r"</(?=script)", r"<\\/", script, flags=re.IGNORECASE).replace("<!--", r"<\!--")


def _keep(script: str, cached: Path) -> None:
    """Write the script under its name in one step, so that nobody ever reads half of it."""
    cached.parent.mkdir(parents=True, exist_ok=True)
    temporary = cached.with_name(f".{cached.name}.{secrets.token_hex(6)}")
    try:
        temporary.write_text(script, encoding="utf-8")
        temporary.replace(cached)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
