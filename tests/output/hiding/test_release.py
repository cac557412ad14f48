"""What leaves the building when rules are hidden: nothing in the files points at the rules."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.oracles import hiding as oracle
from tests.output.hiding.test_hiding import MAKERS, Make

from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import PromiseBrokenError
from discreet.engines.baskets.published import read_published
from discreet.guarantees import RulesHidden
from discreet.output.hiding import BorderHiding, ExactHiding, HeuristicHiding, hiding_attack
from discreet.report import render

RULE = "PLANTED-LEFT => PLANTED-RIGHT"
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def shop() -> Baskets:
    rng = np.random.default_rng(4)
    lists = []
    for _ in range(300):
        row = [f"item{number}" for number in range(6) if rng.random() < 0.4]
        if rng.random() < 0.3:
            row += ["PLANTED-LEFT"] + (["PLANTED-RIGHT"] if rng.random() < 0.7 else [])
        lists.append(row)
    return Baskets.from_lists(lists)


@every
@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_files_say_nothing_of_the_rules(make: Make, format_: str, tmp_path: Path) -> None:
    baskets = shop()
    release = make([RULE], min_support=17, min_confidence=0.37, margin=0.13, random_state=123456789).hide(
        baskets
    )
    folder = release.write(tmp_path / "out", format=format_)
    names = {path.name for path in folder.iterdir()}
    assert names == {f"baskets.{format_}", "release.json", "report.html"}
    read = [frozenset(map(str, one)) for one in read_published(folder).lists()]
    rule = (frozenset({"PLANTED-LEFT"}), frozenset({"PLANTED-RIGHT"}))
    assert not oracle.is_found(read, rule, 17, "0.37")
    record, page = (folder / "release.json").read_text(), (folder / "report.html").read_text()
    plain = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
    for text in (record, plain, repr(release), str(release.verdict), repr(release.guarantee)):
        for secret in ("PLANTED", "0.37", "123456789", "0.13"):
            assert secret not in text
    told = json.loads(record)
    counted = {
        name: value for name, value in told.items() if name not in ("date", "cautions", "baskets", "files")
    }
    assert "17" not in json.dumps(counted)
    assert told["guarantee"] == {"guarantee": "RulesHidden"}
    assert set(told) <= {
        "format", "kind", "method", "parameters", "guarantee", "seeded", "items", "discreet", "baskets", "verdict",
        "cautions", "files", "date",
    }  # fmt: skip
    assert told["verdict"] == {"ok": True, "guarantee": release.verdict.guarantee, "basis": "claimed"}


def test_two_originals_with_the_same_release_have_the_same_bytes(tmp_path: Path) -> None:
    """Whatever was deleted, the files depend on what is left alone."""
    left = [["a", "b"]] * 2 + [["a"]] * 3 + [["b"]] * 3
    texts = []
    for number, extra in enumerate(([["a"], ["b"]], [["b"], ["a"]])):
        lists = left + extra
        release = HeuristicHiding(["a, b"], min_support=3, random_state=5).hide(Baskets.from_lists(lists))
        folder = release.write(tmp_path / str(number))
        texts.append([(folder / name).read_bytes() for name in ("release.json", "report.html")])
        assert sorted(release.data.lists()) == sorted(lists)
    assert json.loads(texts[0][0])["verdict"] == json.loads(texts[1][0])["verdict"]
    assert texts[0][1] == texts[1][1]


def test_the_internal_report_names_the_rules_and_the_public_one_does_not() -> None:
    release = ExactHiding([RULE], min_support=17, min_confidence=0.37).hide(shop())
    assert "PLANTED-LEFT =&gt; PLANTED-RIGHT" in render(release, internal=True)
    assert "PLANTED" not in render(release)


def test_a_broken_promise_is_not_written(tmp_path: Path) -> None:
    release = BorderHiding([RULE], min_support=17).hide(shop())
    broken = replace(release, data=shop())
    with pytest.raises(PromiseBrokenError) as caught:
        broken.write(tmp_path / "out")
    assert "item1" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@every
def test_the_order_of_the_input_does_not_show(make: Make) -> None:
    n = 120
    lists = [[f"id{row:03}", "x", *(["y"] if row % 2 else [])] for row in range(n)]
    lists += [["z"]] * 80
    release = make(["x => y"], min_support=40, min_confidence=0.4, random_state=3).hide(
        Baskets.from_lists(lists)
    )
    own = [next(int(name[2:]) for name in one if name.startswith("id")) for one in release.data.lists() if
           any(name.startswith("id") for name in one)]  # fmt: skip
    assert own != sorted(own)


def test_a_margin_puts_the_rule_further_down_the_list_of_suspects() -> None:
    rng = np.random.default_rng(0)
    lists = [[item for item in "abcdefgh" if rng.random() < 0.45] for _ in range(400)]
    lists += [["a", "b"]] * 60
    baskets = Baskets.from_lists(lists)
    places = {}
    for margin in (0.0, 0.3):
        guarantee = RulesHidden(["a, b"], 90, margin=margin)
        release = BorderHiding(guarantee, random_state=1).hide(baskets)
        places[margin] = dict(hiding_attack(release, guarantee, window=0.9).ranks)[guarantee.rules[0]]
    assert places[0.0] is not None
    assert places[0.3] is None or places[0.3] > places[0.0]
    assert places[0.0] <= 2


def test_ranks_by_hand() -> None:
    lists = (
        [["a", "b"]] * 9
        + [["c", "d"]] * 6
        + [["e", "f"]] * 8
        + [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]] * 5
    )
    guarantee = RulesHidden(["e, f", "c, d", "a, c"], 10)
    found = hiding_attack(Baskets.from_lists(lists), guarantee, window=0.5)
    assert [rank for _, rank in found.ranks] == [2, 3, None]
    assert (found.best, found.n_itemsets) == (2, 3)
    assert found.chance == pytest.approx((1 / 2 + 1 / 3) / 3)
