"""The people that all parties hold, in an order that all of them know: intersections, one party after the other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.parties.protocol import Party
from discreet.parties.sets.set_intersection import SetIntersection
from discreet.parties.transcript import FrameShape


def matched_rows(party: Party, rows: Mapping[bytes, int], *, max_people: int) -> NDArray[np.int64]:
    """Return the rows of the people that every party holds, in the same order at every party.

    The first party intersects its keys with those of the second one, what is left with those of the third, and so on.
    Then it intersects what is left in the end with the keys of those who do not know it yet. The order is that of
    hashes of the keys, keyed by the session: it depends on nothing but the keys that all parties share.
    """
    names = party.names
    common = set(rows)
    for label, peer, to_both in _meetings(names):
        if party.name not in (names[0], peer):
            continue
        pair = party.within(label, (names[0], peer))
        found = intersection(max_people, to_both=to_both).run(pair, common)
        if found is not None:
            common = set(found)
    return np.array([rows[key] for key in sorted(common, key=_order(party))], np.int64)


def matching_frames(names: Sequence[str], max_people: int) -> Iterator[FrameShape]:
    """Return the frames of matching."""
    for _, peer, to_both in _meetings(names):
        yield from intersection(max_people, to_both=to_both).frames((names[0], peer))


def intersection(max_people: int, *, to_both: bool) -> SetIntersection:
    """Return the protocol by which two parties meet."""
    output = "both" if to_both else "first"
    return SetIntersection(max_first=max_people, max_second=max_people, output=output)  # type: ignore[arg-type]


def _meetings(names: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Return whom the first party meets, and whether the other one learns the people in common as well."""
    for peer in names[1:]:
        yield f"people of {peer}", peer, peer == names[-1]
    for peer in names[1:-1]:
        yield f"people of all, for {peer}", peer, True


def _order(party: Party) -> Callable[[bytes], bytes]:
    """Return what keys are sorted by: their hashes under the session."""
    secret = hashlib.sha256(b"discreet order" + party.session).digest()
    return lambda key: hashlib.blake2b(key, key=secret, digest_size=32).digest()
