"""The checks that every hider passes beside those of all releases; the registry of methods names them."""

from __future__ import annotations

import contextlib
import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from discreet import Baskets, Table
from discreet.core.errors import DiscreetError, InfeasibleError, InputError
from discreet.core.registry import Method
from discreet.engines.folders import digests
from discreet.guarantees import RulesHidden, guarantee_from_dict
from discreet.job.release_checking import hidden_rules, judge_release
from tests.hiding_methods import (
    CONFIDENCE,
    LEAST,
    RULES,
    TABLE_RULE,
    hide,
    hiders,
    many,
    table,
    written_baskets,
    written_rows,
)
from tests.oracles import hiding as oracle
from tests.publishing import KINDS, made_as, released_rows

ITEMS = "abcd"
FORMATS = ("csv", "tsv", "parquet", "arrow")
held = st.frozensets(st.sampled_from(ITEMS), max_size=4)
lists = st.lists(held, min_size=2, max_size=16)
cells = st.lists(
    st.tuples(
        st.sampled_from([1, 2, None]), st.sampled_from(["u", "v", None]), st.sampled_from(["p", "q", None])
    ),
    min_size=2,
    max_size=16,
)
quick = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def is_found(rows: list[frozenset[str]], rule: str) -> bool:
    left, right = (frozenset(side.strip().split(", ")) for side in rule.split("=>"))
    least = math.ceil(Fraction(str(LEAST)) * len(rows))
    return oracle.is_found(rows, (left, right), least, CONFIDENCE)


