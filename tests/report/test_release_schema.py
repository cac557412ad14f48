"""release.json has one layout, and a published schema that every kind of release is tested against."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from tests.test_common_public import BASKET_METHODS, BASKETS, SCHEMA, TABLE_METHODS, people

from discreet import Table
from discreet.output.hiding import ExactHiding

LAYOUT = json.loads(files("discreet.report").joinpath("release.schema.json").read_text(encoding="utf-8"))


def check(folder: Path) -> None:
    record = json.loads((folder / "release.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    jsonschema.Draft202012Validator(LAYOUT).validate(record)
    assert set(record["files"]) == {path.name for path in folder.iterdir()} - {"release.json"}


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_tables(method: str, tmp_path: Path) -> None:
    check(TABLE_METHODS[method]().release(Table(people(), SCHEMA)).write(tmp_path / "out"))


@pytest.mark.parametrize("method", BASKET_METHODS)
def test_baskets_and_sketches(method: str, tmp_path: Path) -> None:
    check(BASKET_METHODS[method]().release(BASKETS).write(tmp_path / "out"))


def test_hidden_rules(tmp_path: Path) -> None:
    hider = ExactHiding(["item1 => item3"], min_support=2, min_confidence=0.1)
    check(hider.hide(BASKETS).write(tmp_path / "out"))


def test_the_schema_can_refuse(tmp_path: Path) -> None:
    folder = TABLE_METHODS["mondrian"]().release(Table(people(), SCHEMA)).write(tmp_path / "out")
    record = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    told = record["verdict"] | {"guarantee": "two\nlines"}
    outside = {"../data.csv": record["files"]["data.csv"]}
    malformed = ({"verdict": {"ok": True}}, {"verdict": told}, {"files": outside})
    for wrong in ({"seed": 7}, {"loss": 0.1}, {"kind": "soup"}, *malformed):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(record | wrong, LAYOUT)
