"""Help: instant, complete, and without the libraries that do the work."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from discreet import __version__
from discreet.cli._app import app

OPTIONS = [
    "--delimiter",
    "--encoding",
    "--decimal",
    "--thousands",
    "--null",
    "--dates",
    "--no-header",
    "--text",
]
HEAVY = ("numpy", "pyarrow", "numba", "duckdb", "scipy", "altair", "narwhals", "pandas", "polars", "rich")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import atexit, sys\nsys.argv = ['discreet', '--help']\nfrom discreet.cli import main\n"
        f"atexit.register(lambda: print('heavy:', [name for name in {HEAVY} if name in sys.modules]))\n"
        "main()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.rstrip().endswith("heavy: []")


@pytest.mark.parametrize("command", list(app.commands))
def test_every_command_explains_itself(invoke, command: str) -> None:
    result: Result = invoke(command, "--help")
    assert result.exit_code == 0
    assert f"discreet {command}" in result.output
    assert "Example" in result.output
    assert "--json" in result.output
    assert "--quiet" in result.output


@pytest.mark.parametrize("command", ["explore", "anonymize", "init", "check", "risk", "apply"])
def test_every_reading_command_takes_the_reading_options(invoke, command: str) -> None:
    shown = invoke(command, "--help").output
    for option in OPTIONS:
        assert option in shown


def test_version(invoke) -> None:
    assert invoke("--version").output == f"discreet, version {__version__}\n"


def test_without_arguments_there_is_help(invoke) -> None:
    result = invoke()
    assert result.exit_code == 0
    assert "Completion:" in result.output


def test_the_console_script_and_the_module_are_the_same(process) -> None:
    assert process("--version").stdout == f"discreet, version {__version__}\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("chekc",), "chekc"),
        (("check",), "DATA"),
        (("check", "x.csv", "--sneaky"), "--sneaky"),
        (("anonymize", "x.csv", "--quasi", "a", "-k", "five", "--out", "o"), "five"),
    ],
)
def test_wrong_usage_is_two_lines(process, args: tuple[str, ...], words: str) -> None:
    ran = process(*args)
    assert ran.returncode == 2
    assert ran.stdout == ""
    error, hint = ran.stderr.splitlines()
    assert error.startswith("error: ")
    assert words in error
    assert hint.startswith("try: discreet")


def test_every_command_and_method_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name in app.commands:
        assert f"`discreet {name}`" in page
        assert f"$ discreet {name}" in page
    commands = [
        part for one in app.commands.values() for part in (one, *getattr(one, "commands", {}).values())
    ]
    known = {flag for one in commands for param in one.params for flag in param.opts}
    assert set(re.findall(r"(?<!-)--[a-z][a-z-]+", page)) <= known | {"--help"}
