"""Attacks on mining protocols by a party that keeps all it sees: what is not declared must not be in its view."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from tests.parties.inspector import assert_absent, encodings_of, view_bytes
from tests.parties.open_protocols import AssociationRules, VerticalRules

from discreet.parties import simulate
from discreet.parties.transcript import RecordedFrame

RARE = 47_113
"""The count of a set that is not frequent, which no party may find in what it sees."""


def words(frames: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """All aligned words of the frames a party received."""
    size = np.dtype(dtype).itemsize
    return np.concatenate(
        [
            np.frombuffer(f.payload[: len(f.payload) // size * size], dtype)
            for f in frames
            if len(f.payload) >= size
        ]
    )


def assert_no_sum_of_two_is(count: int, frames: tuple[RecordedFrame, ...], dtype: Any) -> None:
    """No word, and no sum or difference of words of two frames at the same place, is the count."""
    held = [
        np.frombuffer(f.payload, dtype)
        for f in frames
        if f.payload and len(f.payload) % np.dtype(dtype).itemsize == 0
    ]
    wanted = np.array(count, dtype)
    for one in held:
        assert not (one == wanted).any()
    short = [one for one in held if one.size <= 64]
    for one, other in combinations(short, 2):
        size = min(one.size, other.size)
        assert not (one[:size] + other[:size] == wanted).any()
        assert not (one[:size] - other[:size] == wanted).any()


@pytest.fixture(scope="module")
def shops() -> Any:
    """Two of three shops sell caviar, 47,113 times in all, and the least support is above that."""
    caviar, bread = [["caviar", "bread"]], [["bread"]]
    held = {
        "north": bread * 20_000,
        "south": caviar * 17_113 + bread * 20_000,
        "west": caviar * 30_000 + bread * 30_000,
    }
    return held, simulate(AssociationRules(0.5, items=("bread", "caviar")), held)


@pytest.mark.parametrize("party", ["north", "south", "west"])
def test_no_party_finds_the_count_of_a_set_that_is_not_frequent(shops: Any, party: str) -> None:
    _, run = shops
    assert [names for names, _ in run.outputs[party].itemsets] == [("bread",)]
    assert_no_sum_of_two_is(RARE, run.transcript.view(party), np.uint64)
    view = view_bytes(run.transcript.view(party))
    for encoding in encodings_of(RARE)[:2]:
        assert encoding not in view


def test_the_keepers_together_find_it_as_declared(shops: Any) -> None:
    """The first party's sum less the second one's random words is the count: they must not pool what they saw."""
    held, _ = shops
    protocol = AssociationRules(0.5, items=("bread", "caviar"))
    assert any(
        "first two parties together learn the counts of all candidates" in leak for leak in protocol.leaks
    )
    from discreet.parties.sums import shared_sums

    shares: dict[int, Any] = {}
    added = shared_sums.SharedSums.add

    def keep(self: Any, values: Any, **given: Any) -> Any:
        found = added(self, values, **given)
        shares.setdefault(self._party.index, found.share)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_sums.SharedSums, "add", keep)
        simulate(protocol, held)
    assert (shares[0] + shares[1])[1] == RARE
    assert RARE not in shares[0].tolist()
    assert not shares[2].any()


def test_the_size_of_a_shop_that_stays_is_in_no_frame() -> None:
    sizes = {"north": 3_217, "south": 5_431, "west": 7_919}
    run = simulate(
        AssociationRules(0.5, items=("bread",)), {name: [["bread"]] * size for name, size in sizes.items()}
    )
    for name, size in sizes.items():
        for other in sizes:
            if other != name:
                assert size not in words(run.transcript.view(other), np.uint64).tolist()


@pytest.mark.parametrize("party", ["clinic", "insurer", "lab"])
def test_no_party_finds_an_infrequent_count_over_columns(party: str) -> None:
    n, both = 3_000, 713
    bits = np.zeros((n, 3), np.int64)
    bits[:1_500, 0] = 1
    bits[1_500 - both : 3_000 - both, 1] = 1
    bits[:1_400, 2] = 1
    columns = {"clinic": ["a"], "insurer": ["b"], "lab": ["c"]}
    tables = {
        name: {"id": list(range(n)), items[0]: bits[:, place].tolist()}
        for place, (name, items) in enumerate(columns.items())
    }
    run = simulate(VerticalRules(columns, key="id", max_people=n, min_support=1_400), tables)
    assert [names for names, _ in run.outputs[party].itemsets] == [("a",), ("b",), ("c",), ("a", "c")]
    view = run.transcript.view(party)
    after = [frame for frame in view if frame.shape.kind in ("share", "combined", "counts", "bits.opened")]
    assert_no_sum_of_two_is(both, tuple(after), np.uint64)


def test_people_who_are_not_common_are_in_no_frame() -> None:
    columns = {"clinic": ["a"], "insurer": ["b"]}
    tables = {
        "clinic": {"id": ["Anna Common", "Clara Clinic"], "a": [1, 1]},
        "insurer": {"id": ["Anna Common", "Ina Insured"], "b": [1, 1]},
    }
    run = simulate(VerticalRules(columns, key="id", max_people=50, min_support=1), tables)
    everything = b"|".join(frame.payload for frame in run.transcript.frames)
    for name in ("clara clinic", "ina insured", "anna common"):
        assert_absent(name, everything)
