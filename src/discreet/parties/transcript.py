"""Transcript and meter: the frames of a run as they were before encryption, and what they cost a party."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from discreet.parties.channel import frame_bytes


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


@dataclass
class MeterStep:
    """What one step of a protocol costs one party; bytes count headers and are those before encryption."""

    name: str
    rounds: int = 0
    frames_sent: int = 0
    frames_received: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass
class Meter:
    """The costs of one party. A round ends with the first receive after a send.

    >>> meter = Meter()
    >>> with meter.step("keys"):
    ...     meter.sent("keys", 64)
    ...     meter.received("keys", 64)
    >>> meter.steps[0].rounds, meter.steps[0].bytes_sent
    (1, 85)
    """

    steps: list[MeterStep] = field(default_factory=list)
    _receiving: bool = False
    _open: list[MeterStep] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what follows under a step; a step inside another one takes over until it ends."""
        current = MeterStep(name)
        self.steps.append(current)
        self._open.append(current)
        started, cpu = time.perf_counter(), time.thread_time()
        try:
            yield
        finally:
            seconds, cpu_seconds = time.perf_counter() - started, time.thread_time() - cpu
            current.seconds += seconds
            current.cpu_seconds += cpu_seconds
            self._open.pop()
            if self._open:
                # The outer step goes on counting meanwhile; what the inner one took is taken off it.
                self._open[-1].seconds -= seconds
                self._open[-1].cpu_seconds -= cpu_seconds

    def sent(self, kind: str, size: int) -> None:
        """Count a frame that was sent."""
        current = self._current()
        current.frames_sent += 1
        current.bytes_sent += frame_bytes(kind, size)
        self._receiving = False

    def received(self, kind: str, size: int) -> None:
        """Count a frame that was received."""
        current = self._current()
        current.frames_received += 1
        current.bytes_received += frame_bytes(kind, size)
        current.rounds += not self._receiving
        self._receiving = True

    @property
    def rounds(self) -> int:
        """The rounds of all steps."""
        return sum(step.rounds for step in self.steps)

    @property
    def bytes_sent(self) -> int:
        """The bytes sent in all steps."""
        return sum(step.bytes_sent for step in self.steps)

    @property
    def bytes_received(self) -> int:
        """The bytes received in all steps."""
        return sum(step.bytes_received for step in self.steps)

    def to_dict(self) -> dict[str, object]:
        """Return the costs as plain data for JSON."""
        steps = [asdict(step) for step in self.steps]
        return {
            "rounds": self.rounds,
            "bytes_sent": self.bytes_sent,
            "bytes_received": self.bytes_received,
            "steps": steps,
        }

    def _current(self) -> MeterStep:
        if self._open:
            return self._open[-1]
        if not self.steps:
            self.steps.append(MeterStep("all"))
        return self.steps[-1]
