"""What the command line says to try: the options for the parameters that an error names."""

from __future__ import annotations

import ast
import pickle
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

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


_HOSTILE = ["x; touch PWNED #", "x'; touch PWNED #", "$(touch PWNED)", "a`touch PWNED`", "-k"]


@pytest.mark.parametrize("column", _HOSTILE)
@pytest.mark.parametrize("fix", ["allow", "allow_unique", "identifier", "nullable", "target"])
def test_what_is_proposed_can_be_copied_to_a_shell_whatever_a_column_is_called(column: str, fix: str) -> None:
    """The names of columns come from whoever made the file."""
    remedy = failure_of(InputError("It is wrong.", fix={fix: column})).remedy
    assert remedy is not None
    words = remedy.split(shlex.quote(column))
    assert len(words) > 1
    assert "PWNED" not in "".join(words)


def test_a_hierarchy_to_edit_names_its_column_as_a_shell_takes_it(tmp_path: Path) -> None:
    column = "x'; touch PWNED #"
    data, out = tmp_path / "evil.csv", tmp_path / "h.csv"
    data.write_text(f'"{column}",d\n' + "".join(f"{n},{n % 2}\n" for n in range(9)))
    result = CliRunner().invoke(app, ["hierarchy", "init", str(data), "--column", column, "--out", str(out)])
    assert result.exit_code == 0, result.output
    lines = [line.split("  ", 1)[-1].strip() for line in result.output.splitlines() if "PWNED" in line]
    assert shlex.split(lines[0].partition("discreet ")[2])[-1] == column
    assert shlex.split(lines[1].partition("use it with ")[2])[-1] == f"{column}={out}"
