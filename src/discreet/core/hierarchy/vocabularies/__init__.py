"""Vocabularies: scales of words, diagnosis codes and the words of column names, as data files read when needed."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def vocabulary(name: str) -> dict[str, Any]:
    """Return a vocabulary, read from its file the first time.

    >>> sorted(vocabulary("icd"))
    ['10', '9']
    """
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
