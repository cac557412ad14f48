"""The three attacks, calibrated on releases whose risk is known: none, half, total; and on generalized ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from discreet import Table, intervals, masked, other, quasi, sensitive
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.guarantees import KAnonymity
from discreet.measure import Attacks, AttackSuccess, Rate, membership_attack, regulators_attacks
from discreet.publish import Generalization, Mondrian

ROLES = {"age": quasi(intervals(5, 20)), "zip": quasi(masked()), "town": quasi(), "ill": sensitive()}


def people(n: int, seed: int) -> pa.Table:
    """People whose quasi-identifiers name them, and say nothing about their illness."""
    rng = np.random.default_rng(seed)
    return pa.table({
        "age": rng.integers(18, 90, n),
        "zip": [f"{number:05d}" for number in rng.integers(10_000, 99_999, n)],
        "town": [f"town {number}" for number in rng.integers(0, 20_000, n)],
        "ill": rng.choice(["flu", "gout", "cold", "none"], n, p=[0.1, 0.2, 0.3, 0.4]),
    })  # fmt: skip


ORIGINAL, CONTROL = people(600, 1), people(600, 2)


def attacked(released: pa.Table, **options: Any) -> Attacks:
    table = Table(
        released, {name: quasi() if name != "ill" else sensitive() for name in released.column_names}
    )
    return regulators_attacks(
        table, Table(ORIGINAL, ROLES), control=Table(CONTROL, ROLES), random_state=3, **options
    )


def test_no_risk() -> None:
    """Nothing but stars, and values dealt out anew."""
    rng = np.random.default_rng(0)
    stars = {name: pa.array(["*"] * 600) for name in ("age", "zip", "town")}
    attacks = attacked(
        pa.table(stars | {"ill": rng.permutation(ORIGINAL["ill"].to_numpy(zero_copy_only=False))})
    )
    assert attacks.singling_out.rate.n_right == 0
    assert attacks.linkability is not None
    assert attacks.linkability.baseline == pytest.approx(1 / 600)
    assert attacks.linkability.rate.share < 0.02
    assert attacks.inference["ill"].rate.share == pytest.approx(0.4, abs=0.05)
    for success in attacks.all:
        assert success.risk < 0.1
        assert success.low == 0


def test_total_risk() -> None:
    attacks = attacked(ORIGINAL)
    assert attacks.linkability is not None
    assert attacks.singling_out.rate.share > 0.97
    assert attacks.linkability.rate.share > 0.97
    assert attacks.inference["ill"].rate.share == 1.0
    assert attacks.inference["ill"].control is not None
    assert attacks.inference["ill"].control.share == pytest.approx(0.4, abs=0.06)
    for success in attacks.all:
        assert success.risk > 0.9
        assert success.high >= success.risk >= success.low > 0.85


def test_half_the_risk() -> None:
    """Of every second person the row is published; the other rows are somebody's who does not exist."""
    strangers = people(300, 9)
    attacks = attacked(pa.concat_tables([ORIGINAL.slice(0, 300), strangers]))
    assert attacks.linkability is not None
    assert attacks.singling_out.rate.share == pytest.approx(0.5, abs=0.07)
    assert attacks.linkability.rate.share == pytest.approx(0.5, abs=0.07)
    assert attacks.inference["ill"].risk == pytest.approx(0.5, abs=0.1)


def test_generalized_releases_are_read_by_their_labels() -> None:
    original = Table(ORIGINAL, ROLES)
    fine = Generalization(KAnonymity(1), levels={"age": 1, "zip": 1, "town": 0}, random_state=0).release(
        original
    )
    coarse = Mondrian(KAnonymity(20), random_state=0).release(original)
    by_release = [
        regulators_attacks(release, original, control=Table(CONTROL, ROLES), random_state=5)
        for release in (fine, coarse)
    ]
    assert by_release[0].linkability is not None
    assert by_release[1].linkability is not None
    assert by_release[0].linkability.rate.share > 0.8
    assert by_release[1].linkability.rate.share < 0.1
    assert by_release[0].inference["ill"].risk > 0.9 > 0.4 > by_release[1].inference["ill"].risk
    assert by_release[0].attackers.prosecutor.mean > by_release[1].attackers.prosecutor.mean


def test_a_release_that_is_what_everybody_is_like_has_no_risk_beside_its_control() -> None:
    """The illness follows from the town: the attack is right about anybody, and the control group shows it."""
    towns = np.random.default_rng(4).integers(0, 4, 900)
    frame = pa.table({"age": np.arange(900) % 70, "town": towns, "ill": towns})
    first, second = frame.slice(0, 450), frame.slice(450)
    roles = {"age": quasi(intervals(100)), "town": quasi(), "ill": sensitive()}
    release = Generalization(KAnonymity(5), levels={"age": 1}, random_state=0).release(Table(first, roles))
    attacks = regulators_attacks(release, first, control=second, random_state=0)
    assert attacks.inference["ill"].rate.share == 1.0
    assert attacks.inference["ill"].risk == 0.0
    alone = regulators_attacks(release, first, random_state=0)
    assert alone.inference["ill"].control is None
    assert alone.inference["ill"].risk == 1.0


