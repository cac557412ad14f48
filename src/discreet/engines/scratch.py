"""Private scratch space: owner-only temporary folders, and locks that detect abandoned ones."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

_PREFIX = "discreet-"
_LOCK = "lock"

_fcntl: Any = importlib.import_module("fcntl") if os.name == "posix" else None


def scratch_folder() -> Path:
    """Make an owner-only folder that vanishes when the process ends.

    All of them are in one folder per process. Folders that killed processes left behind are removed, since they may
    hold data.
    """
    return Path(tempfile.mkdtemp(dir=_process_folder(os.getpid())))


def try_lock(path: Path) -> int | None:
    """Lock a file or folder while the returned descriptor stays open; None where it cannot be locked."""
    if _fcntl is None:
        return None
    descriptor = os.open(path, os.O_RDONLY)
    try:
        _fcntl.flock(descriptor, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def is_abandoned(path: Path) -> bool:
    """Return whether nobody holds the file or folder any more."""
    try:
        descriptor = try_lock(path)
    except OSError:
        return False
    if descriptor is None:
        return False
    os.close(descriptor)
    return True


def remove(path: Path) -> None:
    """Remove a file or a whole folder, also where it is read-only; quietly if it is already gone."""
    if path.is_dir() and not path.is_symlink():
        for folder, inner, _ in os.walk(path):
            for entry in (Path(folder), *(Path(folder, name) for name in inner)):
                with contextlib.suppress(OSError):
                    if not entry.is_symlink():
                        entry.chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


@functools.cache
def _process_folder(process: int) -> Path:
    parent = Path(tempfile.gettempdir())
    _sweep(parent)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{process}-", dir=parent))
    lock = folder / _LOCK
    lock.touch(mode=0o600)
    try_lock(lock)
    atexit.register(_forget, folder, process)
    return folder


def _sweep(parent: Path) -> None:
    """Remove the scratch folders of this user whose process was killed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = folder / _LOCK
            if lock.stat().st_uid == os.getuid() and is_abandoned(lock):
                remove(folder)


def _forget(folder: Path, process: int) -> None:
    if os.getpid() == process:
        remove(folder)
