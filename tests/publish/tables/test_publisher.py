"""The base of table publishers: a method that writes only its search is checked, counted, recorded and released."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from discreet import Recipe, Table, identifier, other, person, quasi, sensitive
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.release import Cells
from discreet.core.tables.source import Replacement
from discreet.guarantees import KAnonymity
from discreet.publish.tables.publisher import Plan, TablePublisher

ROWS = pa.table({
    "name": ["ann", "bob", "cid", "dan"],
    "age": [24, 37, 26, 38],
    "disease": ["flu", "flu", "gout", "gout"],
})  # fmt: skip
ROLES = {"name": identifier(), "age": quasi(), "disease": sensitive()}


class Starred(TablePublisher):
    """Publish nothing of the quasi-identifiers."""

    def _plan(self, table: Table, rng: np.random.Generator) -> Plan:
        n_tuples = table.tuples.counts.size
        stars = {name: Replacement(np.zeros(1, np.int32), pa.array(["*"])) for name in table.schema.quasi}
        return Plan(
            np.array([table.n_rows]),
            {name: Cells(np.zeros(1, np.int32), np.ones(1), np.array([table.n_rows])) for name in stars},
            by_piece={
                name: Replacement(np.zeros(n_tuples, np.int32), star.labels) for name, star in stars.items()
            },
            groups=stars,
            boxes={name: {"index": [0], "labels": ["*"]} for name in stars},
        )


def test_a_search_alone_makes_a_release() -> None:
    release = Starred(KAnonymity(4), random_state=3).release(Table(ROWS, ROLES))
    assert release.verdict.ok
    assert release.frame.column_names == ["age", "disease"]
    assert release.frame["age"].to_pylist() == ["*"] * 4
    assert release.recipe["method"] == "Starred"
    assert release.recipe["seed"] == 3
    again = Recipe(release.recipe, release.private).apply(ROWS, random_state=3)
    assert again.frame["age"].to_pylist() == ["*"] * 4


def test_the_order_of_the_rows_follows_from_the_seed_alone() -> None:
    frames = [Starred(KAnonymity(4), random_state=seed).release(Table(ROWS, ROLES)).frame for seed in (1, 1)]
    backward = Table(ROWS.take([3, 2, 1, 0]), ROLES)
    assert frames[0].equals(frames[1])
    assert sorted(Starred(KAnonymity(4)).release(backward).frame["disease"].to_pylist()) == sorted(
        frames[0]["disease"].to_pylist()
    )


def test_units_are_counted_and_what_cannot_be_kept_is_seen() -> None:
    table = Table(
        ROWS.set_column(0, "name", pa.array(["ann", "ann", "bob", "bob"])), ROLES | {"name": person()}
    )
    assert not Starred(KAnonymity(3)).release(table).verdict.ok
    assert Starred(KAnonymity(2)).release(table).verdict.ok


def test_what_every_publisher_refuses() -> None:
    with pytest.raises(ParameterError, match="'table' parameter of Starred"):
        Starred(KAnonymity(2)).release(ROWS)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'guarantee' parameter of Starred"):
        Starred(5).release(Table(ROWS, ROLES))  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="value of their own"):
        Starred(KAnonymity(2)).release(Table(ROWS, ROLES | {"name": other()}))
