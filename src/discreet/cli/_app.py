"""The group of commands, and the one place where an exception becomes a line and an exit code."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from discreet import __version__
from discreet.cli._command import COMMANDS, HOMES
from discreet.cli._errors import Failure, failure_of
from discreet.cli._log import log_end, log_failure
from discreet.cli._startup import was_interrupted

_EPILOG = """\b
Examples:
  discreet demo
  discreet anonymize patients.csv --quasi age,zip --sensitive disease -k 5 --out release
  discreet init patients.csv && discreet run job.toml
  discreet check published.csv --quasi age,zip --sensitive disease -k 3
  discreet anonymize baskets.dat --sensitive-items 12,47 -p 10 --out release
  discreet hide baskets.dat --rule "diapers => beer" --min-support 0.01 --min-confidence 0.3 --out release
  discreet distort baskets.dat --p 0.5 --q 0.97 --out distorted.bits
  discreet mine distorted.bits --p 0.5 --q 0.97 --min-support 0.01

\b
Exit codes: 0 success, 2 usage or input, 4 refused by a guarantee, 5 refused by --strict, 6 no release keeps the
guarantee, 7 the output is there already, 8 network, 70 internal error, 130 interrupted, 141 nobody read the output
to its end; check: 1 a guarantee is broken, 3 it is only claimed.

\b
Completion: eval "$(_DISCREET_COMPLETE=bash_source discreet)"   (or zsh_source, fish_source)"""


UNREAD = 141
"""The exit code where the output is not read to its end, as a shell has it for SIGPIPE."""


class LateCommands(Mapping[str, click.Command]):
    """The commands by name, each imported when it is looked at: a run loads the one command that it is."""

    def __getitem__(self, name: str) -> click.Command:
        home = HOMES[name]
        command: click.Command = getattr(import_module(f"discreet.cli.{home}"), home.rpartition(".")[2])
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)


class Discreet(click.Group):
    """A group whose failures are one line, with an exit code that means something."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = LateCommands()  # type: ignore[assignment]  # nothing is added to it

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order in which one meets them."""
        del ctx
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in groups, by what one wants to do."""
        del ctx
        width = formatter.width - 6 - max(map(len, self.commands))
        for purpose, members in COMMANDS.items():
            with formatter.section(purpose):
                formatter.write_dl(
                    [
                        (name, self.commands[name].get_short_help_str(width))
                        for name in HOMES
                        if HOMES[name] in members
                    ]
                )

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click itself ends with 1 where nobody reads on, which would say that a guarantee is broken."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _leave_unread()

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> NoReturn:
        """Run a command; leave with its exit code, after one line about what went wrong, if anything did."""
        arguments = list(sys.argv[1:] if args is None else args) or ["--help"]
        options |= {"standalone_mode": False, "prog_name": "discreet"}
        try:
            code = super().main(arguments, *rest, **options)
            sys.stdout.flush()
            log_end(code if isinstance(code, int) else 0)
        except BrokenPipeError:
            _leave_unread()
        except BaseException as error:  # every failure ends here, as one line
            if isinstance(error, SystemExit):
                raise
            failure = failure_of(error, debug="--debug" in arguments, interrupted=was_interrupted())
            log_failure(failure)
            _print(failure, as_json="--json" in arguments)
            sys.exit(failure.code)
        sys.exit(code if isinstance(code, int) else 0)


@click.group(cls=Discreet, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="discreet")
@click.option("--debug", is_flag=True, help="Show where an internal error happened; never any data.")
def app(debug: bool) -> None:
    """Collect, publish and mine sensitive data while protecting the people it is about."""
    del debug


def start() -> NoReturn:
    """Run the command line as a process of its own: no library may print anything by itself."""
    warnings.simplefilter("ignore")
    sys.unraisablehook = _unsaid
    threading.excepthook = _unsaid
    for output in (sys.stdout, sys.stderr):
        if hasattr(output, "reconfigure"):
            output.reconfigure(errors="backslashreplace")
    app.main()


def _unsaid(caught: object) -> None:
    """Print nothing of an exception that nobody can catch: its message may hold data."""
    del caught


def _leave_unread() -> NoReturn:
    _discard_output()
    sys.exit(UNREAD)


def _discard_output() -> None:
    """Let what is still to be printed go nowhere, so that the end of the process does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print(failure: Failure, *, as_json: bool) -> None:
    if as_json:
        import json

        try:
            click.echo(
                json.dumps({"ok": False, "verified": False, "error": failure.to_dict()}, ensure_ascii=False)
            )
            sys.stdout.flush()
        except OSError:  # the disk that the output goes to is full
            _discard_output()
        else:
            return
    click.echo(f"error: {failure.message}", err=True)
    if failure.remedy:
        click.echo(f"try: {failure.remedy}", err=True)
    for line in failure.trace:
        click.echo(line, err=True)
