"""Atomic writing through scratch folders: a file or a whole folder appears complete under its name, or not at all."""

from __future__ import annotations

import atexit
import contextlib
import errno
import functools
import importlib
import os
import secrets
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.errors import ExistsError, OutputError
from discreet.engines.folders import FolderKind, check_replaceable, require_apart

_PREFIX = "discreet-"
_LOCK = "lock"
_STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_fcntl: Any = importlib.import_module("fcntl") if os.name == "posix" else None


def scratch_folder() -> Path:
    """Make an owner-only folder that vanishes when the process ends.

    All of them are in one folder per process. Folders that killed processes left behind are removed, since they may
    hold data.
    """
    return Path(tempfile.mkdtemp(dir=_process_folder(os.getpid())))


def spilled_bytes() -> int:
    """Return the size of what the engine put on disk for want of memory, in the folders of this process."""
    sizes = []
    for file in _process_folder(os.getpid()).glob("*/duckdb_temp*"):
        with contextlib.suppress(OSError):
            sizes.append(file.stat().st_size)
    return sum(sizes)


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
    # Held until the process ends, however it ends: the descriptor is never closed.
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
    # A forked child has the handler too, and must leave its parent's folder alone.
    if os.getpid() == process:
        remove(folder)


_SUFFIX = ".discreet-tmp"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Return a temporary path beside the target; what is written there takes the target's name at the end.

    On any exception the temporary is removed and the old file is untouched.
    """
    with _as_output_error(path):
        target = _resolved(path)
        if target.is_dir():
            raise OutputError(f"{path} is a folder; a file is to be written there.")
        temporary = _temporary(target)
        with _guarded(temporary, _new_file):
            yield temporary
            if target.exists():
                shutil.copymode(target, temporary)
            _sync(temporary)
            temporary.replace(target)
            _sync(target.parent)


@contextlib.contextmanager
def atomic_folder(
    path: str | os.PathLike[str], kind: FolderKind, *, overwrite: bool = False
) -> Iterator[Path]:
    """Return a temporary folder beside the target, which takes the target's name at the end.

    Only the owner may look into the temporary; under its name it gets the mode of any new folder, unless its kind is
    private. A folder that is there and not empty is replaced, whole, only with ``overwrite=True`` and if it is of the
    same kind. On any exception the temporary is removed and the old folder is untouched.
    """
    with atomic_folders({path: kind}, overwrite=overwrite) as (temporary,):
        yield temporary


@contextlib.contextmanager
def atomic_folders(
    kinds: Mapping[str | os.PathLike[str], FolderKind], *, overwrite: bool = False
) -> Iterator[list[Path]]:
    """Return temporary folders for several targets, which all take their names at the end, or none does.

    What `atomic_folder` says of one holds for each. Signals wait while the names change.
    """
    with contextlib.ExitStack() as stack:
        folders = [
            stack.enter_context(_prepared(path, kind, overwrite=overwrite)) for path, kind in kinds.items()
        ]
        yield [folder.temporary for folder in folders]
        for new in folders:
            with _as_output_error(new.named):
                # Content first, names afterwards: after a crash no name stands for what the disk does not
                # have.
                for folder, _, files in os.walk(new.temporary):
                    for name in files:
                        _sync(Path(folder, name))
                    _sync(Path(folder))
                new.require_replaceable()
        with _undisturbed():
            _swap(folders)


@dataclass(frozen=True)
class _NewFolder:
    """A folder to be: where it is written, its name and mode then, and whether it may replace another."""

    temporary: Path
    target: Path
    named: str | os.PathLike[str]
    mode: int
    kind: FolderKind
    overwrite: bool

    def require_replaceable(self) -> None:
        """Raise an OutputError unless the folder may take the name of its target."""
        check_replaceable(self.target, self.named, self.kind, overwrite=self.overwrite)


@contextlib.contextmanager
def _prepared(path: str | os.PathLike[str], kind: FolderKind, *, overwrite: bool) -> Iterator[_NewFolder]:
    with _as_output_error(path):
        target = _resolved(path)
        check_replaceable(target, path, kind, overwrite=overwrite)
        temporary = _temporary(target)
        with _guarded(temporary, functools.partial(Path.mkdir, mode=0o700)):
            mode = 0o700 if kind.private else _usual_mode(temporary)
            yield _NewFolder(temporary, target, path, mode, kind, overwrite)


def _usual_mode(folder: Path) -> int:
    """Return the mode of a new folder, seen from one that is made inside another and removed again."""
    # The umask cannot be read without being set.
    probe = folder / "mode"
    probe.mkdir()
    mode = stat.S_IMODE(probe.stat().st_mode)
    probe.rmdir()
    return mode


def _resolved(path: str | os.PathLike[str]) -> Path:
    """Follow links to the real target, make the folders above it, and clear what killed runs left there."""
    target = Path(path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    _clear(target)
    return target


def require_replaceable(path: str | os.PathLike[str], kind: FolderKind, *, overwrite: bool) -> None:
    """Raise an OutputError unless a folder can be written here: only an earlier one of its kind is ever replaced."""
    with _as_output_error(path):
        check_replaceable(Path(path).resolve(), path, kind, overwrite=overwrite)


def require_new_file(target: Path, *, overwrite: bool) -> None:
    """Raise an OutputError where a file would be replaced although that is not allowed."""
    if target.exists() and not overwrite:
        raise ExistsError(
            f"{target} is there already; name a new file, or allow overwriting.", fix={"overwrite": True}
        )


def require_free_file(target: Path | None, *inputs: object, overwrite: bool) -> None:
    """Raise an OutputError where a file, if one is to be written, is an input, or is there and must not be replaced."""
    if target is not None:
        require_apart(target, *inputs)
        require_new_file(target, overwrite=overwrite)


def _clear(target: Path) -> None:
    """Remove what killed runs left beside the target; an old folder caught in mid-swap gets its name back."""
    for left in target.parent.glob(f".{_escaped(target.name)}.*{_SUFFIX}"):
        if is_abandoned(left):
            if left.name.endswith(f".old{_SUFFIX}") and not target.exists():
                left.rename(target)
            else:
                remove(left)


def _escaped(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def _temporary(target: Path, mark: str = "") -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(6)}{mark}{_SUFFIX}")


def _new_file(path: Path) -> None:
    # Where something has the name already, also a link, the file is not opened.
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))


@contextlib.contextmanager
def _guarded(temporary: Path, make: Callable[[Path], None]) -> Iterator[None]:
    """Make a temporary, lock it while it is written, and remove it if anything goes wrong."""
    descriptor = None
    try:
        make(temporary)
        descriptor = try_lock(temporary)
        yield
    except BaseException:
        with _undisturbed():
            remove(temporary)
        raise
    finally:
        if descriptor is not None:
            os.close(descriptor)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let signals that would stop the process wait until something is done whole; then the first of them counts."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _STOPPING}
    handled = {
        number: handler for number, handler in handlers.items() if handler not in (None, signal.SIG_IGN)
    }
    for number in handled:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def _swap(folders: Sequence[_NewFolder]) -> None:
    """Rename new folders into where the old ones were, which are locked until they are removed; all or none."""
    olds: list[Path] = []
    # Whatever fails, `back` takes back the names that were changed, the last first.
    with contextlib.ExitStack() as back, contextlib.ExitStack() as locks:
        for new in folders:
            with _as_output_error(new.named):
                if new.overwrite and new.target.exists():
                    descriptor = try_lock(new.target)
                    if descriptor is not None:
                        locks.callback(os.close, descriptor)
                    olds.append(_temporary(new.target, ".old"))
                    new.target.rename(olds[-1])
                    back.callback(olds[-1].rename, new.target)
                _rename(new)
                back.callback(new.target.rename, new.temporary)
                new.target.chmod(new.mode)
                _sync(new.target.parent)
        back.pop_all()
        for old in olds:
            remove(old)


def _rename(new: _NewFolder) -> None:
    """Give a new folder its name, where none stands or an empty one: another run may have come first just now."""
    if os.name == "nt":  # elsewhere an empty folder is replaced, and a full one never
        with contextlib.suppress(OSError):
            new.target.rmdir()
    try:
        new.temporary.rename(new.target)
    except OSError:
        new.require_replaceable()
        raise


def _sync(path: Path) -> None:
    """Have the disk keep a file, or a folder's entries, before going on."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _as_output_error(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {write_failure(error)}.") from None


def write_failure(error: Exception) -> str:
    """Return why writing failed; a library's own message may contain data, so it is never shown."""
    code = error.errno if isinstance(error, OSError) else None
    words = str(error)
    if code in _FULL or "No space left" in words or "File too large" in words or "quota exceeded" in words:
        return "the disk is full"
    if code in (errno.EACCES, errno.EPERM, errno.EROFS) or "Permission denied" in words:
        return "permission denied"
    if code in (errno.ENOTDIR, errno.EEXIST):
        return "there is a file where a folder is needed"
    if code:
        return os.strerror(code)
    return f"the frame does not fit the format, or could not be computed ({type(error).__name__})"
