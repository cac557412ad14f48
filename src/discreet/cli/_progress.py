"""Progress: a bar over the stages of long work, on stderr, only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.cli._interruption import stop_if_asked


@contextmanager
def stages(total: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show a bar that moves one step with each new stage told to it; after a colon a stage says how far it is."""
    if quiet or not sys.stderr.isatty():
        yield _unseen
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    shown = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Starting", total=total, completed=-1)

        def tell(stage: str) -> None:
            stop_if_asked()
            bar.update(task, description=stage, advance=0 if ":" in stage else 1)

        yield tell


def _unseen(stage: str) -> None:
    del stage
    stop_if_asked()
