"""Many sums in one session: each right, each with masks of its own, and whole when parties drop out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.parties.inspector import assert_declared, assert_indistinguishable, views

from discreet.core.errors import InternalError
from discreet.parties import Party, PartyError, Protocol, simulate
from discreet.parties.crypto.masks import add_stream
from discreet.parties.errors import LostPartyError
from discreet.parties.simulation import attempted
from discreet.parties.sums import masked_sum
from discreet.parties.sums.sum_rounds import RoundFrames, SumRounds
from discreet.parties.transcript import FrameShape

NAMES = ("a", "b", "c", "d", "e")


@dataclass(frozen=True)
class Sums(Protocol):
    """The sums of lists of vectors; the next list is as long as the first sum says, which all parties learn."""

    at_once: int = 2
    kind: str = "integer"
    name: ClassVar[str] = "sums"

    @property
    def leaks(self) -> tuple[str, ...]:
        return ()

    def frames(
        self, names: Sequence[str], *, revealed: Mapping[str, Any] | None = None
    ) -> Iterable[FrameShape]:
        lengths = [1] + [1] * (revealed or {})["length"]
        frames = RoundFrames(names, at_once=self.at_once)
        return [frame for length in lengths for frame in frames.add(length)]

    def _run(self, party: Party, data: list[float]) -> list[tuple[float, tuple[str, ...]]]:
        rounds = SumRounds(party, at_once=self.at_once)
        party.reveal("length", len(data) - 1)
        sums = [rounds.add(np.array([value]), kind=self.kind) for value in data]
        return [(float(np.ravel(np.asarray(one.values))[0]), one.parties) for one in sums]


@pytest.mark.parametrize("at_once", [1, 2, 8])
def test_every_sum_is_right_and_its_frames_are_as_declared(at_once: int) -> None:
    protocol = Sums(at_once)
    run = simulate(protocol, {name: [at, 10 * at, -at, 7, 0] for at, name in enumerate(NAMES)})
    for found in run.outputs.values():
        assert [value for value, _ in found] == [10, 100, -10, 35, 0]
    assert_declared(run, protocol.frames(NAMES, revealed=run.revealed["a"]), NAMES)


def test_reals_are_summed_in_fixed_point() -> None:
    run = simulate(Sums(kind="real"), {"a": [0.25, -1.5], "b": [0.5, 1.5], "c": [0.125, 0.0]})
    assert [value for value, _ in run.outputs["c"]] == [0.875, 0.0]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["masked", "reveal"])
def test_after_the_first_sum_all_have_the_parties_of_the_first(number: int, kind: str) -> None:
    """Two sums over different parties could be subtracted: what is left is what the lost one put in."""
    inputs = {name: [10**at] * 4 for at, name in enumerate(NAMES)}
    if (number, kind) in ((1, "masked"), (4, "reveal")):
        run = simulate(Sums(), inputs, drop={"c": (kind, number)}, timeout=4.0)
        total, covered = (11011, tuple("abde")) if number == 1 else (11111, NAMES)
        for found in run.outputs.values():
            assert found == [(total, covered)] * 4
        return
    run, failures = attempted(Sums(), inputs, drop={"c": (kind, number)}, timeout=4.0)
    assert not run.outputs
    assert {type(error) for error in failures.values()} == {LostPartyError}
    assert all("Lost: c. " in str(error) for error in failures.values())
    results = [frame for frame in run.transcript.view("e") if frame.shape.kind == "result"]
    assert len(results) == (number if kind == "reveal" else number - 1), "no sum is opened after the loss"


def test_below_the_threshold_all_stop() -> None:
    drop = {"b": ("masked", 1), "c": ("masked", 1), "d": ("masked", 1)}
    with pytest.raises(PartyError, match=r"2 of 5 parties remain; the secure sum needs 3.*Lost: b, c, d"):
        simulate(Sums(), {name: [1] * 4 for name in NAMES}, drop=drop, timeout=4.0)


def test_no_secret_serves_two_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys of every stream of masks differ, also between the sums of one set-up."""
    used: list[bytes] = []
    added = add_stream

    def keep(into: Any, key: bytes, *, sign: int = 1) -> None:
        used.append(key)
        added(into, key, sign=sign)

    monkeypatch.setattr(masked_sum, "add_stream", keep)
    simulate(Sums(), {"a": [1, 2, 3], "b": [4, 5, 6]})
    # Of each sum: a pair mask at both ends; the other party's own mask, and again where the collector removes it.
    assert len(used) == 3 * 4
    assert sorted(map(used.count, set(used))) == [2] * 6


def test_inputs_with_equal_sums_cannot_be_told_apart() -> None:
    first = {"a": [3, 3, 3], "b": [0, 0, 9], "c": [10**9, 0, 0]}
    second = {"a": [3, 3, 3], "b": [10**9, -5, 4], "c": [0, 5, 5]}
    one = views(Sums(), first, "a", 100, coins="one")
    assert_indistinguishable(one, views(Sums(), second, "a", 100, coins="other"))


def test_a_part_has_a_session_of_its_own_and_a_label_serves_once() -> None:
    @dataclass(frozen=True)
    class Parts(Sums):
        def _run(self, party: Party, data: Any) -> Any:
            one, two = party.within("one"), party.within("two")
            three = party.within("three", names=party.names[:2])
            with pytest.raises(InternalError):
                party.within("one")
            return (
                party.session,
                one.session,
                two.session,
                one.within("one").session,
                three.session,
                three.names,
            )

    found = simulate(Parts(), {"a": [], "b": [], "c": []}).outputs
    assert found["a"] == found["b"] == found["c"]
    assert len(set(found["a"][:5])) == 5
    assert found["a"][5] == ("a", "b")


def test_a_fact_is_revealed_once() -> None:
    @dataclass(frozen=True)
    class Twice(Sums):
        def _run(self, party: Party, data: Any) -> Any:
            party.reveal("length", 1)
            party.reveal("length", 2)

    with pytest.raises(InternalError):
        simulate(Twice(), {"a": [], "b": []})
