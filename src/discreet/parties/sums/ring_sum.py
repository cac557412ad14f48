"""The ring: a running sum with a random start goes around once (Clifton et al. 2002).

The two neighbors of a party see the running sum before and after it. If they pool them, the difference is its vector.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.parties.protocol import Party
from discreet.parties.sums.fixed_point import Words
from discreet.parties.transcript import FrameShape


def ring_sum(party: Party, words: Words) -> Words:
    """Return the sum of the parties' words modulo 2**64."""
    size = words.nbytes
    before = party.names[party.index - 1]
    after = party.names[(party.index + 1) % len(party.names)]
    with party.step("ring"):
        if party.index == 0:
            start = np.frombuffer(party.random(size), dtype="<u8")
            party.send(after, "running", (words + start).tobytes())
            total: Words = np.frombuffer(party.recv(before, "running", size), dtype="<u8") - start
        else:
            running = np.frombuffer(party.recv(before, "running", size), dtype="<u8") + words
            party.send(after, "running", running.tobytes())
    with party.step("result"):
        if party.index == 0:
            party.broadcast("result", total.tobytes())
            return total
        return np.frombuffer(party.recv(party.names[0], "result", size), dtype="<u8").copy()


def frames(names: tuple[str, ...], length: int) -> Iterator[FrameShape]:
    """Return the frames of a run."""
    for sender, receiver in zip(names, (*names[1:], names[0]), strict=True):
        yield FrameShape(sender, receiver, "running", 8 * length)
    for receiver in names[1:]:
        yield FrameShape(names[0], receiver, "result", 8 * length)
