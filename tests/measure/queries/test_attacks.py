"""Query attacks: against exact answers they find the values, against audited ones none."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from discreet.core.errors import ParameterError
from discreet.measure import QueryTarget, averaging, differencing
from discreet.measure.queries.attacks import ATTACKS
from discreet.output.audit import PrivateAnswers, SumAuditor, Vault
from discreet.output.audit.attacking import Unaudited, attack


def staff(n: int = 40, *, nulls: bool = False) -> pa.Table:
    rng = np.random.default_rng(5)
    age = rng.integers(20, 60, n).tolist()
    return pa.table(
        {
            "age": [None if nulls and one % 7 == 0 else one for one in age],
            "dept": ["abc"[one] for one in rng.integers(0, 3, n)],
            "sex": ["mf"[one] for one in rng.integers(0, 2, n)],
            "pay": rng.integers(1000, 9000, n),
        }
    )


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("nulls", [False, True])
def test_the_gate_alone_is_defeated_and_the_auditor_is_not(name: str, nulls: bool) -> None:
    vault = Vault.in_memory(
        staff(nulls=nulls), sensitive=["pay"], public=["age", "dept", "sex"], auditor=SumAuditor(low=0)
    )
    [found] = attack(vault, attacks=[name], random_state=1)
    assert found.pinned == 0
    assert found.pinned_unaudited >= 0.7 * found.targets > 0
    assert vault.history() == [], "the vault's own log is untouched"


def test_what_is_claimed_is_true_without_an_auditor() -> None:
    table = staff()
    vault = Vault.in_memory(table, sensitive=["pay"], public=["age", "dept", "sex"], auditor=Unaudited())
    public = {name: table[name].to_pylist() for name in ("age", "dept", "sex")}
    target = QueryTarget(lambda sql: vault.ask(sql).value, public, "pay")
    found = differencing(target, random_state=0)
    truth = table["pay"].to_pylist()
    assert found.claims
    assert all(value == truth[record] for record, value in found.claims.items())


def test_averaging_undoes_fresh_noise_but_not_the_logged_one() -> None:
    table = staff()
    public = {name: table[name].to_pylist() for name in ("age", "dept", "sex")}
    truth = np.array(table["pay"].to_pylist(), float)
    rng = np.random.default_rng(0)
    exact = Vault.in_memory(table, sensitive=["pay"], public=list(public), auditor=Unaudited())
    fresh = QueryTarget(lambda sql: exact.ask(sql).value + rng.normal(0, 100), public, "pay")
    assert averaging(fresh, n_times=80, random_state=0).pinned(truth, tolerance=0.01) >= 4
    private = Vault.in_memory(
        table, sensitive=["pay"], public=list(public), auditor=PrivateAnswers(epsilon=5, low=0, high=10000)
    )
    logged = QueryTarget(lambda sql: getattr(private.ask(sql), "value", None), public, "pay")
    found = averaging(logged, n_times=20, random_state=0)
    assert logged.answered == 100
    assert found.pinned(truth, tolerance=0.01) <= 1
    assert private.epsilon_left == pytest.approx(2.5), "five different questions, however often"


def test_wrong_names() -> None:
    vault = Vault.in_memory(staff(), sensitive=["pay"], public=["age"], auditor=SumAuditor(low=0))
    with pytest.raises(ParameterError, match="differencing"):
        attack(vault, attacks=["guessing"])
    with pytest.raises(ParameterError, match="column"):
        attack(vault, column="age")
