"""The one way a kernel is compiled: cached on disk, and without the interpreter's lock so that threads may drive it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import os
import pickle
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import llvmlite
import numba
from numba.core.caching import FunctionCache
from numba.core.ccallback import CFunc
from numba.core.environment import Environment, _rebuild_env, lookup_environment
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from discreet.kernels import listeners

_SOURCES = Path(__file__).parent
_DIGEST_BYTES = hashlib.sha256().digest_size


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over arrays; the first call of a machine compiles, later ones read the cache.

    Where no folder can be written for the cache, as for users without a home, every process compiles.
    """
    return _cached(numba.njit(nogil=True, _nrt=True)(function), function)


def compiled_step(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a step of a kernel that makes no arrays, without counting who refers to those it gets.

    Numba counts references by atomic additions wherever a function takes arrays, some dozens for a tuple of them. In
    a step that other kernels take millions of times, they cost more than the work.
    """
    return _cached(numba.njit(nogil=True, _nrt=False)(function), function)


def _cached(kernel: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    with contextlib.suppress(RuntimeError):
        kernel._cache = KernelCache(function)
    return cast("Callable[..., Any]", kernel)


def compiled_callback(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that C code calls, through the same cache."""

    def compile_callback(function: Callable[..., Any]) -> Any:
        callback = CFunc(function, normalize_signature(signature), locals={}, options={})
        with contextlib.suppress(RuntimeError):
            callback._cache = KernelCache(function)  # type: ignore[attr-defined]
        callback.compile()
        return callback

    return compile_callback


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function, with entries that cannot be stale or mixed up.

    Numba looks only at the file that a kernel is written in: after a change in a kernel that it calls from another
    file, the old callee goes on running inside it. And Numba numbers the entries of a kernel in an index: two processes
    that compile at the same time can write their code under one number, and the code for one type of array then runs on
    another. Here, an entry is named by the digest of all kernel sources and by what it was compiled for, and there is
    no index.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # Kernels of other packages bring a file of theirs.
        kernel_file = repr(self._impl.locator.get_source_stamp()).encode()
        stamp = hashlib.sha256(_digest_at_start() + kernel_file).hexdigest()
        self._cache_file = _Entries(Path(self._cache_path), self._impl.filename_base, stamp[:16])

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached code for a signature, made callable; None where it must be compiled.

        Numba gathers all that its compiler knows before it looks whether there is anything to compile, which takes
        half as long as importing it. Here it does so after a miss. Code that was compiled needs its runtime alone.
        """
        with contextlib.suppress(Exception):
            rtsys.initialize(target_context)
            loaded = self._load_overload(sig, target_context)
            if loaded is not None:
                return loaded
        missed = super().load_overload(sig, target_context)
        if missed is None:
            _announce(True)
        return missed

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled."""
        _announce(False)
        super().save_overload(sig, data)


def _announce(is_compiling: bool) -> None:
    for listener in listeners:
        listener(is_compiling)


class _Unpickler(pickle.Unpickler):
    """Read compiled code without importing the modules of Numba that its parts were compiled from.

    A part looks into the globals of its module only while it runs in the interpreter, which kernels never do.
    """

    def find_class(self, module: str, name: str) -> Any:
        """Return what an entry refers to by name."""
        return _environment if name == _rebuild_env.__name__ else super().find_class(module, name)


def _environment(module: str, constants: Any, name: str) -> Any:
    """Return the constants of a compiled part."""
    if not module.startswith("numba."):
        return _rebuild_env(module, constants, name)
    known = lookup_environment(name)
    if known is None:
        known = Environment({"__name__": module})
        known.consts[:] = constants
        known.env_name = name
        Environment._memo[name] = known
    return known


class _Entries:
    """The compiled forms of one kernel: a file for each, ``<kernel>.<digest of sources>-<digest of types>.nbc``."""

    def __init__(self, folder: Path, kernel: str, stamp: str) -> None:
        self._folder, self._kernel, self._stamp = folder, kernel, stamp

    def load(self, key: Any) -> Any:
        """Return the code compiled for a key; None where there is none, or where its file is damaged."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        digest, body = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(body).digest() != digest:
            return None
        stored_key, code = _Unpickler(io.BytesIO(body)).load()
        # Two keys may have the same text: function types show an address.
        return code if stored_key == key else None

    def save(self, key: Any, code: Any) -> None:
        """Write the code compiled for a key, all or nothing; a folder that cannot be written is no error."""
        # A pull or an edit while this process ran: its modules may be older or newer than the digest at its start.
        if _source_digest() != _digest_at_start():
            return
        body = dumps((key, code))
        with contextlib.suppress(OSError):
            self._remove_stale()
            descriptor, name = tempfile.mkstemp(dir=self._folder, prefix=f"{self._kernel}.{self._stamp}-")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(hashlib.sha256(body).digest() + body)
                Path(name).replace(self._path(key))
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise

    def flush(self) -> None:
        """Remove every entry of the kernel."""
        for path in self._folder.glob(f"{self._kernel}.*"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        types = hashlib.sha256(repr(key).encode()).hexdigest()
        return self._folder / f"{self._kernel}.{self._stamp}-{types[:32]}.nbc"

    def _remove_stale(self) -> None:
        """Remove entries of other versions of the sources, and Numba's own; a process that reads one compiles anew."""
        for path in self._folder.glob(f"{self._kernel}.*"):
            if not path.name.startswith(f"{self._kernel}.{self._stamp}-"):
                path.unlink(missing_ok=True)


@functools.cache
def _digest_at_start() -> bytes:
    """Return the digest of the sources when this process first compiled or loaded a kernel."""
    return _source_digest()


def _source_digest() -> bytes:
    """Return a digest of all kernel sources and of what turns them into machine code.

    Any kernel may call any other, and constants are compiled into their users, so that all sources count for each.
    Which processor the code is for stands in the key of an entry.
    """
    versions = (
        numba.__version__,
        llvmlite.__version__,
        platform.python_implementation(),
        platform.python_version(),
    )
    digest = hashlib.sha256(repr(versions).encode())
    for path in sorted(_SOURCES.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"\0{path.relative_to(_SOURCES)}\0{len(content)}\0".encode() + content)
    return digest.digest()
