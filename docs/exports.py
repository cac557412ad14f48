"""Documentation: what a stub ``__init__.pyi`` imports is what its package exports; classes show what they inherit."""

from __future__ import annotations

import re
from typing import Any

import griffe

_PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)
_EXAMPLES = re.compile(r"^(Examples|References)\n-+\n", re.MULTILINE)


class Exports(griffe.Extension):
    """Mark the names that stubs import as public names of their packages."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Set what every package exports, once all its modules are loaded."""
        for module in [pkg, *pkg.modules.values()]:
            names = [
                name for name, member in module.members.items() if member.is_alias and not member.runtime
            ]
            for name in names:
                module.members[name].runtime = True
            if names:
                module.exports = sorted(names)
        complete(pkg)


def complete(module: griffe.Module) -> None:
    """Write the parameters that classes inherit into their docstrings, where those do not describe them."""
    for inner in module.modules.values():
        if not inner.is_alias:
            complete(inner)
    for entry in module.classes.values():
        if not entry.is_alias and entry.docstring is not None:
            entry.docstring.value = _completed(entry)


def _completed(entry: griffe.Class) -> str:
    """Return a class's docstring with the entries of its bases before its own."""
    text = entry.docstring.value if entry.docstring is not None else ""
    section = _PARAMETERS.search(text)
    entries = _entries(section)
    inherited: dict[str, str] = {}
    for base in reversed(entry.mro()):
        if base.docstring is not None:
            inherited |= _entries(_PARAMETERS.search(base.docstring.value))
    described = {name.strip() for names in entries for name in names.split(",")}
    missing = {names: words for names, words in inherited.items() if names not in described}
    # Only what the class still takes: a base may have fields that it replaces, or its own constructor may take fewer.
    constructor = entry.members.get("__init__")
    accepted = (
        set(entry.all_members)
        if constructor is None
        else {parameter.name for parameter in constructor.parameters}
    )
    missing = {names: words for names, words in missing.items() if names in accepted}
    if not missing:
        return text
    written = "Parameters\n----------\n" + "\n".join((*missing.values(), *entries.values())) + "\n\n"
    if section is not None:
        return text[: section.start()] + written + text[section.end() :]
    after = _EXAMPLES.search(text)
    at = len(text) if after is None else after.start()
    return f"{text[:at].rstrip()}\n\n{written}{text[at:]}"


def _entries(section: re.Match[str] | None) -> dict[str, str]:
    """Return the entries of a Parameters section by the names they describe."""
    if section is None:
        return {}
    parts = (part.strip("\n") for part in _ENTRY.split(section[1]) if part.strip())
    return {part.partition("\n")[0].strip(): part for part in parts}
