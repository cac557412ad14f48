"""A party that does not follow the protocol opens small counts and nobody notices: as ``leaks`` and the docs say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.parties import simulate
from discreet.parties.mining import AssociationRules, HorizontalNaiveBayes
from discreet.parties.sums.shared_sums import SharedSums

COLOURS = {"x": ("blue", "red")}
BAYES = HorizontalNaiveBayes(columns=("x",), categories=COLOURS, target="ill", classes=(0, 1), alpha=1e-9)
ROWS: dict[str, Any] = {
    "a": {"x": ["blue"] * 6, "ill": [0] * 6},
    "b": {"x": ["red", "blue", "blue"], "ill": [1, 0, 0]},
    "c": {"x": ["red"] * 6, "ill": [0] * 6},
}


def _declared(protocol: Any) -> bool:
    return any("up can open any count of the others, and nobody notices" in each for each in protocol.leaks)


@pytest.mark.parametrize("liar", ["a", "c"])
def test_made_up_rows_open_the_class_of_one(liar: str) -> None:
    """Whoever adds five ill people with blue sees that the one who is left has red."""
    honest = simulate(BAYES, ROWS).outputs[liar].model
    assert honest.classes_.tolist() == [0]
    made_up = {
        "x": [*ROWS[liar]["x"], *["blue"] * 5, *["red"] * 5], "ill": [*ROWS[liar]["ill"], *[1] * 10]
    }  # fmt: skip
    run = simulate(BAYES, {**ROWS, liar: made_up})
    model = run.outputs[liar].model
    assert model.class_count_[1] - 10 == 1
    assert (model.category_count_[0][1] - [5, 5]).round().tolist() == [0, 1]
    assert not any("left out" in caution for caution in run.cautions["b"])
    assert _declared(BAYES)


def test_made_up_baskets_open_a_pair_of_one() -> None:
    protocol = AssociationRules(1, items=("beer", "milk"))
    shops = {"a": [["beer"]] * 6, "b": [["beer", "milk"]], "c": [["beer"]] * 3}
    assert list(simulate(protocol, shops).outputs["c"].itemsets) == [(("beer",), 10)]
    counts = dict(simulate(protocol, {**shops, "c": [["beer", "milk"]] * 5}).outputs["c"].itemsets)
    assert counts[("beer", "milk")] - 5 == 1
    assert _declared(protocol)


def test_a_keeper_that_adds_to_its_share_opens_every_count(monkeypatch: pytest.MonkeyPatch) -> None:
    original = SharedSums.large

    def large(sums: Any, share: Any, least: int, *, largest: int) -> Any:
        added = np.uint64(least if sums._party.index == 0 else 0)
        return original(sums, share + added, least, largest=largest)

    monkeypatch.setattr(SharedSums, "large", large)
    protocol = HorizontalNaiveBayes(columns=("z",), target="ill", classes=(0, 1))
    rows = {name: {"z": np.arange(len(part["x"])), "ill": part["ill"]} for name, part in ROWS.items()}
    model = simulate(protocol, rows).outputs["a"].model
    assert (model.class_count_ - 5).tolist() == [14, 1]
