"""Help: instant, complete, and without the libraries that do the work."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import Result

from discreet import __version__
from discreet.cli._app import app
from discreet.cli._command import COMMANDS as PURPOSES
from discreet.cli._command import HOMES, Command, group_of
from discreet.core.registry import METHODS, RELEASING

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


@pytest.mark.parametrize(
    "args", [["--help"], ["anonymize", "--help"], ["anonymize", "--help-all"], ["hide", "-h"]]
)
def test_help_imports_nothing_heavy(args: list[str]) -> None:
    code = (
        f"import atexit, sys\nsys.argv = ['discreet', *{args}]\nfrom discreet.cli import main\n"
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
    # The studio is a page: it prints an address and nothing else.
    if command != "studio":
        assert "--json" in result.output
        assert "--quiet" in result.output


@pytest.mark.parametrize("command", ["explore", "anonymize", "init", "check", "risk", "apply"])
def test_every_reading_command_takes_the_reading_options(invoke, command: str) -> None:
    shown = invoke(command, "--help").output + invoke(command, "--help-all").output
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
    known = {
        flag for one in commands for param in one.params for flag in (*param.opts, *param.secondary_opts)
    }
    assert set(re.findall(r"(?<!-)--[a-z][a-z-]+", page)) <= known | {
        "--help",
        "--help-all",
        "--log-file",
        "--log-level",
    }


COMMANDS = [
    (f"{name} {inner}".strip(), found)
    for name, one in app.commands.items()
    for inner, found in getattr(one, "commands", {"": one}).items()
]


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_option_has_words(name: str, command: click.Command) -> None:
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            assert option.help, f"{name} {option.opts}"
            assert len(option.help) > len("Words."), f"{name} {option.opts}"
            # What Python calls None is an option that is left out.
            assert not re.search(r"\bNone\b", option.help), f"{name} {option.opts}"


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_command_has_a_log(name: str, command: click.Command) -> None:
    flags = {flag for option in command.get_params(click.Context(command)) for flag in option.opts}
    assert {"--log-file", "--log-level"} <= flags


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_help_shows_the_essentials_and_help_all_every_group(
    invoke, name: str, command: click.Command
) -> None:
    if not isinstance(command, Command) or not command.essentials:
        return
    assert 8 <= len(command.essentials) <= 12
    flags = {flag for option in command.params for flag in option.opts}
    assert set(command.essentials) <= flags
    short, full = (invoke(*name.split(), flag).output for flag in ("--help", "--help-all"))
    assert f"more options: discreet {name} --help-all" in short
    for group in {group_of(option) for option in command.params if isinstance(option, click.Option)}:
        assert f"\n{group}:\n" in full
    assert not [flag for flag in flags if flag.startswith("--") and flag != "--debug" and flag not in full]


@pytest.mark.parametrize("name", ["init", "apply", "distort"])
def test_help_all_is_known_where_help_shows_everything(invoke, name: str) -> None:
    full = invoke(name, "--help-all")
    assert full.exit_code == 0
    assert full.output == invoke(name, "--help").output


def test_the_commands_stand_under_what_one_wants(invoke) -> None:
    shown = invoke("--help").output
    places = [shown.index(f"{purpose}:") for purpose in PURPOSES]
    assert places == sorted(places)
    named = [home for members in PURPOSES.values() for home in members]
    assert sorted(named) == sorted(HOMES.values())
    assert [command.name for command in app.commands.values()] == list(HOMES)
    assert len(named) == len(set(named))


@pytest.mark.parametrize("method", METHODS)
def test_every_parameter_of_a_publisher_or_hider_can_be_set(method: str) -> None:
    spec = METHODS[method]
    command = {"table": "anonymize", "baskets": "anonymize", "stream": "stream", "records": "sketch"}
    command["cells"] = "tabulate"
    if spec.role not in RELEASING or spec.takes == ("linked-tables",):
        return  # linked tables are described by job files alone
    name = "hide" if spec.role == "hider" else command[spec.takes[0]]
    own = {"condensation": "condense", "uncertain": "uncertain", "mst": "synthesize", "aim": "synthesize"}
    found = app.commands[own.get(method, name)]
    found = found.commands["condense"] if isinstance(found, click.Group) else found
    flags = {flag for option in found.params for flag in (*option.opts, *option.secondary_opts)}
    elsewhere = {"weights": "--weight", "bounds": "--columns"}
    for parameter in spec.options():
        if parameter != "progress":
            assert elsewhere.get(parameter, spec.flag(parameter).split("/")[0]) in flags, parameter
