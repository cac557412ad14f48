"""Pages: the templates with every value escaped, the charts' library, and the report of a release."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import __version__
from discreet.core.params import InstanceOf, require
from discreet.core.release import Release
from discreet.kinds.blocks import Block, Definitions, Paragraph, has_charts
from discreet.kinds.kind import kind_of
from discreet.kinds.sections.provenance import rerun
from discreet.kinds.sections.risk import cautions, headline
from discreet.kinds.wording import About, handing_on, plain_json
from discreet.report import theme

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_UNSHOWN = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
_UNSAFE_IN_SCRIPTS = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def render_template(name: str, **values: Any) -> str:
    """Return a template filled with values, every one escaped."""
    return environment("discreet.report").get_template(name).render(**values)


@cache
def environment(*packages: str) -> Environment:
    """Return what fills the templates of packages, of which the first that has a template provides it."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters["script_json"] = lambda value: trusted(script_json(value))
    templates.globals.update(light=theme.LIGHT, dark=theme.DARK, print=theme.PRINT, drawn=_drawn)
    return templates


def _drawn(chart: object) -> dict[str, Any]:
    """Draw a chart; Altair is loaded by pages that have one."""
    from discreet.report.charts import chart_spec

    return chart_spec(chart)


def trusted(script: str) -> Markup:
    """Mark a script as safe in a page: JSON by ``script_json``, or the charts' library; nothing else may be."""
    from markupsafe import Markup

    return Markup(script)  # noqa: S704


def _shown(value: Any) -> Any:
    """Replace controls, lone surrogates and marks that change the direction of text; markup stays."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return _UNSHOWN.sub("\ufffd", value) if is_text else value


def script_json(value: Any) -> str:
    r"""Write data as JSON that cannot end the script element it stands in.

    >>> print(script_json("</script>"))
    "\u003c/script\u003e"
    """
    try:
        written = _in_one_line(value)
    except (TypeError, ValueError):
        written = _in_one_line(plain_json(value))
    return _UNSHOWN.sub("\ufffd", written).translate(_UNSAFE_IN_SCRIPTS)


def _in_one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


_INTERNAL = (
    "Internal report: do not hand it on. It compares the release with the original, and figures before and after can "
    "be subtracted from each other."
)
_INTERNAL_STAYS = "No. It compares with the original and stays with its owner."
_PUBLIC = "all files in the folder of this page. The folder that ends in .private stays with the owner."
_FOOTERS = {
    True: "This report compares with the original data. Store it with the original.",
    False: "Everything in this report follows from the released data, the parameters and the number of suppressed "
    "records; nothing else of the original is in it.",
}


def render_report(release: Release, *, internal: bool = False, about: About | None = None) -> str:
    """Return the report of a release as one self-contained HTML page.

    The public report shows what the released data shows by itself. The internal one compares with the original: the
    risk before, the loss, the distributions side by side. It says that it must not be handed on.
    """
    require("render", "release", release, InstanceOf((Release,), "a Release"))
    about = about or About()
    kind = kind_of(release)
    headlined = release.verdict if internal else kind.verdict_for_others(release.verdict)
    verdict, *content = kind.blocks(release, internal=internal)
    terms = kind.terms(release)
    blocks = [
        Paragraph(_INTERNAL, "internal") if internal else None,
        _heading(about, kind.title, _INTERNAL_STAYS if internal else _handed_on(release), internal=internal),
        verdict,
        Definitions(list(terms.items()), "words") if terms else None,
        cautions(release, internal=internal),
        *content,
        rerun(release, about) if internal else None,
    ]
    title = f"{about.name or 'Release'}: {headline(headlined)}"
    return page(blocks, title=title, footer=_FOOTERS[internal])


def _handed_on(release: Release) -> str:
    """Return whether the release may be handed on, and what of it."""
    return f"{handing_on(release, internal=False)[1]} What is handed on: {_PUBLIC}"


def _heading(about: About, title: str, handed_on: str, *, internal: bool) -> Definitions:
    """Return what the page is about: the data, the day, and whether it may be handed on.

    ``title`` names the kind of data, where nobody named the data itself.
    """
    entries = [("Data", about.name or f"{title} without a name")]
    if internal and about.source is not None:
        entries.append(("File", about.source))
    if about.date is not None:
        entries.append(("Released on", about.date.isoformat()))
    return Definitions([*entries, ("May it be handed on?", handed_on)], "about")


def page(blocks: Iterable[Block | None], *, title: str, footer: str) -> str:
    """Return a self-contained HTML page with the blocks that are not None, and links to its sections."""
    content = [block for block in blocks if block is not None]
    return render_template(
        "page.html",
        title=title,
        content=content,
        footer=f"{footer} It loads nothing from the network.",
        library=trusted(javascript()) if has_charts(content) else "",
        version=__version__,
    )


CACHE_VARIABLE = "DISCREET_CACHE"
_SHORTEST = 100_000
_EMBED = """window.vegaEmbed = async (place, spec, options) => {
  const drawn = await vegaEmbed(place, spec, options);
  for (const part of place.querySelectorAll("svg > g")) part.setAttribute("aria-hidden", "true");
  return drawn;
};"""
"""The description of a chart is read aloud, and the table behind; not every mark, which has a label without a role."""


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
    cached = folder / f"charts-{release}.js"
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

    script: str = vl_convert.javascript_bundle(_EMBED)
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
