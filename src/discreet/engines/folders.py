"""Output folders: how an earlier one is recognized, so that no other is replaced, and the digests of their files."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from discreet.core.errors import ExistsError, OutputError


@dataclass(frozen=True)
class FolderKind:
    """A kind of output folder, with the file that marks it.

    Parameters
    ----------
    noun : str
        What errors call it.
    mark : str
        The JSON file that every folder of the kind has, with the version of Discreet under the key ``discreet``.
    private : bool
        Whether only the owner may look into it.
    lists_files : bool
        Whether the mark lists the names of other files under ``files``.
    beside : tuple of str
        The names of other files that a folder of the kind may have. A folder with any other file is not replaced,
        unless its kind neither lists files nor names any.
    """

    noun: str
    mark: str
    private: bool = False
    lists_files: bool = False
    beside: tuple[str, ...] = ()

    def recognizes(self, folder: Path) -> bool:
        """Whether a folder is of this kind and holds nothing that was not written with it, as far as that is known."""
        mark = folder / self.mark
        if mark.is_symlink() or not mark.is_file():
            return False
        state = mark.stat()
        try:
            record = _content(mark, state.st_mtime_ns, state.st_size)
        except (ValueError, RecursionError):
            return False
        if not isinstance(record, dict) or not isinstance(record.get("discreet"), str):
            return False
        if not self.lists_files and not self.beside:
            return True
        files = record.get("files") if self.lists_files else []
        if not isinstance(files, list | dict):
            return False
        written = {self.mark, *self.beside, *map(str, files)}
        return all(
            path.name in written and (not path.is_dir() or is_parts(path)) for path in folder.iterdir()
        )


@functools.lru_cache(maxsize=4)
def _content(mark: Path, changed: int, size: int) -> Any:
    """Return what a file says; a folder is looked at several times before it is replaced, and its mark is large."""
    del changed, size
    return json.loads(mark.read_bytes())


def check_replaceable(
    target: Path, named: str | os.PathLike[str], kind: FolderKind, *, overwrite: bool
) -> None:
    """Raise an OutputError unless a folder may be written at the resolved target, which errors call as the user did."""
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"{named} is a file; name a folder for the output.")
    here = Path.cwd()
    if target in (here, Path.home(), *here.parents, *Path.home().parents):
        raise OutputError(f"{named} is a folder in use; name a new one for the output.")
    if not any(target.iterdir()):
        return
    if not overwrite:
        raise folder_in_use(named)
    if not kind.recognizes(target):
        raise OutputError(
            f"{named} holds no earlier {kind.noun}, or other files too, so it is not overwritten; "
            "name another folder."
        )


def require_outside(folder: str | os.PathLike[str], *inputs: str | os.PathLike[str] | None) -> None:
    """Raise an OutputError if an input lies in the folder of the output, where it could be replaced."""
    target = Path(folder).resolve()
    if any(path is not None and target in Path(path).resolve().parents for path in inputs):
        raise OutputError(f"{folder} contains the input data; choose another output folder.")


def require_apart(target: str | os.PathLike[str], *inputs: object) -> None:
    """Raise an OutputError if a file to be written is an input, lies in a folder of inputs, or fits their pattern.

    Inputs that are no paths are passed over.
    """
    resolved = Path(target).resolve()
    for source in inputs:
        if isinstance(source, list | tuple):
            require_apart(target, *source)
        elif isinstance(source, str | os.PathLike):
            path = Path(source).resolve()
            is_input = resolved == path or fnmatch(str(resolved), str(path))
            is_same_file = resolved.exists() and path.exists() and resolved.samefile(path)
            if is_input or is_same_file or (path.is_dir() and path in resolved.parents):
                raise OutputError(f"{target} is what is read, or lies in it; name another file.")


def folder_in_use(folder: str | os.PathLike[str]) -> ExistsError:
    """Return the error for a folder that would be replaced although that is not allowed."""
    return ExistsError(
        f"{folder} is there already and not empty; name a new folder, or allow overwriting.",
        fix={"overwrite": True},
    )


RECORD, SIGNATURE, DIGESTS = "release.json", "release.json.sig", "digests.json"
_CHUNK = 1 << 20


def described_file(path: Path) -> dict[str, object]:
    """Return a file's digest and size; nothing where it is missing, or a link or a folder in its place.

    The digest of data in several Parquet files is that of what ``sha256sum *`` prints in their folder.
    """
    if is_parts(path):
        parts = {part.name: described_file(part) for part in sorted(path.iterdir())}
        lines = "".join(f"{entry['sha256']}  {name}\n" for name, entry in parts.items())
        size = sum(part.stat().st_size for part in path.iterdir())
        return {"sha256": hashlib.sha256(lines.encode()).hexdigest(), "bytes": size}
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


def is_parts(path: Path) -> bool:
    """Return whether a path is a folder of the Parquet files that a cluster wrote, and of nothing else."""
    is_folder = path.suffix == ".parquet" and path.is_dir() and not path.is_symlink()
    return is_folder and all(
        fnmatch(part.name, "part-*.parquet") and is_regular(part) for part in path.iterdir()
    )


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
