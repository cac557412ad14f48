"""Risk against the records themselves."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import tables as oracles

from discreet import Table, intervals, quasi, sensitive
from discreet.core.errors import ParameterError, SchemaError
from discreet.guarantees import KAnonymity
from discreet.measure import class_size_histogram, risk
from discreet.publish import Generalization

ROWS = st.lists(
    st.fixed_dictionaries(
        {"age": st.none() | st.integers(20, 23), "town": st.none() | st.sampled_from(["Ulm", "Łódź", "東京"])}
    ),
    min_size=1,
    max_size=25,
)
TYPES = pa.schema([("age", pa.int64()), ("town", pa.string())])


def table_of(rows: list[dict[str, Any]]) -> Table:
    return Table(pa.Table.from_pylist(rows, schema=TYPES), {"age": quasi(), "town": quasi()})


@given(rows=ROWS, threshold=st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 1.0]))
def test_prosecutor_over_records(rows: list[dict[str, Any]], threshold: float) -> None:
    found = risk(table_of(rows), threshold=threshold)
    of_record = [1 / sum(other == row for other in rows) for row in rows]
    sizes = sorted(map(len, oracles.equivalence_classes(rows, ["age", "town"])))
    assert found.prosecutor.highest == max(of_record)
    assert found.prosecutor.mean == pytest.approx(np.mean(of_record))
    assert found.prosecutor.records_above == sum(one > threshold for one in of_record)
    assert found.prosecutor.share_above == found.prosecutor.records_above / len(rows)
    assert found.marketer == pytest.approx(len(sizes) / len(rows))
    assert found.journalist is None
    assert (found.uniques, found.uniques_share) == (sizes.count(1), sizes.count(1) / len(rows))
    assert (found.n_rows, found.n_classes) == (len(rows), len(sizes))
    assert (found.smallest_class, found.largest_class) == (sizes[0], sizes[-1])
    assert found.median_class == np.median(sizes)


@given(rows=ROWS, others=ROWS)
def test_journalist_over_a_population(rows: list[dict[str, Any]], others: list[dict[str, Any]]) -> None:
    """The population may lack people; it is never smaller than the sample."""
    found = risk(table_of(rows), population=table_of(others))
    people = [max(sum(one == row for one in others), sum(one == row for one in rows)) for row in rows]
    assert found.journalist is not None
    assert found.journalist.highest == 1 / min(people)
    assert found.journalist.mean == pytest.approx(np.mean([1 / n for n in people]))
    assert found.journalist.records_above == sum(1 / n > 0.2 for n in people)
    assert found.marketer == found.journalist.mean
    assert found.journalist.highest <= found.prosecutor.highest


def test_release_against_its_population_in_clear() -> None:
    people = pa.table({"age": [21, 22, 23, 24, 31, 32, 39]})
    sample = Table(pa.table({"age": [21, 24, 31, 32]}), {"age": quasi(intervals(10))})
    release = Generalization(KAnonymity(2), levels={"age": 1}).release(sample)
    found = risk(release, population=Table(people, {"age": quasi()}))
    assert found.prosecutor.highest == 1 / 2
    assert found.journalist is not None
    assert found.journalist.highest == 1 / 3
    assert found.marketer == pytest.approx((2 / 4 + 2 / 3) / 4)


def test_everything_starred_is_one_class() -> None:
    starred = Table(pa.table({"age": ["*"] * 4, "town": ["*"] * 4}), {"age": quasi(), "town": quasi()})
    found = risk(starred, population=table_of([{"age": 20 + n % 3, "town": None} for n in range(9)]))
    assert (found.n_classes, found.prosecutor.highest) == (1, 0.25)
    assert found.journalist is not None
    assert found.journalist.highest == 1 / 9


@given(rows=ROWS)
def test_histogram_counts_every_class_and_row(rows: list[dict[str, Any]]) -> None:
    bars = class_size_histogram(table_of(rows).groups())
    sizes = [len(one) for one in oracles.equivalence_classes(rows, ["age", "town"])]
    assert bars.sizes.tolist() == sorted(set(sizes))
    assert bars.classes.tolist() == [sizes.count(size) for size in sorted(set(sizes))]
    assert bars.rows.tolist() == [size * sizes.count(size) for size in sorted(set(sizes))]


def test_plain_data() -> None:
    rows = [{"age": 20, "town": "Ulm"}] * 3
    plain = json.loads(json.dumps(risk(table_of(rows), population=table_of(rows)).to_dict()))
    assert plain["journalist"]["highest"] == plain["prosecutor"]["highest"] == pytest.approx(1 / 3)
    assert "Ulm" not in str(plain)


def test_refusals() -> None:
    table = table_of([{"age": 20, "town": "Ulm"}])
    with pytest.raises(ParameterError, match="'threshold' parameter of risk"):
        risk(table, threshold=1.5)
    with pytest.raises(ParameterError, match="'subject' parameter of risk"):
        risk(table.frame)
    with pytest.raises(SchemaError, match="quasi-identifier 'town'"):
        risk(
            table,
            population=Table(pa.table({"age": [20], "town": ["Ulm"]}), {"age": quasi(), "town": sensitive()}),
        )
