"""The checks that every publisher of synthetic tables passes; the registry of methods names them."""

from __future__ import annotations

import dataclasses
import json
import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Table, identifier, other, person, quasi, sensitive
from discreet.cli._app import app
from discreet.core.errors import (
    DiscreetError,
    InputError,
    OutputError,
    ParameterError,
    PromiseBrokenError,
    SchemaError,
)
from discreet.guarantees import DifferentialPrivacy
from discreet.guarantees.answers import COSTS, rho_of
from tests.publishing import KINDS, Publisher, discovered, every, made_as, many, planted, released_rows
from tests.strategies import tables as strategies

PUBLISHERS = discovered("table", "synthetic-data", {"aim": [{}, {"degree": 3}]})
every_publisher = every(PUBLISHERS)
DOMAINS = {
    "age": "0:100:5",
    "day": "2020-01-01:2020-12-31:30",
    "city": list(strategies.CITIES),
    "disease": ["a", "b", "c", "d"],
}
NULLABLE = ["age", "day", "city", "disease", "smoker"]


def made(make: Publisher, epsilon: Any = 2.0, **more: Any) -> Any:
    return make(epsilon, **{"domains": DOMAINS, "nullable": NULLABLE, "n_steps": 30, **more})


def people(n: int = 120) -> Table:
    return Table(strategies.frame(many(n)), strategies.plain_schema())


@every_publisher
@given(seed=st.integers(0, 9), epsilon=st.sampled_from([0.05, 1.0, 30.0]), n=st.integers(1, 40))
@settings(max_examples=6, deadline=None)
def test_the_budget_is_kept_and_rows_stay_in_their_domains(
    make: Publisher, seed: int, epsilon: float, n: int
) -> None:
    frame = strategies.frame(many(200)).take(np.random.default_rng(seed).permutation(200)[:n])
    release = made(make, epsilon).release(Table(frame, strategies.plain_schema()))
    assert release.verdict.ok
    assert math.fsum(release.evidence.details[COSTS]) <= rho_of(epsilon, 1e-9)
    assert math.fsum(release.evidence.details[COSTS]) >= 0.99 * rho_of(epsilon, 1e-9)
    assert release.verdict.worst >= 0.98 * epsilon
    assert release.frame.schema == frame.schema
    assert release.frame.num_rows == n
    assert set(release.frame["city"].to_pylist()) <= {*DOMAINS["city"], None}
    assert all(0 <= age <= 100 for age in release.frame["age"].to_pylist() if age is not None)


@every_publisher
def test_counts_come_back_where_noise_is_next_to_nothing(make: Publisher) -> None:
    """With a huge budget, columns have their true counts, but for the fit and for what drawing rounds."""
    even = people(400).frame
    # Uneven counts, so that rows drawn evenly would be far from them.
    often = (
        1
        + 4 * np.asarray(even["disease"].to_numpy() == "a")
        + 4 * np.asarray(even["city"].to_numpy() == "Oslo")
    )
    frame = even.take(np.repeat(np.arange(400), often))
    release = made(make, 200.0, n_steps=100).release(Table(frame, strategies.plain_schema()))
    for name in ("city", "smoker", "disease"):
        true, drawn = (rows[name].value_counts().to_pylist() for rows in (frame, release.frame))
        counts = {cell["values"]: cell["counts"] for cell in drawn}
        wrong = [abs(cell["counts"] - counts.get(cell["values"], 0)) / len(frame) for cell in true]
        assert max(wrong) <= 0.05
        if name != "smoker":
            assert max(cell["counts"] / len(frame) for cell in true) > 1 / len(true) + 0.1


@every_publisher
def test_an_attacker_who_knows_the_method_gains_no_more_than_epsilon(make: Publisher) -> None:
    """One row, in two worlds: no outcome is likelier in one than e^epsilon times in the other, within 4 deviations."""
    epsilon, n = 0.5, 80
    counts = []
    for secret in ("a", "b"):
        table = Table(pa.table({"x": [secret]}), {"x": quasi()})
        publisher = make(epsilon, domains={"x": ["a", "b"]}, n_steps=10)
        counts.append(sum(publisher.release(table).frame["x"][0].as_py() == "a" for _ in range(n)))
    first, second = (max(count, 1) / n for count in counts)
    slack = 4 * math.sqrt(0.25 / n)
    assert first <= math.exp(epsilon) * second + 2 * slack
    assert first >= second - slack


