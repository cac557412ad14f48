"""Running a stream: batch after batch into a state, which is saved regularly together with the position."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.core.params import FloatIn, InstanceOf, IntIn, require
from discreet.engines.streams.kafka import LostPartitionsError
from discreet.engines.streams.lines import RecordSource
from discreet.engines.streams.states import keep_private, replace_state
from discreet.publish.pseudo.stream_condensation import StreamCondensation

LIMIT = 1000
"""How many records are read at a time."""


@dataclass
class StreamProgress:
    """What a run came to: records taken, lines left out, snapshots written."""

    records: int = 0
    skipped: int = 0
    snapshots: int = 0


OnBatch = Callable[[StreamProgress], None]


def condense_stream(
    stream: StreamCondensation,
    source: RecordSource,
    *,
    state: str | os.PathLike[str] | None = None,
    snapshot_every: int = 10_000,
    records: int | None = None,
    idle: float | None = None,
    progress: OnBatch | None = None,
) -> StreamProgress:
    """Condense the records of a source until it ends, and close the source.

    No batch is read before the one before it is condensed. A state is saved whole with the source's position, and
    only then the source may forget what it delivered. On an error or an interruption the state is saved as of the
    last batch that went in whole. The first ``init_number`` records are in no state before they are condensed; at the
    end of the source those that came are condensed, where they are enough. The state is for its owner's eyes alone,
    also where no record comes.

    Parameters
    ----------
    stream
        What the records join.
    source
        Where they come from.
    state
        The file for snapshots; None saves nothing.
    snapshot_every
        How many records are between two snapshots.
    records
        Stop after this many records.
    idle
        Stop when nothing has come for this many seconds, where the source reports that.
    progress
        Called after every batch.
    """
    try:
        require("condense_stream", "snapshot_every", snapshot_every, IntIn(1))
        require("condense_stream", "records", records, IntIn(1), InstanceOf((type(None),), "None"))
        require("condense_stream", "idle", idle, FloatIn(0), InstanceOf((type(None),), "None"))
        run = _Run(stream, source, None if state is None else Path(state), snapshot_every)
        if hasattr(source, "on_leave"):
            source.on_leave, source.on_loss = run.leave, run.roll_back  # type: ignore[attr-defined]
        run.guarded(records, idle, progress)
    finally:
        source.close()
    return run.progress


class _Run:
    """A run in progress; ``settled`` while the state holds all records up to the position, and no others."""

    def __init__(
        self, stream: StreamCondensation, source: RecordSource, state: Path | None, snapshot_every: int
    ) -> None:
        self.stream = stream
        self.source = source
        self.state = state
        self.snapshot_every = snapshot_every
        self.progress = StreamProgress()
        self.position = source.position()
        self.settled = True
        self.unsaved = 0
        self.backup = (
            stream.to_bytes(self.position) if stream.__sklearn_is_fitted__() else None,
            replace(self.progress),
        )
        """The stream, and what was read, as of the last snapshot or the beginning."""
        if state is not None:
            keep_private(state)

    def guarded(self, records: int | None, idle: float | None, progress: OnBatch | None) -> None:
        """Read to the end; whatever goes wrong, what went in whole is saved."""
        try:
            self.read(records, idle, progress)
        except BaseException:
            if self.settled:
                self.snapshot()
            raise

    def read(self, records: int | None, idle: float | None, progress: OnBatch | None) -> None:
        """Read batches to the end, or up to the number of records."""
        last = time.monotonic()
        most = min(LIMIT, self.snapshot_every)
        while records is None or self.progress.records < records:
            limit = most if records is None else min(most, records - self.progress.records)
            batch = self._next(limit)
            if batch is None:
                break
            if batch:
                last = time.monotonic()
            elif idle is not None:
                last = max(last, getattr(self.source, "ready_since", last))
                if time.monotonic() - last >= idle:
                    if self.settles():
                        break
                    last = time.monotonic()
            if progress is not None:
                progress(self.progress)
        self.settles()

    def settles(self) -> bool:
        """Condense what came and save it; return whether that could be done, which it cannot while partitions move."""
        if not self.stream.__sklearn_is_fitted__() and self.stream.n_records_:
            self.stream.initialize()
        self.snapshot()
        return self.state is None or not self.unsaved

    def snapshot(self) -> None:
        """Save the state with the position, and let the source forget; not while the first records are kept."""
        if self.state is None or not self.unsaved or not self.stream.__sklearn_is_fitted__():
            return
        before = self.state.read_bytes() if self.state.exists() else None
        self.stream.save(self.state, position=self.position)
        try:
            self.source.commit(self.position)
        except LostPartitionsError:
            # Partitions are moving, and others would read on from the offsets before: until the source says what
            # became of them, the state stays that of these.
            replace_state(self.state, before)
            return
        self.backup = self.state.read_bytes(), replace(self.progress)
        self.unsaved = 0
        self.progress.snapshots += 1

    def leave(self) -> Mapping[str, Any]:
        """Save before others read on; what cannot be saved is theirs. Return the position of what stays counted."""
        if self.settled:
            self.snapshot()
            if self.unsaved:
                return self.roll_back()
        return self.position

    def roll_back(self) -> Mapping[str, Any]:
        """Go back to the last snapshot: others read what came since. Return its position."""
        if self.settled and self.state is not None and self.unsaved:
            content, read = self.backup
            self.stream.roll_back(content)
            self.position = self.stream.position_
            self.progress.records, self.progress.skipped = read.records, read.skipped
            self.unsaved = 0
        return self.position

    def _next(self, limit: int) -> int | None:
        """Let the next batch join; return how many lines it had, None at the end of the source."""
        batch = self.source.next_batch(limit)
        if batch is None:
            return None
        self.settled = False
        if len(batch):
            self.stream.partial_fit(batch.values, k=batch.levels)
        self.position = self.source.position()
        lines = len(batch) + batch.skipped
        self.progress.records += len(batch)
        self.progress.skipped += batch.skipped
        self.unsaved += lines
        self.settled = True
        if self.unsaved >= self.snapshot_every:
            self.snapshot()
        return lines
