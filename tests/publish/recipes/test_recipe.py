"""Recipes: new rows are protected as the old ones were, judged afresh, and no record is in the recipe."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet import Baskets, Recipe, Release, Table, identifier, intervals, masked, other, quasi, sensitive
from discreet.core.errors import InfeasibleError, InputError, SchemaError
from discreet.guarantees import EntropyDiversity, KAnonymity
from discreet.publish import AprioriAnonymization, DeltaSketch, Generalization, Mondrian, SketchFamily
from discreet.publish.recipes.recipe_parts import group_labels

KEY = b"a key of at least sixteen bytes"


def patients(seed: int, n: int = 400) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "ssn": [f"SECRET-{seed}-{i}" for i in range(n)],
            "age": rng.integers(20, 60, n),
            "zip": [f"{code:05d}" for code in rng.integers(1000, 1020, n)],
            "sex": rng.choice(["f", "m"], n),
            "disease": rng.choice(["flu", "cold", "hiv"], n),
            "ward": rng.choice(["a", "b"], n),
        }
    )


def columns(*, trees: bool, pseudonym: bytes | None = None) -> dict[str, object]:
    return {
        "ssn": identifier(pseudonym=pseudonym),
        "age": quasi(intervals(5, 20) if trees else None),
        "zip": quasi(masked(levels=3) if trees else None),
        "sex": quasi(),
        "disease": sensitive(),
        "ward": other(),
    }


def through_json(release: Release, *, private: bool = True) -> Recipe:
    """Read the recipe of a release from text, with the private part or without."""
    kept = json.loads(json.dumps(release.private)) if private else None
    return Recipe(json.loads(json.dumps(release.recipe)), kept)


@pytest.mark.parametrize("trees", [True, False])
@pytest.mark.parametrize("summary", ["box", "mean"])
def test_boxes_protect_the_same_rows_as_the_release_did(trees: bool, summary: str) -> None:
    table = Table(patients(0), columns(trees=trees))
    release = Mondrian(KAnonymity(4) & EntropyDiversity(1.5), summary=summary).release(table)
    again = through_json(release).apply(patients(0))
    assert again.verdict.ok
    assert again.evidence.suppressed == 0
    order = [(name, "ascending") for name in release.frame.column_names]
    assert again.frame.sort_by(order).equals(release.frame.sort_by(order))
    assert sorted(again.evidence.sizes) == sorted(release.evidence.sizes)
    for name, cells in release.evidence.cells.items():
        new = again.evidence.cells[name]
        old_loss = (cells.loss[cells.index] * release.evidence.sizes).sum()
        assert (new.loss[new.index] * again.evidence.sizes).sum() == pytest.approx(old_loss)


def test_recipes_with_lists_of_numbers_are_still_read() -> None:
    release = Mondrian(KAnonymity(4)).release(Table(patients(0), columns(trees=True)))
    earlier = Recipe(listed(release.recipe), listed(release.private))
    order = [(name, "ascending") for name in release.frame.column_names]
    again, before = (recipe.apply(patients(1)).frame for recipe in (through_json(release), earlier))
    assert again.sort_by(order).equals(before.sort_by(order))


@pytest.mark.parametrize("index", ["AAE", "/w==", "", "é", [0, -1], [0, True], [], 7, None])
def test_damaged_numbers_of_labels_are_refused(index: object) -> None:
    release = Mondrian(KAnonymity(4)).release(Table(patients(0), columns(trees=False)))
    cells = release.recipe["cells"]
    damaged = {**release.recipe, "cells": {**cells, "age": {**cells["age"], "index": index}}}
    with pytest.raises(InputError, match="not one this version"):
        Recipe(damaged)


def listed(part: object) -> object:
    """Return a part of a recipe as earlier versions wrote it: numbers of labels as lists."""
    if not isinstance(part, dict):
        return part
    written = {name: listed(value) for name, value in part.items()}
    return written | {"index": group_labels(part).tolist()} if "index" in part else written


def test_new_rows_outside_every_box_are_refused_or_left_out() -> None:
    release = Mondrian(KAnonymity(4)).release(Table(patients(0), columns(trees=False)))
    recipe = through_json(release)
    new = patients(1, 4000)
    with pytest.raises(InfeasibleError, match="max_suppressed=0"):
        recipe.apply(new, misfits="suppress")
    applied = recipe.apply(new, misfits="suppress", max_suppressed=0.9)
    assert applied.verdict.ok
    assert 0 < applied.evidence.suppressed < 3600
    assert applied.frame.num_rows == 4000 - applied.evidence.suppressed


def test_levels_protect_values_never_seen_before() -> None:
    table = Table(patients(0), columns(trees=True))
    release = Generalization(KAnonymity(2), levels={"age": 2, "zip": 2, "sex": 1}).release(table)
    assert release.evidence.levels == {"age": 2, "zip": 2, "sex": 1}
    new = patients(1).set_column(1, "age", pa.array(np.random.default_rng(2).integers(0, 100, 400)))
    applied = through_json(release).apply(new, max_suppressed=0.1)
    assert applied.verdict.ok
    assert set(release.frame["zip"].to_pylist()) == set(applied.frame["zip"].to_pylist())


def test_a_relation_is_protected_alike() -> None:
    release = Mondrian(KAnonymity(4)).release(Table(patients(0), columns(trees=True)))
    recipe = through_json(release)
    applied = recipe.apply(duckdb.connect().from_arrow(patients(0)))
    assert applied.verdict.ok
    assert len(applied.frame.fetchall()) == 400


def test_no_record_and_no_key_is_in_a_recipe() -> None:
    table = Table(patients(0), columns(trees=True, pseudonym=KEY))
    recipe = Mondrian(KAnonymity(4)).release(table).recipe
    text = json.dumps(recipe)
    assert "SECRET" not in text
    assert KEY.decode() not in text
    with pytest.raises(SchemaError, match="give their key again"):
        Recipe(recipe).apply(patients(0))
    applied = Recipe(recipe).apply(patients(0), keys={"ssn": KEY})
    assert applied.verdict.ok
    assert set(applied.frame["ssn"].to_pylist()) == set(
        Mondrian(KAnonymity(4)).release(table).frame["ssn"].to_pylist()
    )


def test_what_is_no_recipe_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no recipe"):
        Recipe.read(tmp_path / "absent.json")
    (tmp_path / "broken.json").write_text('{"format": 1, "SECRET')
    with pytest.raises(InputError, match="cannot be read") as caught:
        Recipe.read(tmp_path / "broken.json")
    assert "SECRET" not in str(caught.value)
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(InputError, match="not one this version"):
        Recipe.read(tmp_path / "other.json")


def test_a_release_that_is_not_of_rows_is_called_what_it_is(tmp_path: Path) -> None:
    shop = Baskets.from_lists([["tea", "milk"], ["tea", "milk"], ["milk"], ["tea"]])
    AprioriAnonymization(2, 2).release(shop).write(tmp_path / "baskets")
    DeltaSketch(0.5, family=SketchFamily("key")).release(shop).write(tmp_path / "sketches")
    for name in ("baskets", "sketches"):
        with pytest.raises(InputError, match=f"The recipe is one of {name}"):
            Recipe.read(tmp_path / name / "release.json")


NUMBERS = {
    "int16": pa.int16(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "decimal": pa.decimal128(10, 2),
}


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("new", NUMBERS)
@pytest.mark.parametrize("old", NUMBERS)
def test_numbers_that_come_in_another_type_go_to_the_cells_published_before(
    old: str, new: str, level: int, tmp_path: Path
) -> None:
    ages = [31, 33, 38, 45, 47, 49, None] * 3
    columns = {"age": quasi(intervals(10, 20))}
    release = Generalization(KAnonymity(3), levels={"age": level}).release(
        Table(pa.table({"age": pa.array(ages, NUMBERS[old])}), columns)
    )
    release.write(tmp_path / "release", report=False)
    recipe = Recipe.read(tmp_path / "release" / "release.json")
    again = recipe.apply(pa.table({"age": pa.array(ages, NUMBERS[new])}))
    assert sorted(again.frame["age"].to_pylist(), key=str) == sorted(
        release.frame["age"].to_pylist(), key=str
    )
    assert again.frame.schema.field("age").type == release.frame.schema.field("age").type
    again.write(tmp_path / "again", report=False)
    third = Recipe.read(tmp_path / "again" / "release.json").apply(pa.table({"age": ages}))
    assert set(third.frame["age"].to_pylist()) == set(release.frame["age"].to_pylist())


def test_numbers_that_do_not_fit_the_type_before_keep_their_own(tmp_path: Path) -> None:
    table = Table(pa.table({"age": [31, 33, 38] * 3}), {"age": quasi(intervals(10))})
    Generalization(KAnonymity(3), levels={"age": 1}).release(table).write(tmp_path / "release", report=False)
    recipe = Recipe.read(tmp_path / "release" / "release.json")
    assert set(recipe.apply(pa.table({"age": [31.5, 39.5, 33.0]})).frame["age"].to_pylist()) == {"[30, 40)"}


def test_a_relation_of_floats_goes_to_the_cells_of_whole_numbers() -> None:
    table = Table(pa.table({"age": [31, 33, 38] * 3}), {"age": quasi(intervals(10))})
    release = Generalization(KAnonymity(3), levels={"age": 1}).release(table)
    recipe = Recipe(release.recipe, release.private)
    relation = duckdb.connect().sql("SELECT * FROM (VALUES (31.0::DOUBLE), (38.0), (35.0)) AS t(age)")
    assert set(recipe.apply(relation).frame.fetchall()) == {("[30, 39]",)}
