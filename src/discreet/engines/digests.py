"""Digests: what ties the folder of a release to its owner's folder, and shows what was changed since."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RECORD, SIGNATURE, DIGESTS = "release.json", "release.json.sig", "digests.json"
_CHUNK = 1 << 20


def described_file(path: Path) -> dict[str, object]:
    """Return a file's digest and size; nothing where it is missing, or a link or a folder in its place."""
    if not is_regular(path):
        return {}
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return {"sha256": digest.hexdigest(), "bytes": path.stat().st_size}


def is_regular(path: Path) -> bool:
    """Return whether a path is a file by itself: what a link points to may change after it was checked."""
    return path.is_file() and not path.is_symlink()


def is_readable(path: Path) -> bool:
    """Return whether a file is there and may be read; what others keep private counts as not there."""
    return os.path.isfile(path) and os.access(path, os.R_OK)  # noqa: PTH113  # Path.is_file raises where it may not look


def has_files(folder: Path) -> bool:
    """Return whether a folder is there, may be read, and holds anything."""
    return os.path.isdir(folder) and os.access(folder, os.R_OK | os.X_OK) and any(folder.iterdir())  # noqa: PTH112


def digests(record: Path, private: Path) -> dict[str, dict[str, Any]]:
    """Return the digests of a release.json, of its signature, and of every file in the owner's folder.

    The digests of all other public files are in release.json.
    """
    public = (record, record.with_name(SIGNATURE))
    return {
        "public": {
            name: described_file(path)
            for name, path in zip((RECORD, SIGNATURE), public, strict=True)
            if path.is_symlink() or path.exists()
        },
        "private": {path.name: described_file(path) for path in private.iterdir() if path.name != DIGESTS},
    }


def altered(record: Path, private: Path) -> tuple[str, ...]:
    """Return the names of files that are not those which the digests in the owner's folder were taken of."""
    own_name = f"{private.name}/{DIGESTS}"
    try:
        written = read_json(private / DIGESTS)
    except (OSError, ValueError, RecursionError):
        return (own_name,)
    now = digests(record, private)
    if not isinstance(written, dict) or set(written) != set(now) or (private / DIGESTS).is_symlink():
        return (own_name,)
    return tuple(
        f"{prefix}{name}"
        for part, prefix in (("public", ""), ("private", f"{private.name}/"))
        for name in _differing(written[part], now[part])
    )


def _differing(written: Any, now: Mapping[str, Any]) -> list[str]:
    if not isinstance(written, dict):
        return [DIGESTS]
    return [name for name in sorted({*written, *now}) if written.get(name) != now.get(name)]


def read_json(path: Path) -> Any:
    """Return what a JSON file holds; one that cannot be read, or has a key twice, raises an OSError or ValueError.

    Of two values under one key, a person or another program may take the one that was not judged.
    """
    return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_unique_keys)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("a key occurs twice")
    return entries
