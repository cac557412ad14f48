"""One party as a process of its own, which ends itself by a signal before its first frame of a kind."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from discreet.cli import main
from discreet.parties.transcript import FrameShape, Transcript


def end_before(kind: str, name: str, number: signal.Signals) -> None:
    recorded = Transcript.record

    def record(self: Transcript, shape: FrameShape, payload: bytes, **given: Any) -> None:
        if shape.kind == kind and shape.sender == name:
            os.kill(os.getpid(), number)
        recorded(self, shape, payload, **given)

    Transcript.record = record  # type: ignore[method-assign]


if __name__ == "__main__":
    kind, name, number = sys.argv[1], sys.argv[2], signal.Signals(int(sys.argv[3]))
    end_before(kind, name, number)
    sys.argv = ["discreet", *sys.argv[4:]]
    main()
