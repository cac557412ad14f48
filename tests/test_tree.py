"""The tree stays one that a reader finds their way in."""

from __future__ import annotations

from pathlib import Path

import discreet

ROOT = Path(discreet.__file__).parent


def test_no_folder_holds_more_than_twenty_modules() -> None:
    folders = {path.parent for path in ROOT.rglob("*.py")}
    crowded = {
        folder.relative_to(ROOT).as_posix(): len(modules)
        for folder in folders
        if len(modules := [path for path in folder.glob("*.py") if path.stem not in ("__init__", "__main__")])
        > 20
    }
    assert crowded == {}


def test_every_folder_says_what_it_holds() -> None:
    bare = [
        path for path in ROOT.rglob("__init__.py") if not path.read_text(encoding="utf-8").startswith('"""')
    ]
    assert bare == []
