"""Transcript: the frames of a run as they were before encryption."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


@dataclass(frozen=True)
class FrameShape:
    """Who sends what kind of frame of what size to whom: what anyone on the wire may see at most."""

    sender: str
    receiver: str
    kind: str
    size: int


@dataclass(frozen=True)
class RecordedFrame:
    """A frame that travelled."""

    shape: FrameShape
    payload: bytes = field(repr=False)


@dataclass
class Transcript:
    """The frames of a run in the order in which they were sent; each sender's own order is exact.

    ``keep_received`` is for one party on its own, which records what it receives as well.
    """

    keep_payloads: bool = True
    keep_received: bool = False
    frames: list[RecordedFrame] = field(default_factory=list, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def record(self, shape: FrameShape, payload: bytes) -> None:
        """Record a frame."""
        with self._lock:
            self.frames.append(RecordedFrame(shape, payload if self.keep_payloads else b""))

    def shapes(self, sender: str | None = None) -> tuple[FrameShape, ...]:
        """Return the shapes of the frames, of one sender or of all."""
        return tuple(f.shape for f in self.frames if sender in (None, f.shape.sender))

    def view(self, party: str) -> tuple[RecordedFrame, ...]:
        """Return the frames that a party received."""
        return tuple(frame for frame in self.frames if frame.shape.receiver == party)
