"""Failures: what a user reads when something goes wrong. One line, no traceback, never a data value."""

from __future__ import annotations

import errno
import os
import shlex
import traceback
from dataclasses import dataclass
from pathlib import Path

import click

from discreet.cli._startup import INTERRUPTED, INTERRUPTION, Interrupted
from discreet.core.boundary import library_frames
from discreet.core.errors import DiscreetError, InternalError

MEND, BUG = 2, 70
BROKEN, CLAIMED = 1, 3
CODES = {
    "PromiseBrokenError": 4,
    "StrictError": 5,
    "InfeasibleError": 6,
    "ExistsError": 7,
    "NetworkError": 8,
    "PeerLostError": 8,
    "LostPartyError": 8,
    "TooFewPartiesError": 8,
}
"""The exit code by the cause, which the class of an error names; what a user must mend otherwise ends with 2."""

_OPTIONS = {
    "allow": "--identifier {0} to drop it, or --allow {0} (a job file: allow = […] under [output])",
    "allow_unique": "--allow-unique {}",
    "domains": "--domain COLUMN=0:100:5, --domain COLUMN=F,M or --domain COLUMN=file:values.txt for {}",
    "encoding": "--encoding, for example --encoding {}",
    "format": "--format {0}; with anonymize, check and risk --basket-format {0}; for a table of texts, sketch --column",
    "header": "--no-header",
    "identifier": "--identifier {0} (with perturb and fit --drop {0}), or --text {0}",
    "keep_empty": "--keep-empty",
    "max_suppressed": "--max-suppressed {:g}",
    "time_limit": "--time-limit {:g}",
}
"""The options for the parameters that an error names as its fix."""


@dataclass(frozen=True)
class Failure:
    """An exit code, one line about what is wrong, and one about what to do."""

    code: int
    kind: str
    message: str
    remedy: str | None = None
    trace: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the failure as plain data for JSON."""
        fields: dict[str, object] = {"code": self.code, "kind": self.kind, "message": self.message}
        return fields | ({"try": self.remedy} if self.remedy else {})


def failure_of(error: BaseException, *, debug: bool = False, interrupted: bool = False) -> Failure:
    """Find the words for an exception; the message of one that is not ours may hold data and is never shown."""
    trace = _places(error) if debug else ()
    if interrupted or isinstance(error, click.Abort | KeyboardInterrupt | Interrupted):
        return Failure(INTERRUPTED, "Interrupted", INTERRUPTION, trace=trace)
    if isinstance(error, click.ClickException):
        return _usage(error)
    kind = type(error).__name__
    if isinstance(error, DiscreetError):
        return Failure(exit_code(error), kind, one_line(str(error)), remedy_for(error), trace)
    if isinstance(error, MemoryError):
        return Failure(
            MEND, kind, "there is not enough memory.", "a machine with more, or fewer columns", trace
        )
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS):
        return Failure(MEND, kind, f"the system refused: {os.strerror(error.errno)}.", trace=trace)
    inner = f": {one_line(str(error))}" if isinstance(error, InternalError) else ""
    return Failure(
        BUG,
        kind,
        f"this is an internal error ({kind}{_place(error)}){inner}; nothing was written.",
        "the same with --debug (discreet --debug COMMAND …), and report what it shows as CONTRIBUTING.md says",
        trace,
    )


def exit_code(error: DiscreetError) -> int:
    """Return the exit code for a mistake: that of its class, or of the nearest class above."""
    return next((CODES[each.__name__] for each in type(error).__mro__ if each.__name__ in CODES), MEND)


def remedy_for(error: DiscreetError) -> str | None:
    """Return the options that would mend a mistake."""
    # Names of columns are somebody's data, and what is proposed is copied to a shell.
    fix = {name: shlex.quote(value) if isinstance(value, str) else value for name, value in error.fix.items()}
    options = [
        _OPTIONS[name].format(value) if name in _OPTIONS else _as_option(name, value)
        for name, value in fix.items()
    ]
    return error.remedy or " ".join(options) or None


def _as_option(name: str, value: object) -> str:
    """Return an option with its value; a flag has none."""
    flag = f"--{name.replace('_', '-')}"
    return flag if value is True else f"{flag} {value}"


def one_line(text: str) -> str:
    r"""Bring a message to one line that is safe for a terminal.

    >>> one_line("a\nb\x1b[31m")
    'a; b\\x1b[31m'
    """
    joined = "; ".join(line for line in text.splitlines() if line.strip())
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in joined)


def _usage(error: click.ClickException) -> Failure:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "discreet"
    message = one_line(error.format_message())
    return Failure(MEND, "UsageError", message, getattr(error, "remedy", None) or f"{path} --help")


def _places(error: BaseException) -> tuple[str, ...]:
    """Return the places an exception came through, without its message and without any variable."""
    frames = traceback.extract_tb(error.__traceback__)
    return tuple(f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)


def _place(error: BaseException) -> str:
    frames = library_frames(error) or list(traceback.extract_tb(error.__traceback__))
    return f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
