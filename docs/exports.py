"""Documentation: what a stub ``__init__.pyi`` imports is what its package exports."""

from __future__ import annotations

from typing import Any

import griffe


class Exports(griffe.Extension):
    """Mark the names that stubs import as public names of their packages."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Set what every package exports, once all its modules are loaded."""
        for module in [pkg, *pkg.modules.values()]:
            names = [name for name, one in module.members.items() if one.is_alias and not one.runtime]
            for name in names:
                module.members[name].runtime = True
            if names:
                module.exports = sorted(names)
