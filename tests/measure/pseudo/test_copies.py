"""Copies: counted as the slow definition does, in every type of column, and reported to the owner alone."""

from __future__ import annotations

import json
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.oracles import condensation as oracles
from tests.strategies import tables as strategies

from discreet import Table, identifier, quasi, sensitive
from discreet.core.errors import SchemaError
from discreet.measure import copies, copies_between
from discreet.publish import Condensation, StreamCondensation


@given(original=strategies.rows(), released=strategies.rows())
@settings(max_examples=60)
def test_copies_are_counted_as_by_the_slow_definition(
    original: list[dict[str, Any]], released: list[dict[str, Any]]
) -> None:
    released = [*released, *original[::2]]
    schema = strategies.plain_schema()
    first, second = (Table(strategies.frame(rows), schema) for rows in (original, released))
    known = list(first.schema.quasi)
    found = copies_between(first, second)
    assert astuple(found) == oracles.counted_copies(
        strategies.frame(original).to_pylist(), strategies.frame(released).to_pylist(), known
    )


@pytest.mark.parametrize(
    ("held", "equal"),
    [
        (pa.array([0.0, 1.5, None]), pa.array([-0.0, 1.5, None])),
        (pa.array([1.0, float("nan")]), pa.array([1.0, float("nan")])),
        (pa.array(["a", "b"]).dictionary_encode(), pa.array(["a", "b"])),
        (pa.array([2**62, 2**62 + 1]), pa.array([2**62, 2**62 + 1])),
        (pa.array([1, 2], pa.int8()), pa.array([1.0, 2.0])),
    ],
)
def test_equal_cells_are_equal_in_every_type(held: pa.Array, equal: pa.Array) -> None:
    first, second = (Table(pa.table({"a": one}), {"a": quasi()}) for one in (held, equal))
    assert copies_between(first, second).unique == len(held)


def test_a_label_does_not_single_out_and_defused_texts_are_still_copies() -> None:
    frame = pa.table({"town": ["=x", "=x", "y"], "ill": ["a", "b", "a"]})
    table = Table(frame, {"town": quasi(), "ill": quasi()}, spreadsheet_safe=True)
    release = Condensation(1, label="ill").release(table)
    assert "'=x" in release.frame["town"].to_pylist()
    found = copies(release)
    assert (found.equal, found.unique, found.people, found.singled_out) == (3, 3, 3, 1)


def people(n: int = 400) -> Table:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "town": rng.choice(list("abcdef"), n),
            "ill": rng.choice(["no", "yes"], n),
        }
    )
    return Table(frame, {"age": quasi(), "town": quasi(), "ill": sensitive()})


def test_the_owner_reads_of_copies_and_the_public_does_not(tmp_path: Path) -> None:
    release = Condensation(10, avoid_copies=False, random_state=0).release(people())
    found = copies(release)
    assert found.unique > 0
    assert found.singled_out > 0
    caution = next(one for one in release.cautions if one.code == "copies")
    assert f"{found.unique:,} of 400 released rows equal a record that is unique" in caution.text
    assert f"{found.singled_out:,} rows have the quasi-identifiers of one person alone" in caution.text
    assert not caution.public
    folder = release.write(tmp_path / "out")
    private = tmp_path / "out.private"
    record = json.loads((private / "recipe.private.json").read_text())
    assert record["measures"]["copies"] == found.to_dict()
    assert caution.text in (private / "report-internal.html").read_text()
    public = json.loads((folder / "release.json").read_text())
    assert [one["code"] for one in public["cautions"]] == ["seeded"]
    assert "copies" not in public
    page = (folder / "report.html").read_text()
    assert "none is published" not in page
    assert "can equal a record" in page
    assert "Rows that equal a record were not avoided" in page
    assert caution.text not in page


def test_a_stream_has_no_original_to_count_copies_in(tmp_path: Path) -> None:
    stream = StreamCondensation(5, columns=["x"], init_number=20, random_state=0)
    stream.partial_fit(np.random.default_rng(0).normal(size=(50, 1)))
    release = stream.release()
    with pytest.raises(SchemaError, match="copies cannot be counted"):
        copies(release)
    assert not [one for one in release.cautions if one.code == "copies"]
    page = (release.write(tmp_path / "out") / "report.html").read_text()
    assert "copies of them could not be counted" in page


def test_copies_of_adult_are_reported_and_avoided(shared_data: Path) -> None:
    names = [*(f"column {number}" for number in range(14)), "class"]
    adult = pd.read_csv(
        shared_data / "adult-uci" / "adult.data.gz",
        header=None,
        names=names,
        skipinitialspace=True,
        nrows=6000,
    ).dropna()
    table = Table(adult, {name: identifier() if name == "column 2" else quasi() for name in names})
    method = Condensation(10, label="class", segment="blocked", random_state=1)
    exact = copies(method.set_params(avoid_copies=False).release(table))
    assert exact.unique > 20
    assert exact.singled_out > 20
    release = method.set_params(avoid_copies=True).release(table)
    avoided = copies(release)
    assert avoided.singled_out == 0
    assert avoided.unique < exact.unique / 5
    assert release.frame.shape[0] + release.evidence.suppressed == len(adult)
    assert release.evidence.suppressed < 5