@hiders("baskets")
@given(rows=lists, kind=st.sampled_from(FORMATS))
@quick
def test_no_rule_is_found_in_the_written_baskets(
    method: Method, rows: list[frozenset[str]], kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assume({"a", "b", "c"} <= frozenset().union(*rows))
    try:
        release = hide(method, Baskets.from_lists([sorted(row) for row in rows]), RULES)
    except InfeasibleError:
        return
    folder = release.write(tmp_path_factory.mktemp("out") / "out", format=kind, report=False)
    found = written_baskets(folder, kind)
    assert not any(is_found(found, rule) for rule in RULES)
    if not any(is_found(rows, rule) for rule in RULES):
        assert Counter(found) == Counter(rows)
    if method.name not in ("1.a", "hybrid", "remove_transactions"):
        certain = sorted(sorted(item for item in row if not item.startswith("?")) for row in found)
        assert len(found) == len(rows)
        assert sum(map(len, certain)) <= sum(map(len, rows))


@hiders("table")
@given(rows=cells, kind=st.sampled_from((*FORMATS, "jsonl")))
@quick
def test_no_rule_is_found_in_the_written_rows(
    method: Method, rows: list[Any], kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assume(any(row[0] == 1 for row in rows) and any(row[2] == "p" for row in rows))
    try:
        release = hide(method, table(rows), [TABLE_RULE])
    except InfeasibleError:
        return
    folder = release.write(tmp_path_factory.mktemp("out") / "out", format=kind, report=False)
    found = written_rows(folder, kind)
    assert len(found) == len(rows) - release.evidence.suppressed
    assert not is_found(found, TABLE_RULE)


@hiders("baskets")
def test_what_is_changed_does_not_depend_on_the_order_of_the_baskets(method: Method) -> None:
    rng = np.random.default_rng(6)
    rows = [[item for item in "abcdef" if rng.random() < 0.5] for _ in range(80)]
    releases = [
        hide(method, Baskets.from_lists([rows[at] for at in order]), RULES[:1], random_state=5).data.lists()
        for order in (range(80), rng.permutation(80))
    ]
    assert Counter(map(tuple, releases[0])) == Counter(map(tuple, releases[1]))
    assert releases[0] != rows


@hiders("table")
def test_what_is_changed_does_not_depend_on_the_order_of_rows_and_columns(method: Method) -> None:
    made = table(many())
    mixed = made.frame.take(np.random.default_rng(3).permutation(made.n_rows)).select(["z", "w", "y", "x"])
    turned = Table(mixed, {name: made.schema[name] for name in ("z", "w", "y", "x")})
    one, two = (hide(method, each, [TABLE_RULE], random_state=5).frame for each in (made, turned))
    assert two.column_names == ["z", "w", "y", "x"]
    assert _multiset(one) == _multiset(two)


def _multiset(frame: pa.Table) -> Counter[Any]:
    return Counter(tuple(sorted(map(str, row.items()))) for row in frame.to_pylist())


@hiders("table")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_agrees_and_comes_back(method: Method, kind: str) -> None:
    made = table(many())
    expected = hide(method, made, [TABLE_RULE])
    frame = made_as(kind, made.frame)
    release = hide(method, Table(frame, made.schema), [TABLE_RULE])
    assert type(release.frame) is type(frame)
    plain = [
        {name: None if str(value) == "<NA>" else value for name, value in row.items()}
        for row in released_rows(release)
    ]
    assert Counter(map(str, plain)) == Counter(map(str, expected.frame.to_pylist()))
    assert release.verdict == expected.verdict


@pytest.mark.parametrize("takes", ["baskets", "table"])
@pytest.mark.parametrize("kind", [*FORMATS, "jsonl"])
def test_a_written_release_is_judged_with_the_owners_folder_alone(
    takes: str, kind: str, tmp_path: Path
) -> None:
    from discreet.core.registry import METHODS

    data, rule = (table(many()), TABLE_RULE) if takes == "table" else (shop(), "a => b")
    if takes == "baskets" and kind == "jsonl":
        return
    release = hide(METHODS["maxmin2"], data, [rule])
    folder = release.write(tmp_path / "out", format=kind)
    judged = judge_release(folder)
    assert judged.ok
    assert judged.verdict == release.verdict
    owners = hidden_rules(folder)
    assert owners == release.guarantee
    assert owners is not None
    assert not owners.check(data).ok
    assert judge_release(folder, owners).ok
    (tmp_path / "out.private").rename(tmp_path / "elsewhere")
    assert hidden_rules(folder) is None
    unknown = judge_release(folder, measured=True)
    assert not unknown.ok
    assert unknown.word == "claimed"
    assert "only the owner knows" in unknown.why
    assert unknown.measures
    (folder / "report.html").write_text("another")
    assert judge_release(folder).changed == ("report.html",)


def shop() -> Baskets:
    rng = np.random.default_rng(6)
    return Baskets.from_lists([[item for item in "abcd" if rng.random() < 0.7] for _ in range(40)])


def tie(folder: Path) -> None:
    """Take the digests again, as whoever may write into the owner's folder could."""
    private = folder.with_name(f"{folder.name}.private")
    (private / "digests.json").write_text(json.dumps(digests(folder / "release.json", private)))


def test_damaged_folders_are_refused_in_one_line(tmp_path: Path) -> None:
    from discreet.core.registry import METHODS

    folder = hide(METHODS["bba"], table(many()), [TABLE_RULE]).write(tmp_path / "out", report=False)
    private = tmp_path / "out.private" / "recipe.private.json"
    record, kept = (json.loads(path.read_text()) for path in (folder / "release.json", private))
    for junk in ([], {}, "x", 7, {"guarantee": "RulesHidden"}, {"guarantee": "KAnonymity", "k": 2}):
        private.write_text(json.dumps(kept | {"guarantee": junk}))
        with pytest.raises(DiscreetError):
            hidden_rules(folder)
        assert judge_release(folder).word == "broken"
        tie(folder)
        with pytest.raises(DiscreetError):
            judge_release(folder)
    for junk in (7, [7], {"x": 1}, [["x"]]):
        private.write_text(json.dumps(kept | {"text": junk}))
        tie(folder)
        with contextlib.suppress(DiscreetError):
            judge_release(folder)
    private.write_text("[1, 2")
    tie(folder)
    with pytest.raises(InputError):
        judge_release(folder)
    private.write_text(json.dumps(kept))
    for junk in (None, "x", [{"name": "x"}], [{"role": "quasi"}], {"x": {"role": "quasi"}}):
        (folder / "release.json").write_text(json.dumps(record | {"columns": junk}))
        tie(folder)
        with pytest.raises(DiscreetError):
            judge_release(folder)
    (folder / "release.json").write_text("[1, 2")
    with pytest.raises(InputError):
        judge_release(folder)


def test_a_public_file_does_not_say_which_rules_are_hidden_and_a_private_one_does() -> None:
    promise = RulesHidden(['"a, b" => c', [1, 2]], 0.1, 0.5, 0.2)
    assert promise.to_dict() == {"guarantee": "RulesHidden"}
    assert guarantee_from_dict(json.loads(json.dumps(promise.to_private_dict()))) == promise
    with pytest.raises(DiscreetError, match="public files do not say"):
        guarantee_from_dict(promise.to_dict())