@every_publisher
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_comes_back_and_stays_as_it_was(make: Publisher, kind: str) -> None:
    frame = made_as(kind, strategies.frame(many()))
    release = made(make).release(Table(frame, strategies.plain_schema()))
    assert type(release.frame) is type(frame)
    assert len(released_rows(release)) == 120


@every_publisher
def test_noise_cannot_be_drawn_again_and_the_global_generator_is_untouched(make: Publisher) -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (made(make).release(people()).frame for _ in range(2))
    assert not first.equals(second)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    with pytest.raises(TypeError, match="random_state"):
        made(make, random_state=1)


@every_publisher
def test_planted_identifiers_never_appear(
    make: Publisher, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    domains = {"age": "0:10:1", "disease": ["ILL-0", "ILL-1", "ILL-2"], "ward": ["w"]}
    release = make(1.0, domains=domains).release(planted())
    assert release.frame.column_names == ["age", "disease", "ward"]
    out = release.write(tmp_path / "out")
    texts = [
        repr(release),
        repr(release.evidence),
        str(release.recipe),
        caplog.text,
        str(release.frame.to_pylist()),
    ]
    files = (*out.iterdir(), *(tmp_path / "out.private").iterdir())
    texts += [path.read_bytes().decode("utf-8", "replace") for path in files]
    with pytest.raises(SchemaError) as caught:
        make(1.0, domains={**domains, "disease": ["ILL-0"]}).release(planted())
    assert "ILL" not in str(caught.value)
    assert "26 of 40" in str(caught.value)
    assert not any("SECRET" in text or "HIDDEN" in text for text in texts)


@every_publisher
def test_the_public_folder_does_not_depend_on_the_people_but_for_the_rows(
    make: Publisher, tmp_path: Path
) -> None:
    """What release.json says apart from digests is the same for people of other values, as long as they are as many."""
    records = []
    for name, value in (("one", "a"), ("two", "b")):
        frame = pa.table({"x": [value] * 30, "y": [value == "a"] * 30})
        release = make(1.0, domains={"x": ["a", "b"]}).release(Table(frame, {"x": quasi(), "y": sensitive()}))
        record = json.loads((release.write(tmp_path / name) / "release.json").read_text())
        records.append({key: value for key, value in record.items() if key not in ("files", "cautions")})
    assert records[0] == records[1]


@every_publisher
def test_written_releases_are_checked_as_claimed(make: Publisher, tmp_path: Path) -> None:
    folder = made(make).release(people()).write(tmp_path / "out")
    checked = CliRunner().invoke(app, ["check", str(folder), "--json"], standalone_mode=False)
    assert json.loads(checked.output)["verdict"] == "claimed"


@every_publisher
@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"epsilon": 0.0}, ParameterError, "'epsilon' parameter of"),
        ({"epsilon": DifferentialPrivacy(1.0)}, ParameterError, "'delta' parameter of"),
        ({"domains": {}}, SchemaError, "No domain is declared for 'age', 'day', 'city', 'disease'"),
        ({"domains": {**DOMAINS, "none": ["x"]}}, SchemaError, "'none', which is not published"),
        ({"domains": {**DOMAINS, "city": "0:1:1"}}, SchemaError, "has no bins"),
        ({"domains": {**DOMAINS, "city": ["Rome", "Rome"]}}, SchemaError, "twice, or null"),
        ({"domains": {**DOMAINS, "city": []}}, SchemaError, "1 to 100,000 cells"),
        ({"domains": {**DOMAINS, "age": "0:100"}}, SchemaError, "LOW:HIGH:WIDTH, such as 0:100:5"),
        ({"domains": {**DOMAINS, "age": "0:1e9:1"}}, SchemaError, "1 to 100,000 cells"),
        ({"domains": {**DOMAINS, "age": "9:1:1"}}, SchemaError, "a lower and a higher end"),
        ({"domains": {**DOMAINS, "age": "0:100:2.5"}}, SchemaError, "whole numbers"),
        ({"domains": {**DOMAINS, "age": ["x"]}}, SchemaError, "not of the column's type"),
        ({"domains": {**DOMAINS, "day": "0:1:1"}}, SchemaError, "such as 1930-01-01:2010-12-31:365"),
        ({"domains": {**DOMAINS, "city": "tree"}}, SchemaError, "no tree that names its leaves"),
        ({"domains": 3}, ParameterError, "'domains' parameter of"),
        ({"nullable": []}, SchemaError, "nulls"),
        ({"nullable": "age"}, ParameterError, "'nullable' parameter of"),
        ({"max_cells": 0}, ParameterError, "'max_cells' parameter of"),
        ({"n_steps": 0}, ParameterError, "'n_steps' parameter of"),
    ],
)
def test_wrong_parameters_and_domains_are_named(
    make: Publisher, more: dict[str, Any], error: type[DiscreetError], message: str
) -> None:
    with pytest.raises(error, match=message):
        made(make, **{"epsilon": 1.0, **more}).release(people())


