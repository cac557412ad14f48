"""Markup: small pieces of HTML in which every text is escaped unless it is markup already."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

_UNSHOWN = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
_EMPTY_TAGS = frozenset({"meta", "path", "circle", "img"})
_UNSAFE_IN_SCRIPTS = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str | int | bool | None) -> Markup:
    """Write an element; an underscore in an attribute's name is a hyphen, at its end nothing.

    >>> tag("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY_TAGS:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(children: Iterable[str]) -> Markup:
    """Put texts and markup one after the other.

    >>> joined(["a & b", Markup("<b>c</b>")])
    'a &amp; b<b>c</b>'
    """
    return Markup("".join(child if isinstance(child, Markup) else escaped(child) for child in children))


def escaped(text: str) -> Markup:
    """Escape a text; controls, halves of characters and marks that turn the direction of text become a mark."""
    return Markup(html.escape(_UNSHOWN.sub("\ufffd", text), quote=True))


def plain_json(value: Any) -> Any:
    """Return data that every JSON reader takes: NaN and infinity become null, NumPy numbers plain ones.

    >>> plain_json({"a": [float("nan"), 1.5]})
    {'a': [None, 1.5]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_json(one) for one in value]
    if hasattr(value, "tolist"):
        return plain_json(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return str(value)


def script_json(value: Any) -> Markup:
    r"""Write data as JSON that no script element can be left from.

    >>> print(script_json("</script>"))
    "\u003c/script\u003e"
    """
    written = json.dumps(plain_json(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(_UNSHOWN.sub("\ufffd", written).translate(_UNSAFE_IN_SCRIPTS))


def _attribute(key: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escaped(str(value))}"'