def test_numbers_are_guessed_to_within_a_share_of_their_range() -> None:
    frame = pa.table({"age": np.arange(200), "income": np.arange(200) * 10.0})
    table = Table(frame, {"age": quasi(), "income": sensitive()})
    attacks = regulators_attacks(table, table, random_state=0)
    assert attacks.linkability is None
    assert attacks.inference["income"].rate.share == 1.0
    assert attacks.inference["income"].baseline == pytest.approx(0.1, abs=0.02)


def test_same_seed_same_attack_and_input_untouched() -> None:
    before = ORIGINAL.to_pylist()
    assert attacked(ORIGINAL, n_attacks=50).to_dict() == attacked(ORIGINAL, n_attacks=50).to_dict()
    assert ORIGINAL.to_pylist() == before


def test_nulls_one_row_and_no_value_in_figures() -> None:
    frame = pa.table({"age": pa.array([None], pa.int64()), "ill": pa.array([None], pa.string())})
    table = Table(frame, {"age": quasi(), "ill": sensitive()})
    attacks = regulators_attacks(table, table, random_state=0)
    assert attacks.inference["ill"].rate.share == 1.0
    words = json.dumps(attacked(ORIGINAL, n_attacks=20).to_dict()) + repr(attacked(ORIGINAL, n_attacks=20))
    assert not any(value in words for value in ("flu", "gout", "town 1", ORIGINAL["zip"][0].as_py()))


def test_bad_input_is_one_line() -> None:
    table = Table(ORIGINAL, ROLES)
    with pytest.raises(SchemaError, match="The control group lacks column 'town'"):
        regulators_attacks(table, table, control=CONTROL.drop_columns(["town"]))
    with pytest.raises(ParameterError, match="The 'n_attacks' parameter of regulators_attacks must be"):
        regulators_attacks(table, table, n_attacks=0)
    with pytest.raises(ParameterError, match="The 'released' parameter"):
        regulators_attacks(ORIGINAL, table)  # type: ignore[arg-type]


@given(st.integers(0, 60), st.integers(1, 60))
def test_intervals_are_wilsons(n_right: int, n_attempts: int) -> None:
    n_right = min(n_right, n_attempts)
    rate = Rate.of(n_right, n_attempts)
    interval = binomtest(n_right, n_attempts).proportion_ci(method="wilson")
    assert (rate.low, rate.high) == (
        pytest.approx(interval.low, abs=1e-9),
        pytest.approx(interval.high, abs=1e-9),
    )


@given(st.integers(0, 50), st.integers(0, 50), st.floats(0, 0.9))
def test_risk_lies_in_its_interval(n_right: int, n_control: int, baseline: float) -> None:
    for control in (None, Rate.of(n_control, 50)):
        success = AttackSuccess.of("any", Rate.of(n_right, 50), control, baseline)
        assert 0 <= success.low <= success.risk + 1e-12
        assert success.risk - 1e-12 <= success.high <= 1


def test_no_attempts_say_nothing() -> None:
    assert (Rate.of(0, 0).low, Rate.of(0, 0).high) == (0, 1)


def test_membership_of_copies_and_of_strangers() -> None:
    rng = np.random.default_rng(0)
    tables = [
        Table(pa.table({"a": rng.normal(size=300), "b": rng.normal(size=300)}), {"a": quasi(), "b": quasi()})
        for _ in range(3)
    ]
    copies = membership_attack(tables[0], tables[0], control=tables[1])
    assert copies.risk > 0.99
    strangers = membership_attack(tables[2], tables[0], control=tables[1])
    assert strangers.low < 0.5 < strangers.high
    alone = membership_attack(tables[2], tables[0])
    assert (alone.membership, alone.low, alone.high) == (None, 0, 1)
    assert "proves nothing" in str(alone.to_dict()["closeness_proves"])


def test_release_folder_against_its_original(tmp_path: Path) -> None:
    from pyarrow import csv

    from discreet.job.evidence.attacking import attack_release

    release = Mondrian(KAnonymity(3), random_state=0).release(Table(ORIGINAL, ROLES))
    release.write(tmp_path / "release")
    for name, frame in (("original", ORIGINAL), ("control", CONTROL)):
        csv.write_csv(frame, tmp_path / f"{name}.csv")
    original, control = tmp_path / "original.csv", tmp_path / "control.csv"
    from_files = attack_release(tmp_path / "release", original, control=control, n_attacks=200, seed=1)
    assert isinstance(from_files, Attacks)
    assert from_files.linkability is not None
    from_memory = regulators_attacks(
        release, Table(ORIGINAL, ROLES), control=CONTROL, n_attacks=200, random_state=1
    )
    assert from_memory.linkability is not None
    assert from_files.inference["ill"].rate.share == pytest.approx(
        from_memory.inference["ill"].rate.share, abs=0.1
    )
    assert from_files.linkability.rate.share == pytest.approx(from_memory.linkability.rate.share, abs=0.1)
    csv.write_csv(CONTROL.drop_columns(["zip"]), control)
    with pytest.raises(InputError, match="lacks column 'zip'"):
        attack_release(tmp_path / "release", original, control=control)


def test_other_columns_take_no_part() -> None:
    table = Table(
        pa.table({"age": [1, 2], "note": ["x", "y"]}), {"age": quasi(), "note": other(allow_unique=True)}
    )
    assert regulators_attacks(table, table, random_state=0).singling_out.rate.n_attempts > 0
