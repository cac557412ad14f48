"""HTML: the templates of all pages, with every value escaped; charts and the charts' library are the only exception."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from discreet.report import theme

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_UNSHOWN = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
_UNSAFE_IN_SCRIPTS = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def render_template(name: str, **values: Any) -> str:
    """Return a template filled with values, every one escaped."""
    return _environment().get_template(name).render(**values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("discreet.report"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["script_json"] = lambda value: trusted(script_json(value))
    environment.globals.update(light=theme.LIGHT, dark=theme.DARK, print=theme.PRINT, drawn=_drawn)
    return environment


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


def plain_json(value: Any) -> Any:
    """Return data that every JSON reader accepts: NaN and infinity become null, NumPy numbers plain ones.

    >>> plain_json({"a": [float("nan"), 1.5]})
    {'a': [None, 1.5]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_json(inner) for inner in value]
    if hasattr(value, "tolist"):
        return plain_json(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return str(value)


def script_json(value: Any) -> str:
    r"""Write data as JSON that cannot end the script element it stands in.

    >>> print(script_json("</script>"))
    "\u003c/script\u003e"
    """
    written = json.dumps(plain_json(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSHOWN.sub("\ufffd", written).translate(_UNSAFE_IN_SCRIPTS)
