"""The files that fitting and predicting share: tables of rows, channels, and saved models."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli import _parse_options as gather

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.collect import Channels


def rows_of(data: Path, given: Mapping[str, Any]) -> pa.Table:
    """Read a file into memory, as the reading options say."""
    from discreet.core.engine import arrow_table
    from discreet.engines.files import read
    from discreet.job.parse import reading_from

    return arrow_table(read(data, **reading_from(gather.reading(given))))


def require_columns(rows: pa.Table, names: list[str], data: Path) -> None:
    """Refuse names of columns that the file does not have."""
    from discreet.core.errors import SchemaError

    missing = [name for name in names if name not in rows.column_names]
    if missing:
        raise SchemaError(f"{data} has no column {', '.join(repr(name) for name in missing)}.")


def channels_of(path: Path) -> Channels:
    """Read the channels of hidden columns from a JSON or TOML file."""
    from discreet.collect.saved_channels import channels_from_dict

    return channels_from_dict(plain_of(path))


def plain_of(path: Path) -> dict[str, Any]:
    """Read a file of plain data, JSON or, where its name ends so, TOML; its contents are never shown."""
    from discreet.core.errors import InputError

    try:
        text = path.read_text(encoding="utf-8")
        plain = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{path} cannot be read as JSON, or as TOML where its name ends in .toml.") from None
    if not isinstance(plain, dict):
        raise InputError(f"{path} holds no table of names and values.")
    return plain


def write_plain(plain: Mapping[str, Any], out: Path) -> None:
    """Write plain data as JSON, all or nothing."""
    from discreet.engines.atomic import atomic_file

    with atomic_file(out) as temporary:
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1)
        temporary.write_text(f"{text}\n", encoding="utf-8")
