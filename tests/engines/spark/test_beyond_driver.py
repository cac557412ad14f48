"""Tuples that exceed what the driver fetches: Mondrian cuts on the cluster, and finds the groups of one machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.engines.spark.test_spark import lent, lines

from discreet import Recipe, Table, identifier, intervals, masked, other, person, quasi, sensitive
from discreet.core.errors import InfeasibleError, InputError
from discreet.engines.spark import session as sessions
from discreet.engines.sql import source as sources
from discreet.guarantees import DistinctDiversity, KAnonymity, RecursiveDiversity, TCloseness
from discreet.measure import risk
from discreet.publish import Generalization, Mondrian, OptimalLattice

GRADES = ["none", "little", "some", "much", "all"]
ROLES = {
    "ssn": identifier(),
    "age": quasi(intervals(5, 20)),
    "zip": quasi(masked()),
    "town": quasi(),
    "pay": quasi(),
    "grade": quasi(ordered=GRADES),
    "disease": sensitive(),
    "dose": other(),
}
MOST = 640
COUNTED = ["segment", "columns", "code", "n_rows", "n_tuples"]


def rows(n: int = 1500, seed: int = 3) -> pa.Table:
    """Return rows of which most are unlike all others: nulls, trees, an order, a set of more values than are named."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "ssn": [f"planted-{number:05d}" for number in range(n)],
            "age": [
                None if number % 97 == 0 else int(age) for number, age in enumerate(rng.integers(18, 90, n))
            ],
            "zip": [f"{int(area):05d}" for area in rng.integers(0, 40, n)],
            "town": [[f"town {t}", None][int(t > 28)] for t in rng.integers(0, 30, n)],
            "pay": rng.normal(0, 1, n).round(1),
            "grade": [GRADES[g] for g in rng.integers(0, 5, n)],
            "disease": [["flu", "cold", "hiv", None][d] for d in rng.choice(4, n, p=[0.5, 0.3, 0.1, 0.1])],
            "dose": [[-0.0, 0.5, None][d] for d in rng.integers(0, 3, n)],
        }
    )


@pytest.fixture
def few() -> Iterator[None]:
    """The driver fetches few tuples only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "MOST_TUPLES", MOST)
        yield


@pytest.mark.parametrize(
    "guarantee",
    [
        KAnonymity(25) & DistinctDiversity(3, of="disease"),
        KAnonymity(25) & TCloseness(0.2, of="disease"),
        KAnonymity(25) & RecursiveDiversity(2.5, 2, of="disease"),
    ],
    ids=["k and l", "t", "recursive"],
)
def test_groups_are_those_of_one_machine(guarantee: Any, few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch, sizes = sessions.fetched, []

    def counted(frame: Any) -> pa.Table:
        table = fetch(frame)
        assert "planted" not in str(table.to_pydict())
        sizes.append(table.num_rows)
        assert table.num_rows <= MOST + 1 or table.column_names == COUNTED
        return table

    monkeypatch.setattr(sessions, "fetched", counted)
    here = Mondrian(guarantee).release(Table(rows(), ROLES))
    there = Mondrian(guarantee).release(Table(lent(rows()), ROLES))
    assert there.original.exceeds_memory
    assert there.verdict == here.verdict
    assert lines(there.frame) == lines(here.frame)
    assert sorted(there.evidence.sizes) == sorted(here.evidence.sizes)
    assert there.recipe == here.recipe
    assert there.evidence.details == here.evidence.details
    assert there.figures.private.loss.total == pytest.approx(here.figures.private.loss.total)
    assert there.figures.private.risk_before == here.figures.private.risk_before
    assert [caution.code for caution in there.cautions] == [caution.code for caution in here.cautions]
    assert sizes


def test_a_release_is_written_and_its_recipe_is_that_of_one_machine(few: None, tmp_path: Path) -> None:
    release = Mondrian(KAnonymity(40)).release(Table(lent(rows()), ROLES))
    release.write(tmp_path / "out")
    here = Mondrian(KAnonymity(40)).release(Table(rows(), ROLES))
    assert "planted" not in (tmp_path / "out" / "release.json").read_text(encoding="utf-8")
    new = rows(200, seed=9)
    recipes = (Recipe.read(tmp_path / "out"), Recipe(here.recipe, here.private))
    applied = [recipe.apply(new).frame for recipe in recipes]
    assert lines(applied[0]) == lines(applied[1])


def test_what_is_not_searched_there_is_refused_in_one_line(few: None) -> None:
    table = Table(lent(rows()), ROLES)
    assert risk(table).n_rows == 1500
    assert risk(table) == risk(Table(rows(), ROLES))
    for method, words in (
        (Mondrian(KAnonymity(5), strict=False), "relaxed cuts"),
        (Mondrian(KAnonymity(5), summary="mean"), "means"),
        (OptimalLattice(KAnonymity(5)), "choose mondrian"),
        (Mondrian(KAnonymity(2000)), "k=2000"),
    ):
        with pytest.raises((InputError, InfeasibleError), match=rf"{words}[^\n]*$"):
            method.release(table)


def test_what_exceeds_the_result_size_of_the_driver_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    fetch = sessions.fetched

    def fetched(frame: Any) -> pa.Table:
        if "n" in frame.columns and "c1" in frame.columns:
            with sessions.failures("The rows cannot be counted"):
                raise RuntimeError(
                    "Total size of results is bigger than spark.driver.maxResultSize (1024.0 MiB)"
                )
        return fetch(frame)

    monkeypatch.setattr(sessions, "fetched", fetched)
    table = Table(lent(rows(200)), ROLES)
    assert table.exceeds_memory
    assert table.n_rows == 200


def test_people_are_not_counted_there(few: None) -> None:
    roles = {**ROLES, "ssn": person()}
    with pytest.raises(InputError, match=r"more than 640 distinct tuples[^\n]*judge fewer columns\.$"):
        Mondrian(KAnonymity(5)).release(Table(lent(rows()), roles))


def test_given_levels_are_counted_there(few: None) -> None:
    method = Generalization(
        KAnonymity(3),
        levels={"age": "top", "zip": 4, "town": "top", "pay": "top", "grade": 0},
        max_suppressed=0.9,
    )
    here, there = (method.release(Table(frame, ROLES)) for frame in (rows(), lent(rows())))
    assert there.original.exceeds_memory
    assert there.verdict == here.verdict
    assert lines(there.frame) == lines(here.frame)
