"""Differentially private answers: the budget, the log, and the noise."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from discreet.cli._app import app
from discreet.core.errors import ParameterError
from discreet.guarantees import DifferentialPrivacy, NoValueDisclosed
from discreet.output.audit import Answer, Denied, PrivateAnswers, QueryError, SumAuditor, Vault
from discreet.output.audit.attacking import attack
from discreet.output.audit.auditor import BUDGET_SPENT
from discreet.output.audit.private import noisy

TABLE = pa.table(
    {
        "age": list(range(40)),
        "dept": ["x", "y"] * 20,
        "pay": [float(k % 10) for k in range(40)],
        "tax": [float(k % 5) for k in range(40)],
    }
)


@pytest.fixture
def vault(tmp_path: Path):
    pq.write_table(TABLE, tmp_path / "data.parquet")
    made = Vault.create(
        tmp_path / "vault",
        tmp_path / "data.parquet",
        sensitive=["pay", "tax"],
        public=["age", "dept"],
        auditor=PrivateAnswers(epsilon=1.0, low=0, high=10, per_question=0.1),
    )
    yield made
    made.close()


def test_ten_tenths_are_one(vault: Vault) -> None:
    for age in range(10):
        answer = vault.ask(f"SELECT sum({'pay' if age % 2 else 'tax'}) FROM data WHERE age > {age}")
        assert answer.epsilon_left == pytest.approx(0.9 - 0.1 * age)
    assert answer.epsilon_left == 0
    assert vault.ask("SELECT sum(pay) FROM data") == Denied(BUDGET_SPENT)
    assert vault.ask("SELECT sum(pay) FROM data WHERE age > 9"), "answered before, so it costs nothing"
    assert vault.ask("SELECT count(*) FROM data WHERE dept = 'x'").value == 20


def test_equal_questions_have_equal_answers(vault: Vault) -> None:
    first = vault.ask("SELECT sum(pay) FROM data WHERE age >= 30")
    same = vault.ask("SELECT sum(pay) FROM data WHERE NOT age < 30 AND dept IN ('x', 'y')")
    assert first.rows == same.rows
    assert same.epsilon_left == first.epsilon_left
    mean = vault.ask("SELECT avg(pay) FROM data WHERE age >= 30")
    assert mean.value == pytest.approx(first.value / 10)
    vault.close()
    with Vault.open(vault.folder) as again:
        assert again.ask("SELECT sum(pay) FROM data WHERE age >= 30").rows == first.rows
        assert again.epsilon_left == first.epsilon_left
        better = again.ask("SELECT sum(pay) FROM data WHERE age >= 30", epsilon=0.5)
        assert better.epsilon_left == pytest.approx(0.4)


def test_with_histories_apart_the_log_states_what_is_left_to_who_spent_most(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "data.parquet")
    auditor = PrivateAnswers(epsilon=1.0, low=0, high=10, per_question=0.1)
    columns = {"sensitive": ["pay"], "public": ["age"], "pooled": False}
    with Vault.create(tmp_path / "vault", tmp_path / "data.parquet", auditor=auditor, **columns) as apart:
        assert apart.epsilon_left == 1
        apart.ask("SELECT sum(pay) FROM data WHERE age > 3", user="ann", epsilon=0.7)
        apart.ask("SELECT sum(pay) FROM data WHERE age > 3", user="bob")
        assert apart.epsilon_left == pytest.approx(0.3)
        assert apart.epsilon_left_to("carl") == 1
    printed = CliRunner().invoke(app, ["audit", "log", str(tmp_path / "vault")]).output
    assert "0.3 left to the user who spent most" in printed


def test_groups_cost_one_question(vault: Vault) -> None:
    answer = vault.ask("SELECT dept, sum(pay) FROM data GROUP BY dept")
    assert len(answer.rows) == 2
    assert answer.epsilon_left == pytest.approx(0.9)
    with pytest.raises(QueryError, match="one sensitive column"):
        vault.ask("SELECT sum(pay), sum(tax) FROM data")


def test_a_charge_without_an_answer_stays(vault: Vault, monkeypatch) -> None:
    """The process ends between the commit of the question and the draw: the charge is there when it comes back."""
    from discreet.output.audit import private

    def died(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(private, "noisy", died)
    with pytest.raises(KeyboardInterrupt):
        vault.ask("SELECT sum(pay) FROM data")
    monkeypatch.undo()
    vault.close()
    with Vault.open(vault.folder) as again:
        assert again.epsilon_left == pytest.approx(0.9)
        assert again.ask("SELECT sum(pay) FROM data").epsilon_left == pytest.approx(0.9)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_noise_has_the_spread_it_should(mechanism) -> None:
    auditor = PrivateAnswers(epsilon=1.0, low=0, high=1, mechanism=mechanism)
    drawn = np.array([noisy(auditor, 0, 1.0) for _ in range(1500)]) / (1 << 20)
    spread = np.sqrt(2) if mechanism == "laplace" else 1 / np.sqrt(2 * float(auditor.cost(1.0)))
    assert abs(drawn.mean()) < 6 * spread / np.sqrt(1500)
    assert 0.8 * spread < drawn.std() < 1.25 * spread
    assert not np.array_equal(drawn, [noisy(auditor, 0, 1.0) / (1 << 20) for _ in range(1500)])


def test_the_gaussian_budget_adds_up_by_squares() -> None:
    """By zero-concentrated privacy many small questions cost less than their epsilons' sum."""
    auditor = PrivateAnswers(epsilon=1.0, low=0, high=10, per_question=0.1, mechanism="gaussian")
    assert auditor.epsilon_of(auditor.cost(0.3)) == pytest.approx(0.3)
    with Vault.in_memory(TABLE, sensitive=["pay"], public=["age"], auditor=auditor) as vault:
        answered = sum(bool(vault.ask(f"SELECT sum(pay) FROM data WHERE age > {age}")) for age in range(39))
    assert answered > 30


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": 0},
        {"low": 11},
        {"mechanism": "uniform"},
        {"delta": 0},
        {"per_question": 2},
        {"epsilon": float("nan")},
    ],
)
def test_parameters_are_checked(bad) -> None:
    with pytest.raises(ParameterError, match=next(iter(bad))):
        PrivateAnswers(**{"epsilon": 1, "low": 0, "high": 10} | bad)


