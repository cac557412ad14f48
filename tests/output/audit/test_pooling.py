"""Histories apart: what users learn who pool their answers, and what the verdict then says."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from discreet.core.verdict import Basis
from discreet.guarantees import DifferentialPrivacy, NoValueDisclosed
from discreet.output.audit import (
    BooleanAuditor,
    Bound,
    ExtremaAuditor,
    IntervalAuditor,
    PrivateAnswers,
    SumAuditor,
    Vault,
)
from discreet.output.audit.auditor import Auditor

PEOPLE = pa.table(
    {
        "id": list(range(12)),
        "pay": [7000 + 311 * k for k in range(12)],
        "ill": [0, 0, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0],
    }
)
CONDITION = "if users do not pool their answers"


def apart(auditor: Auditor, column: str = "pay", pooled: bool = False) -> Vault:
    return Vault.in_memory(PEOPLE, sensitive=[column], public=["id"], auditor=auditor, pooled=pooled)


@pytest.mark.parametrize(
    ("auditor", "function"),
    [
        (SumAuditor(low=0, high=100_000), "sum"),
        (SumAuditor(low=0), "sum"),
        (IntervalAuditor(low=0, high=100_000, width=100), "sum"),
        (ExtremaAuditor(low=0), "max"),
    ],
)
def test_a_verdict_over_histories_apart_is_assumed_and_counts_what_pooling_discloses(
    auditor: Auditor, function: str
) -> None:
    """The salary of the last record follows from two answers to two users, and every user alone learns none."""
    with apart(auditor) as vault:
        assert vault.ask(f"SELECT {function}(pay) FROM data", user="ann")
        assert "no value so far" in vault.cautions[-1]
        assert vault.ask(f"SELECT {function}(pay) FROM data WHERE id <> 11", user="bob")
        verdict = vault.verdict
        assert verdict.ok
        assert verdict.basis is Basis.ASSUMED
        assert CONDITION in str(verdict)
        assert CONDITION in json.dumps(verdict.to_dict())
        assert NoValueDisclosed().check(vault).basis is Basis.ASSUMED
        assert vault.disclosures() == {"pay": (0, 12)}
        settled, count = vault.joint_disclosures()["pay"]
        assert settled >= 1
        assert count == 12
        assert f"up to {settled} of 12 values of pay" in vault.cautions[-1]
        assert "each user alone" in vault.promise


def test_one_history_for_all_is_judged_by_construction() -> None:
    with apart(SumAuditor(low=0), pooled=True) as vault:
        assert vault.ask("SELECT sum(pay) FROM data", user="ann")
        assert vault.verdict.basis is Basis.CONSTRUCTION
        assert vault.cautions == ()
        assert vault.joint_disclosures() == vault.disclosures() == {"pay": (0, 12)}
        assert "alone" not in vault.promise


def test_what_two_users_had_of_the_same_set_counts_together() -> None:
    """To ann "at most 1" of four bits is released; bob, who knows more, has another part of the truth."""
    with apart(BooleanAuditor("id"), "ill") as vault:
        first = "SELECT sum(ill) FROM data WHERE id < 4"
        assert vault.ask(first, user="ann").value == Bound("at most", 1)
        audit = vault._session._audit("bob", "ill")
        question = next(iter(vault._session._questions(_latest(vault)).values()))
        audit.restore(question, [0])
        audit.restore(question, [Bound("at most", 1)])
        assert audit.disclosed() == 4
        other = vault._session._audit("eve", "ill")
        other.restore(question, [Bound("at most", 1)])
        assert other.disclosed() == 0
        other.restore(question, [0])
        assert other.disclosed() == 4


def test_sums_of_the_same_set_count_together() -> None:
    with apart(SumAuditor(low=0)) as vault:
        assert vault.ask("SELECT sum(pay) FROM data", user="ann")
        question = next(iter(vault._session._questions(_latest(vault)).values()))
        audit = vault._session._audit("bob", "pay")
        audit.restore(question, [Bound("at most", 100_000)])
        assert audit.disclosed() == 0
        audit.restore(question, [0])
        assert audit.disclosed() == 12


def _latest(vault: Vault):
    return [entry for entry in vault._log.entries() if entry.kind == "query"][-1]


def test_the_costs_of_users_who_pool_add_up() -> None:
    with apart(PrivateAnswers(epsilon=1, low=0, high=100_000, per_question=0.4)) as vault:
        for user in ("ann", "bob", "eve"):
            assert vault.ask("SELECT sum(pay) FROM data", user=user)
        assert vault.ask("SELECT avg(pay) FROM data WHERE id < 6", user="ann")
        verdict = vault.verdict
        assert verdict.ok
        assert verdict.basis is Basis.ASSUMED
        assert verdict.worst == pytest.approx(0.8)
        assert CONDITION in str(verdict)
        assert vault.joint_privacy_loss() == (pytest.approx(1.6), 0.0)
        assert "an epsilon of 1.6 so far" in vault.cautions[-1]
        assert (DifferentialPrivacy(1) & DifferentialPrivacy(2)).check(vault).basis is Basis.ASSUMED