@every_publisher
def test_one_row_no_row_one_column_and_units(make: Publisher) -> None:
    one = Table(pa.table({"x": [7]}), {"x": quasi()})
    assert make(1.0, domains={"x": "0:10:1"}).release(one).frame.num_rows == 1
    with pytest.raises(InputError, match="no rows"):
        make(1.0, domains={"x": "0:10:1"}).release(
            Table(pa.table({"x": pa.array([], pa.int64())}), {"x": quasi()})
        )
    visits = Table(pa.table({"who": ["a", "a"], "x": [1, 2]}), {"who": person(), "x": quasi()})
    with pytest.raises(SchemaError, match="counts rows"):
        make(1.0, domains={"x": "0:10:1"}).release(visits)
    names = Table(
        pa.table({"who": ["a"], "x": [True], "y": ["z"]}), {"who": identifier(), "x": quasi(), "y": other()}
    )
    assert make(1.0, domains={"y": ["z"]}).release(names).frame.column_names == ["x", "y"]


@every_publisher
def test_values_beyond_the_bins_are_in_the_outermost_and_types_stay(make: Publisher) -> None:
    frame = pa.table(
        {
            "n": pa.array([-5, 200, 50, 50] * 50, pa.int16()),
            "f": pa.array([-5.0, 1e9, 0.5, 0.25] * 50, pa.float32()),
            "d": pa.array([0, 40_000, 10_000, 10_000] * 50, pa.int32()).cast(pa.date32()),
        }
    )
    domains = {"n": "0:100:10", "f": "0:1:0.25", "d": "1980-01-01:2019-12-31:30"}
    release = make(1e4, domains=domains).release(Table(frame, {name: quasi() for name in frame.column_names}))
    assert release.frame.schema == frame.schema
    numbers = release.frame.to_pydict()
    assert 0 <= min(numbers["n"]) <= max(numbers["n"]) <= 100
    assert 0 <= min(numbers["f"]) <= max(numbers["f"]) <= 1
    assert str(min(numbers["d"])) >= "1980-01-01"
    assert str(max(numbers["d"])) <= "2019-12-31"
    assert sum(number < 10 for number in numbers["n"]) == pytest.approx(50, abs=8)
    assert sum(number >= 90 for number in numbers["n"]) == pytest.approx(50, abs=8)


@every_publisher
def test_the_letter_is_the_guarantee_and_broken_promises_are_never_written(
    make: Publisher, tmp_path: Path
) -> None:
    table = people(30)
    release = made(make, DifferentialPrivacy(1.0, 1e-9)).release(table)
    assert release.guarantee == made(make, 1.0).release(table).guarantee
    weaker, stronger = (
        dataclasses.replace(release, guarantee=DifferentialPrivacy(e, 1e-9)) for e in (2, 0.5)
    )
    assert weaker.verdict.ok
    with pytest.raises(PromiseBrokenError):
        stronger.write(tmp_path / "broken")
    assert not (tmp_path / "broken").exists()
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "mine.txt").write_text("mine")
    with pytest.raises(OutputError):
        release.write(foreign, overwrite=True)
    assert [path.name for path in foreign.iterdir()] == ["mine.txt"]


def test_leaves_of_a_tree_are_a_domain_where_that_is_said() -> None:
    from discreet import from_mapping
    from discreet.publish import Mst

    tree = from_mapping({"Rome": "Italy", "Bari": "Italy", "Bonn": "Germany"}, {"Italy": "*", "Germany": "*"})
    table = Table(pa.table({"city": ["Rome", "Rome"]}), {"city": quasi(tree)})
    with pytest.raises(SchemaError, match="No domain"):
        Mst(1).release(table)
    release = Mst(0.001, domains={"city": "tree"}).release(table)
    assert set(release.frame["city"].to_pylist()) <= {"Rome", "Bari", "Bonn"}