def test_a_question_cannot_cost_nothing(vault: Vault) -> None:
    for epsilon in (0, -1, 5, float("nan")):
        with pytest.raises(ParameterError, match="epsilon"):
            vault.ask("SELECT sum(pay) FROM data", epsilon=epsilon)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_the_verdict_is_about_the_budget_and_never_about_values(
    mechanism: Literal["laplace", "gaussian"],
) -> None:
    """One statement with a large epsilon settles every bit; a verdict of no value disclosed would be false."""
    frame = pa.table({"id": list(range(40)), "ill": [i % 2 for i in range(40)]})
    auditor = PrivateAnswers(epsilon=400, low=0, high=1, per_question=100, mechanism=mechanism)
    with Vault.in_memory(frame, sensitive=["ill"], public=["id"], auditor=auditor) as vault:
        answer = vault.ask("SELECT id, sum(ill) FROM data GROUP BY id")
        assert isinstance(answer, Answer)
        assert sum((value > 0.5) == bool(i % 2) for i, value in answer.rows) > 35
        verdict = vault.verdict
        assert isinstance(vault.guarantee, DifferentialPrivacy)
        assert verdict.ok
        assert verdict.worst == pytest.approx(100)
        assert "100 %" in vault.guarantee.describe()
        with pytest.raises(ParameterError, match="DifferentialPrivacy judges them"):
            NoValueDisclosed().check(vault)
        assert not DifferentialPrivacy(50, 1e-9).check(vault).ok
        assert DifferentialPrivacy(100.001).check(vault).ok == (
            mechanism == "laplace"
        )  # the Gaussian has a delta


def test_an_exact_vault_is_not_judged_by_a_budget() -> None:
    frame = pa.table({"id": list(range(10)), "pay": list(range(10))})
    with Vault.in_memory(frame, sensitive=["pay"], public=["id"], auditor=SumAuditor(low=0)) as vault:
        with pytest.raises(ParameterError, match="answers exactly"):
            DifferentialPrivacy(1).check(vault)
        assert vault.auditor.cautions == ()


def test_a_large_budget_is_cautioned() -> None:
    assert PrivateAnswers(epsilon=2, low=0, high=1).cautions == ()
    assert "hides little" in PrivateAnswers(epsilon=3, low=0, high=1).cautions[0]


def test_attacks_count_values_found_to_within_half_a_step() -> None:
    """Each answer is within a fraction of a step of the truth, and none equals it."""
    frame = pa.table({"id": list(range(30)), "pay": [7000 + 311 * k for k in range(30)]})
    outcomes = {}
    for epsilon in (1e6, 0.1):
        auditor = PrivateAnswers(epsilon=epsilon, low=7000, high=17_000, per_question=epsilon / 25)
        with Vault.in_memory(frame, sensitive=["pay"], public=["id"], auditor=auditor) as vault:
            assert vault.steps == {"pay": None}
            trials = attack(vault, attacks=["differencing"], random_state=1)
        outcomes[epsilon] = [(trial.pinned, trial.pinned_unaudited) for trial in trials]
    assert outcomes[1e6][0][0] > 0
    assert outcomes[0.1][0][0] == 0
    assert outcomes[1e6][0][1] == outcomes[0.1][0][1] == 20


def test_attacks_on_numbers_without_a_step_single_a_value_out() -> None:
    frame = pa.table({"id": list(range(30)), "pay": [0.5 + 10 * k / 3 for k in range(30)]})
    auditor = PrivateAnswers(epsilon=1e6, low=0, high=100, per_question=1e4)
    with Vault.in_memory(frame, sensitive=["pay"], public=["id"], auditor=auditor) as vault:
        [trial] = attack(vault, attacks=["differencing"], random_state=1)
    assert trial.pinned == trial.pinned_unaudited == 20
