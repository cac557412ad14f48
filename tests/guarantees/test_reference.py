"""Classes compared with the table before suppression: by plain counting, in every search, in folders, bad input."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import tables as oracles

from discreet import Recipe, Table, from_mapping, intervals, person, quasi, sensitive
from discreet.cli._app import app
from discreet.core.errors import InfeasibleError, SchemaError
from discreet.guarantees import (
    BasicBetaLikeness,
    DeltaDisclosure,
    EnhancedBetaLikeness,
    Guarantee,
    KAnonymity,
    TCloseness,
)
from discreet.publish import (
    Generalization,
    GlobalRecoding,
    Incognito,
    LocalRecoding,
    LocalSuppression,
    Mondrian,
    OptimalLattice,
)

ROWS = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 11, 21, None]), st.sampled_from("abc"), st.sampled_from(["x", "y", "z", None])
    ),
    min_size=1,
    max_size=14,
)
TOWNS = from_mapping({"a": ["north"], "b": ["north"], "c": ["south"]})
ORIGINAL = {"reference": "original"}
SEARCHES = [
    OptimalLattice(KAnonymity(1), max_suppressed=6),
    Incognito(KAnonymity(1), max_suppressed=6),
    GlobalRecoding(KAnonymity(1), max_suppressed=6),
    LocalRecoding(KAnonymity(1), max_suppressed=6),
    LocalSuppression(KAnonymity(1), max_suppressed=6),
    Mondrian(KAnonymity(1)),
]
GUARANTEES: list[Guarantee] = [
    TCloseness(0.4, **ORIGINAL),
    TCloseness(0.4, "ordered", **ORIGINAL),
    TCloseness(0.7, "kl", **ORIGINAL),
    DeltaDisclosure(1.2, **ORIGINAL),
    BasicBetaLikeness(1.5, **ORIGINAL),
    EnhancedBetaLikeness(1.5, **ORIGINAL),
]


def table_of(rows: list[tuple[Any, ...]]) -> Table:
    age, town, value = (list(column) for column in zip(*rows, strict=True))
    frame = pa.table({"age": pa.array(age, pa.int64()), "town": town, "s": pa.array(value, pa.string())})
    return Table(frame, {"age": quasi(intervals(10)), "town": quasi(TOWNS), "s": sensitive()})


def classes_of(rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    classes: dict[tuple[Any, ...], list[Any]] = {}
    for *known, value in rows:
        classes.setdefault(tuple(known), []).append(value)
    return list(classes.values())


def distance(guarantee: Guarantee, values: list[Any], everyone: list[Any]) -> float:
    """Return what the guarantee measures, by its definition; the whole is the original."""
    share = {value: values.count(value) / len(values) for value in set(values)}
    whole = {value: everyone.count(value) / len(everyone) for value in share}
    gains = [(share[value] / whole[value] - 1, -np.log(whole[value])) for value in share]
    if isinstance(guarantee, DeltaDisclosure):
        return max(abs(np.log2(share[value] / whole[value])) for value in share)
    if isinstance(guarantee, BasicBetaLikeness):
        return max(0.0, *(gain for gain, _ in gains))
    if isinstance(guarantee, EnhancedBetaLikeness):
        beta = guarantee.beta
        return max(0.0, *(gain * max(1.0, beta / allowed) if gain > 0 else 0.0 for gain, allowed in gains))
    assert isinstance(guarantee, TCloseness)
    by_name = {
        "equal": oracles.variational_distance,
        "ordered": oracles.ordered_distance,
        "kl": oracles.kl_divergence,
    }
    return by_name[str(guarantee.distance)](values, everyone)


def keeps(guarantee: Guarantee, values: list[Any], everyone: list[Any]) -> bool:
    measured = distance(guarantee, values, everyone)
    slack = 1e-9 * max(1, guarantee.bound)
    return (
        measured < guarantee.bound - slack
        if guarantee.relation == "<"
        else measured <= guarantee.bound + slack
    )


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
@given(rows=ROWS, guarantee=st.sampled_from(GUARANTEES))
@settings(max_examples=25, deadline=None)
def test_released_classes_are_near_the_original(
    search: Any, rows: list[tuple[Any, ...]], guarantee: Guarantee
) -> None:
    everyone = [row[-1] for row in rows]
    search = type(search)(
        **{name: getattr(search, name) for name in search.constraints} | {"guarantee": guarantee}
    )
    try:
        release = search.release(table_of(rows))
    except InfeasibleError:
        return
    released = [tuple(row.values()) for row in release.frame.to_pylist()]
    measured = [distance(guarantee, values, everyone) for values in classes_of(released)]
    assert all(keeps(guarantee, values, everyone) for values in classes_of(released))
    assert release.verdict.word == "by construction"
    assert release.verdict.worst == pytest.approx(max(measured), abs=1e-9)


@given(rows=ROWS, guarantee=st.sampled_from(GUARANTEES), limit=st.integers(0, 6), both=st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_best_node_by_enumeration(
    rows: list[tuple[Any, ...]], guarantee: Guarantee, limit: int, both: bool
) -> None:
    """A class stays or goes by the original alone, so that nodes are those of ARX; with the rest as well if both."""
    table, everyone = table_of(rows), [row[-1] for row in rows]
    asked = guarantee & KAnonymity(2) if both else guarantee
    losses = {}
    for levels in product(range(3), range(3)):
        at_node = Generalization(KAnonymity(1), levels={"age": levels[0], "town": levels[1]})
        classes = classes_of([tuple(row.values()) for row in at_node.release(table).frame.to_pylist()])
        size = 2 if both else 1
        left = sum(len(one) for one in classes if len(one) < size or not keeps(guarantee, one, everyone))
        if left <= limit and left < len(rows):
            losses[levels] = left
    search = OptimalLattice(asked, max_suppressed=limit, measure="height")
    if not losses:
        with pytest.raises(InfeasibleError):
            search.best(table)
        return
    best = tuple(search.best(table).values())
    assert best in losses
    assert sum(best) == min(map(sum, losses))


def test_others_read_a_claim_and_no_figure(tmp_path: Path) -> None:
    """How far classes are from the original would show the values of the rows that were left out."""
    rows = [(1, "a", "x")] * 4 + [(1, "a", "y")] * 4 + [(21, "c", "z")]
    guarantee = KAnonymity(2) & TCloseness(0.3, **ORIGINAL)
    search = OptimalLattice(guarantee, max_suppressed=1, highest={"age": 0, "town": 0})
    release = search.release(table_of(rows))
    assert [part.word for part in release.verdict.parts] == ["verified", "by construction"]
    folder = release.write(tmp_path / "release")
    record = json.loads((folder / "release.json").read_text())
    assert record["rows"]["suppressed"] == 1
    assert record["verdict"]["parts"][1] == {
        "ok": True,
        "guarantee": "TCloseness(t=0.3, reference='original')",
        "basis": "by construction",
    }
    judged = CliRunner().invoke(app, ["check", str(folder)])
    assert judged.exit_code == 3
    shown = judged.output
    assert "claimed   TCloseness(t=0.3, reference='original')" in shown
    assert "before rows were left out, which was not published" in shown


def test_same_release_of_two_originals_has_the_same_record(tmp_path: Path) -> None:
    records = []
    for number, value in enumerate(("x", "y")):
        rows = [(1, "a", "x")] * 4 + [(1, "a", "y")] * 4 + [(21, "c", value)]
        search = OptimalLattice(
            KAnonymity(2) & TCloseness(0.3, **ORIGINAL), max_suppressed=1, highest={"age": 0, "town": 0}
        )
        folder = search.release(table_of(rows)).write(tmp_path / str(number))
        record = json.loads((folder / "release.json").read_text())
        records.append({name: part for name, part in record.items() if name != "files"})
    assert records[0] == records[1]


def test_what_no_table_shows_is_refused(tmp_path: Path) -> None:
    rows = [(1, "a", "x"), (1, "a", "y")]
    with pytest.raises(SchemaError, match="which no table shows"):
        TCloseness(0.3, **ORIGINAL).check(table_of(rows))
    patients = Table(pa.table({"who": [1, 1], "age": [1, 1], "s": ["x", "y"]}), {
        "who": person(), "age": quasi(), "s": sensitive()})  # fmt: skip
    with pytest.raises(SchemaError, match="where people are counted"):
        Mondrian(TCloseness(0.3, **ORIGINAL)).release(patients)
    release = Mondrian(TCloseness(0.5, **ORIGINAL)).release(table_of(rows))
    with pytest.raises(SchemaError, match="does not have"):
        release.guarantee.check(table_of([(1, "a", "w")]))


def test_new_rows_are_compared_with_themselves() -> None:

    rows = [(1, "a", "x"), (1, "a", "y")] * 3
    release = Mondrian(TCloseness(0.5, **ORIGINAL)).release(table_of(rows))
    recipe = Recipe(release.recipe, release.private)
    later = recipe.apply(table_of([(2, "a", "z"), (2, "a", "w")]).frame)
    assert later.verdict.word == "by construction"
    with pytest.raises(SchemaError, match="the original, which is gone"):
        recipe.apply(table_of(rows).frame, released=later.frame)
