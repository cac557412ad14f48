"""The log of a command: what ran, its stages, its cautions and how it ended, in lines that hold no data value."""

from __future__ import annotations

import json
import logging
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from discreet import __version__
from discreet.cli._errors import Failure

LEVELS = ("debug", "info", "warning", "error")
_LOGGER = logging.getLogger("discreet")
_STARTED = time.monotonic()
_settings: dict[str, Any] = {}
"""What the options say, and the command; empty where nothing is logged."""


class _Lines(logging.Formatter):
    """Write an event as one line: of JSON in a file, of words on a terminal."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self.as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Write the time, the level, the event and its fields."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = getattr(record, "fields", {})
        if self.as_json:
            event = {"time": moment, "level": record.levelname.lower(), "event": record.getMessage()}
            return json.dumps(event | fields, ensure_ascii=False)
        listed = " ".join(f"{name}={value}" for name, value in fields.items())
        return f"{moment} {record.levelname.lower()} {record.getMessage()} {listed}".rstrip()


def log(level: str, event: str, **fields: object) -> None:
    """Write an event into the log, if there is one; fields name stages, codes and counts, and hold no data."""
    if _settings:
        seconds = round(time.monotonic() - _STARTED, 3)
        extra = {"fields": {"command": _settings["command"], **fields, "seconds": seconds}}
        _LOGGER.log(getattr(logging, level.upper()), event, extra=extra)


def log_end(code: int) -> None:
    """Write how a command ended, and close the log."""
    log("info", "end", code=code)
    _close()


def log_failure(failure: Failure) -> None:
    """Write why a command ended, and close the log."""
    log("error", "error", code=failure.code, kind=failure.kind, message=failure.message)
    _close()


def log_options() -> list[click.Option]:
    """Return the options that every command has."""
    return [
        click.Option(
            ["--log-file"],
            type=click.Path(path_type=Path, dir_okay=False),
            expose_value=False,
            callback=_set,
            help="Append what happens to a file, a line of JSON for each event, without any data value.",
        ),
        click.Option(
            ["--log-level"],
            type=click.Choice(LEVELS),
            expose_value=False,
            callback=_set,
            help="The least level that is logged, info by default; without --log-file on the error output.",
        ),
    ]


def _set(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Take up an option; once both are known, whichever comes first, the log is opened if either was set."""
    stated = ctx.meta.setdefault("discreet.log", {})
    stated[param.name] = value
    if len(stated) == 2 and any(stated.values()) and not ctx.resilient_parsing:
        _settings.update(stated, command=ctx.info_name)
        _open(stated["log_file"], stated["log_level"] or "info")
        log("debug", "start", version=__version__)
    return value


def _open(path: Path | None, level: str) -> None:
    for handler in list(_LOGGER.handlers):
        _LOGGER.removeHandler(handler)
        handler.close()
    try:
        handler = logging.StreamHandler() if path is None else logging.FileHandler(path, encoding="utf-8")
    except OSError:
        _settings.clear()
        raise click.UsageError(f"The log {path} cannot be written.") from None
    handler.setFormatter(_Lines(as_json=path is not None))
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(level.upper())
    _LOGGER.propagate = False


def _close() -> None:
    for handler in list(_LOGGER.handlers):
        _LOGGER.removeHandler(handler)
        handler.close()
    _settings.clear()
