"""What the command line says to try: the options for the parameters that an error names."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import discreet
from discreet.cli._app import app
from discreet.cli._errors import _OPTIONS, failure_of
from discreet.core.errors import DiscreetError, InfeasibleError, InputError, OutputError

_SOURCE = Path(discreet.__file__).parent


def _fixes() -> Iterator[str]:
    """Return the keys of every dictionary that the source passes as ``fix``, or assigns to that name."""
    for path in _SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword | ast.Assign) and _target(node) == "fix":
                yield from _keys(node.value)


def _target(node: ast.keyword | ast.Assign) -> str | None:
    return node.arg if isinstance(node, ast.keyword) else ast.unparse(node.targets[0])


def _keys(value: ast.expr) -> Iterator[str]:
    for node in ast.walk(value):
        if isinstance(node, ast.Dict):
            yield from (key.value for key in node.keys if isinstance(key, ast.Constant))


def _flags(command: click.Command) -> Iterator[str]:
    """Return the options of a command and of those below it."""
    for parameter in command.get_params(click.Context(command)):
        yield from (*parameter.opts, *parameter.secondary_opts)
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        yield from _flags(below)


def test_every_parameter_that_mends_an_error_has_an_option() -> None:
    fixes = set(_fixes())
    assert set(_OPTIONS) <= fixes
    assert {f"--{name.replace('_', '-')}" for name in fixes - set(_OPTIONS)} <= set(_flags(app))


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (OutputError("Reworded.", fix={"overwrite": True}), "--overwrite"),
        (InputError("Reworded.", fix={"header": False}), "--no-header"),
        (
            InputError("Reworded.", fix={"encoding": "latin-1"}),
            "--encoding, for example --encoding latin-1",
        ),
        (InfeasibleError("Reworded.", fix={"max_suppressed": 0.05}), "--max-suppressed 0.05"),
        (InfeasibleError("allow max_suppressed=0.05"), None),
    ],
)
def test_hints_follow_from_the_fix_and_not_from_the_message(error: DiscreetError, hint: str | None) -> None:
    assert failure_of(error).remedy == hint
    assert failure_of(pickle.loads(pickle.dumps(error))).remedy == hint


def test_a_command_may_know_better() -> None:
    error = InputError("Reworded.", fix={"header": False})
    error.remedy = "discreet mine data"
    assert failure_of(error).remedy == "discreet mine data"
