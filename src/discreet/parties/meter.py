"""Meter: rounds, frames, bytes and seconds of one party, step by step."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from discreet.parties.channel import frame_bytes


@dataclass
class Step:
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

    steps: list[Step] = field(default_factory=list)
    _receiving: bool = False
    _open: list[Step] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what follows under a step; a step inside another one takes over until it ends."""
        current = Step(name)
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

    def _current(self) -> Step:
        if self._open:
            return self._open[-1]
        if not self.steps:
            self.steps.append(Step("all"))
        return self.steps[-1]
