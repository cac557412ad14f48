"""State files of streams: a versioned header, arrays and a checksum; written whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.boundary import reads
from discreet.core.errors import InputError
from discreet.engines.atomic import atomic_file
from discreet.engines.files import reason

VERSION = 1
_MAGIC = b"discreet stream\n"
_MODE = 0o600
"""Statistics of few records are nearly records: only the owner may read them."""
_WORD = 8
_DIGEST = hashlib.sha256().digest_size
_TYPES = {"n": "<i8", "levels": "<i8", "largest": "<i8", "counts": "<i8", "whole": "|u1"}
"""The types of arrays; any other holds ``<f8``."""


@dataclass(frozen=True, repr=False)
class StateFile:
    """What a state file holds: plain data about the stream, and arrays of statistics."""

    header: Mapping[str, Any]
    arrays: dict[str, Any]


def replace_state(target: Path, data: bytes | None) -> None:
    """Write the bytes of a state file, all or nothing; None removes it."""
    if data is None:
        target.unlink()
        return
    with atomic_file(target) as temporary:
        temporary.chmod(_MODE)
        temporary.write_bytes(data)
    target.chmod(_MODE)


def keep_private(path: str | os.PathLike[str]) -> None:
    """Let only the owner read a state that is there already, whoever could before; another's file stays as it is."""
    with contextlib.suppress(OSError):
        Path(path).chmod(_MODE)


def read_state(path: str | os.PathLike[str]) -> StateFile:
    """Read a state file; one that is cut short, altered or of another version is refused."""
    source = Path(path)
    try:
        data = source.read_bytes()
    except OSError as error:
        raise InputError(f"{source} cannot be read: {reason(error)}.") from None
    return state_from_bytes(data, display_path=source)


def state_to_bytes(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> bytes:
    """Return the bytes of a state file."""
    contiguous = {name: np.ascontiguousarray(array, _type(name)) for name, array in arrays.items()}
    described = dict(header) | {"arrays": {name: list(array.shape) for name, array in contiguous.items()}}
    text = json.dumps(described, ensure_ascii=False, allow_nan=False).encode()
    parts = [
        _MAGIC,
        _number(VERSION),
        _number(len(text)),
        text,
        *(array.tobytes() for array in contiguous.values()),
    ]
    body = b"".join(parts)
    return body + hashlib.sha256(body).digest()


@reads("The state of the stream")
def state_from_bytes(data: bytes, *, display_path: Path) -> StateFile:
    """Read the bytes of a state file."""
    start = len(_MAGIC) + 2 * _WORD
    if not data.startswith(_MAGIC):
        raise InputError(f"{display_path} is no state of a stream.")
    if len(data) < start + _DIGEST:
        raise InputError(f"{display_path} is cut short: the state of a stream is longer.")
    version = _read(data, len(_MAGIC))
    if version != VERSION:
        raise InputError(
            f"{display_path} was written in version {version} of the format; this program reads {VERSION}."
        )
    body = memoryview(data)[:-_DIGEST]
    if hashlib.sha256(body).digest() != data[-_DIGEST:]:
        raise InputError(f"{display_path} is cut short or was altered: its checksum does not fit.")
    try:
        position = start + _read(data, len(_MAGIC) + _WORD)
        header: dict[str, Any] = json.loads(bytes(body[start:position]))
        arrays = {}
        for name, shape in header.pop("arrays").items():
            kind = np.dtype(_type(name))
            count = int(np.prod(shape, dtype=np.int64))
            # A copy, in the machine's own order of bytes: what `frombuffer` returns cannot be written to.
            arrays[name] = (
                np.frombuffer(body, kind, count, position).reshape(shape).astype(kind.newbyteorder("="))
            )
            position += count * kind.itemsize
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(f"{display_path} cannot be read as the state of a stream.") from None
    return StateFile(header, arrays)


def _type(name: str) -> str:
    return _TYPES.get(name, "<f8")


def _number(value: int) -> bytes:
    return value.to_bytes(_WORD, "little")


def _read(data: bytes, position: int) -> int:
    return int.from_bytes(data[position : position + _WORD], "little")
