"""Every public function, class and method, with a value planted in every argument: no error shows it."""

from __future__ import annotations

import inspect
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from discreet.core.boundary import is_public
from tests.planted_values import called, entries, holds_a_plant, is_ours, methods, planted

_NAMES = {
    "path",
    "sign",
    "source",
    "folder",
    "column",
    "columns",
    "names",
    "label",
    "of",
    "on",
    "person",
    "weight",
    "household",
    "text",
    "include",
    "exclude",
    "basket",
    "item",
    "weights",
    "lowest",
    "highest",
    "levels",
    "params",
    "changes",
    "options",
    "channels",
    "parameter",
    "lhs",
    "rhs",
}
"""Arguments that name files, columns and items: the user's own words, which an error may repeat."""
_ALONE = {
    *("add_noise", "flip", "report_category", "report_ratings", "report_unary"),
    *("sketch_by_delta", "sketch_record"),
}
"""Clients, which stand alone in one file and raise ValueErrors of their own."""
ENTRIES = entries()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted value may be taken for the name of a file to write."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_every_public_entry_is_marked(name: str) -> None:
    entry = ENTRIES[name]
    plain = isinstance(entry, type) and issubclass(entry, BaseException | Enum)
    assert plain or name in _ALONE or is_public(entry)
    assert not inspect.isgeneratorfunction(entry)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_no_error_of_a_function_or_constructor_shows_a_value(name: str, tmp_path: Path) -> None:
    entry = ENTRIES[name]
    if isinstance(entry, type) and issubclass(entry, BaseException | Enum):
        pytest.skip("not called with data")
    _attack(name, entry, tmp_path)


@pytest.mark.parametrize("name", sorted(methods()))
def test_no_error_of_a_method_shows_a_value(name: str, tmp_path: Path) -> None:
    _attack(name, methods()[name], tmp_path)


def _attack(name: str, entry: Any, folder: Path) -> None:
    for argument in inspect.signature(entry).parameters:
        for value in planted():
            if isinstance(value, int | float) and argument not in _DATA:
                continue
            for error, where in called(name, entry, argument, value, folder):
                if argument in _NAMES:
                    continue
                assert name in _ALONE or is_ours(error), (where, argument, type(error))
                assert not holds_a_plant(error), (where, argument, type(value), type(error))


_DATA = {
    "X",
    "y",
    "x",
    "record",
    "level",
    "value",
    "values",
    "category",
    "data",
    "frame",
    "rows",
    "noisy",
    "truth",
}
"""Arguments that hold data even where they hold one number; other numbers are parameters, which an error may show."""
