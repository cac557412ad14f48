"""Public names of a package, listed once in its ``__init__.pyi`` and loaded when they are first used."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path


def exported(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose stub imports its public names.

    Type checkers read the stub; at run time each name is imported from its module when it is first used. A name that
    is also that of its module is loaded at once, since importing the module would hide it.

    Parameters
    ----------
    package
        ``__name__`` of the package.
    file
        ``__file__`` of the package; the stub lies beside it.

    Examples
    --------
    >>> import discreet
    >>> load, listed, names = exported("discreet", discreet.__file__)
    >>> load("Verdict").__name__, "Verdict" in names
    ('Verdict', True)
    """
    homes = _homes(Path(file).with_suffix(".pyi"), package)

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    for name, home in homes.items():
        if home == f"{package}.{name}":
            load(name)
    return load, lambda: sorted({*vars(sys.modules[package]), *homes}), sorted(homes)


def _homes(stub: Path, package: str) -> dict[str, str]:
    """Return the module of each name that a stub imports by ``from module import name as name``."""
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    return {
        alias.name: resolve_name("." * node.level + (node.module or ""), package)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
