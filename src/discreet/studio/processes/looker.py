"""The looker: a process that holds the data of one project, so that the server holds none and outlives a crash."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from discreet.core.errors import DiscreetError, InputError

Answer = TypeVar("Answer")


class Looker:
    """A process that looks at data; what it raises or returns holds only what a page may show."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def start(self) -> None:
        """Start the process beforehand, and let it import what it will need."""
        self._running().submit(_warm)

    async def ask(self, question: Callable[..., Answer], path: str, *arguments: Any) -> Answer:
        """Return what a function of `looking` or `curves` finds; a process that died is replaced next time."""
        try:
            return await asyncio.wrap_future(self._running().submit(question, path, *arguments))
        except BrokenProcessPool:
            self.close()
            raise InputError(
                "Looking at the data ended unexpectedly, perhaps for lack of memory. Try it again."
            ) from None
        except DiscreetError as error:
            # What the file is called in the private folder says nothing to anybody.
            raise type(error)(str(error).replace(path, "The file"), fix=error.fix) from None

    def close(self) -> None:
        """End the process."""
        if self._pool is not None:
            for process in list((self._pool._processes or {}).values()):
                process.kill()
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _running(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # A fork would copy the server with its sockets and threads.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_end_with_studio)
        return self._pool


def _warm() -> None:
    import discreet.studio.processes.looking  # noqa: F401  # imported for the time that it takes


def _end_with_studio() -> None:
    """End this process, and with it the data in its memory, when the studio is killed."""
    threading.Thread(target=_wait_for_studio, daemon=True).start()


def _wait_for_studio() -> None:
    studio = multiprocessing.parent_process()
    if studio is not None:
        studio.join()
        os._exit(1)
