"""What is lost as quasi-identifiers are added."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Table, quasi
from discreet.core.errors import ParameterError
from discreet.guarantees import KAnonymity
from discreet.measure import loss
from discreet.publish import Mondrian, dimensions

ROWS = st.lists(
    st.tuples(st.none() | st.integers(0, 3), st.integers(0, 2), st.just(7)), min_size=1, max_size=12
)


def table(rows: list[tuple[Any, ...]]) -> Table:
    columns = {
        name: pa.array(values, pa.int64())
        for name, values in zip("abc", zip(*rows, strict=True), strict=True)
    }
    return Table(pa.table(columns), dict.fromkeys("abc", quasi()))


@settings(max_examples=30)
@given(rows=ROWS, k=st.integers(1, 3))
def test_each_step_is_what_it_says(rows: list[tuple[Any, ...]], k: int) -> None:
    steps = list(dimensions(table(rows), KAnonymity(k)))
    assert [(step.n_columns, step.column) for step in steps] == [(1, "a"), (2, "b"), (3, "c")]
    for step in steps:
        sizes = Counter(row[: step.n_columns] for row in rows)
        assert step.unique == pytest.approx(sum(size == 1 for size in sizes.values()) / len(rows))
        assert step.failing == pytest.approx(sum(size for size in sizes.values() if size < k) / len(rows))
        assert step.volume == pytest.approx(min(k / len(rows), 1) ** (1 / step.n_columns))
        assert (step.loss is None) == (len(rows) < k)
    if len(rows) >= k:
        assert steps[-1].loss == pytest.approx(loss(Mondrian(KAnonymity(k)).release(table(rows))).total)


def test_by_uniqueness_the_most_identifying_comes_first() -> None:
    rows = [(number % 2, number, 7) for number in range(6)]
    steps = dimensions(table(rows), KAnonymity(2), order="uniqueness")
    assert next(steps).column == "b"


def test_time_is_bounded_and_mistakes_are_named() -> None:
    assert len(list(dimensions(table([(1, 2, 3)]), KAnonymity(1), time_limit=1e-9))) == 0
    with pytest.raises(ParameterError, match="'order' parameter of dimensions"):
        dimensions(table([(1, 2, 3)]), KAnonymity(1), order="random")  # type: ignore[arg-type]


def test_on_the_command_line(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from click.testing import CliRunner

    from discreet.cli._app import app

    path = tmp_path / "people.csv"
    path.write_text("age,zip\n" + "\n".join(f"{20 + number},{number % 3}" for number in range(30)) + "\n")
    words = ["explore", str(path), "--quasi", "age,zip", "-k", "5", "--dimensions"]
    shown = CliRunner().invoke(app, [*words, "named"])
    assert shown.exit_code == 0
    assert [line.split()[-1] for line in shown.stdout.splitlines()[1:3]] == ["age", "zip"]
    assert '"volume"' in CliRunner().invoke(app, [*words, "uniqueness", "--json"]).stdout
    assert CliRunner().invoke(app, [*words[:-1], "-k", "2,5", "--dimensions", "named"]).exit_code == 2
