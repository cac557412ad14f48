"""The two parts of a recipe: the public one follows from what is published; the private one lies apart."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from discreet import Recipe, Release, Table, intervals, masked, other, quasi, sensitive, tree
from discreet.core.errors import DiscreetError, HierarchyError, InputError
from discreet.guarantees import KAnonymity
from discreet.publish import (
    Anatomy,
    Generalization,
    GlobalRecoding,
    Incognito,
    LocalRecoding,
    Microaggregation,
    Mondrian,
    OptimalLattice,
    Samarati,
)
from discreet.publish.recipes.recipe import PRIVATE, private_place

TOWNS = {"north": ["Kiel", "Bremen"], "south": ["Ulm", "Passau", "Hof"]}
PUBLISHERS: dict[str, Callable[[], Any]] = {
    "Mondrian": lambda: Mondrian(KAnonymity(3), random_state=1),
    "Mondrian relaxed": lambda: Mondrian(KAnonymity(3), strict=False, random_state=1),
    "Mondrian means": lambda: Mondrian(KAnonymity(3), summary="mean", random_state=1),
    "LocalRecoding": lambda: LocalRecoding(KAnonymity(3), max_suppressed=0.4, random_state=1),
    "GlobalRecoding": lambda: GlobalRecoding(KAnonymity(3), max_suppressed=0.4, random_state=1),
    "Microaggregation": lambda: Microaggregation(KAnonymity(3), random_state=1),
    "Generalization": lambda: Generalization(
        KAnonymity(3), levels={"age": 1, "zip": 1, "town": 1}, max_suppressed=0.5, random_state=1
    ),
    "OptimalLattice": lambda: OptimalLattice(KAnonymity(3), max_suppressed=0.4, random_state=1),
    "Samarati": lambda: Samarati(KAnonymity(3), max_suppressed=0.4, random_state=1),
    "Incognito": lambda: Incognito(KAnonymity(3), max_suppressed=0.4, random_state=1),
    "Anatomy": lambda: Anatomy(2, random_state=1),
}


def table_of(rows: list[tuple[int, int, str]], *, trees: bool) -> Table:
    frame = pa.table(
        {
            "age": [age for age, _, _ in rows],
            "zip": [f"{code:05d}" for _, code, _ in rows],
            "town": [town for _, _, town in rows],
            "ward": ["w"] * len(rows),
            "disease": [f"d{at % 4}" for at in range(len(rows))],
        }
    )
    roles = {"age": intervals(5, 20), "zip": masked(width=5), "town": tree(TOWNS)} if trees else {}
    columns = {name: quasi(roles.get(name)) for name in ("age", "zip", "town")}
    return Table(frame, {**columns, "ward": other(), "disease": sensitive()})


def published(release: Release) -> list[tuple[object, ...]]:
    """Return the released rows without the sensitive column, sorted."""
    frame = release.frame.drop_columns([name for name in ("disease",) if name in release.frame.column_names])
    return sorted(zip(*(map(str, column) for column in frame.to_pydict().values()), strict=True))


ROWS = st.tuples(
    st.integers(20, 39), st.sampled_from([1000, 1001, 1010]), st.sampled_from(["Kiel", "Bremen", "Ulm"])
)


@pytest.mark.parametrize("trees", [True, False])
@pytest.mark.parametrize("name", sorted(PUBLISHERS))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_originals_with_the_same_release_have_the_same_public_recipe(
    name: str, trees: bool, data: Any
) -> None:
    rows = data.draw(st.lists(ROWS, min_size=6, max_size=12))
    other_rows = [
        (data.draw(st.integers(20, 39)) if data.draw(st.booleans()) else age, code, town)
        for age, code, town in rows
    ]
    try:
        one, two = (PUBLISHERS[name]().release(table_of(own, trees=trees)) for own in (rows, other_rows))
    except DiscreetError:
        assume(False)
        return
    if published(one) == published(two):
        assert json.dumps(one.recipe) == json.dumps(two.recipe)
    public = json.dumps(one.recipe)
    cells = {str(cell) for row in published(one) for cell in row}
    for town in ("Kiel", "Bremen", "Ulm", "Passau", "Hof"):
        assert f'"{town}"' not in public or town in " ".join(cells)


def test_a_k_map_promise_is_not_broken_by_the_recipe() -> None:
    """Two groups of one node: their branches, and the ends below a mean, are finer than what is published."""
    rows = [(age, 1000, town) for age in (21, 22, 31, 32) for town in ("Ulm", "Passau", "Hof")]
    for report in ("box", "mean"):
        release = Mondrian(KAnonymity(3), summary=report).release(table_of(rows, trees=report == "box"))
        public = json.dumps(release.recipe)
        assert "branches" not in public
        assert "boxes" not in public
        assert "boxes" in release.private
        if report == "mean":
            assert "[21, " not in public


def test_the_private_part_lies_beside_the_folder_for_its_owner_alone(tmp_path: Path) -> None:
    release = Mondrian(KAnonymity(3)).release(
        table_of([(21, 1000, "Ulm"), (25, 1001, "Hof")] * 4, trees=True)
    )
    release.write(tmp_path / "release")
    place = private_place(tmp_path / "release")
    assert place == tmp_path / "release.private" / PRIVATE
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert sorted(path.name for path in (tmp_path / "release").iterdir()) == [
        "codebook.csv",
        "croissant.json",
        "data.csv",
        "datapackage.json",
        "release.json",
        "report.html",
    ]
    assert Recipe.read(tmp_path / "release" / "release.json").private
    moved = tmp_path / "safe.json"
    place.rename(moved)
    recipe = Recipe.read(tmp_path / "release" / "release.json", private=moved)
    assert recipe.apply(release.original.frame).verdict.ok


def test_what_the_public_part_lacks_is_named(tmp_path: Path) -> None:
    table = table_of([(21, 1000, "Ulm"), (25, 1001, "Hof")] * 4, trees=True)
    with pytest.raises(InputError, match=rf"hierarchy of 'town'.*{PRIVATE}"):
        Recipe(Mondrian(KAnonymity(3)).release(table).recipe).apply(table.frame)
    plain = table_of([(21, 1000, "Ulm"), (25, 1001, "Hof")] * 4, trees=False)
    with pytest.raises(InputError, match=f"boxes.*{PRIVATE}"):
        Recipe(Mondrian(KAnonymity(3), summary="mean").release(plain).recipe).apply(plain.frame)
    assert Recipe(Mondrian(KAnonymity(3)).release(plain).recipe).apply(plain.frame).verdict.ok


def test_one_long_code_uncovers_nobody() -> None:
    rows = [(21, code, "Ulm") for code in (2138, 2139)] * 3
    table = table_of(rows, trees=False)
    columns = {**table.schema, "zip": quasi(masked())}
    old = Generalization(KAnonymity(3), levels={"zip": 2}).release(Table(table.frame, columns))
    assert set(old.frame["zip"].to_pylist()) == {"021**"}
    recipe = Recipe(json.loads(json.dumps(old.recipe)), old.private)
    longer = table.frame.set_column(1, "zip", pa.array([*(["02138"] * 5), "02139-1234"]))
    with pytest.raises(HierarchyError, match="1 codes are longer than the 5 characters"):
        recipe.apply(longer)
    same = recipe.apply(table.frame)
    assert set(same.frame["zip"].to_pylist()) == set(old.frame["zip"].to_pylist())


@pytest.mark.parametrize("method", [Samarati, Mondrian])
def test_what_is_kept_apart_stays_apart_when_the_recipe_is_applied(method: Any) -> None:
    """Nothing of a hierarchy shows in starred columns, nor in the release of new rows, made with the private part."""
    codes = [f"{number}0000" for number in range(1, 7)]
    frame = pa.table({"age": [1, 150, 700, 20, 80, 900], "zip": codes, "disease": ["a", "b"] * 3})
    columns = {
        "age": quasi(intervals(5, 10, 20, top=800)),
        "zip": quasi(masked(), allow_unique=True),
        "disease": sensitive(),
    }
    old = method(KAnonymity(6)).release(Table(frame, columns))
    assert {*old.frame["age"].to_pylist(), *old.frame["zip"].to_pylist()} == {"*"}
    assert old.private["columns"]["zip"]["hierarchy"]["width"] == 5
    assert old.private["columns"]["age"]["hierarchy"]["top"] == 800
    recipe = Recipe(json.loads(json.dumps(old.recipe)), json.loads(json.dumps(old.private)))
    new = recipe.apply(frame)
    for one in (old, new, Recipe(old.recipe).apply(frame)):
        assert not any("hierarchy" in entry or "type" in entry for entry in one.recipe["columns"])
        assert set(one.recipe.get("levels", {"zip": "top"}).values()) == {"top"}
        assert one.verdict.ok
