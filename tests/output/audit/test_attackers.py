"""Many random queries, judged by exact linear algebra over the true answers: not one record is disclosed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.oracles import audit as oracles_audit

from discreet.output.audit.auditor import Denied, Question
from discreet.output.audit.gate.columns import SecretColumn
from discreet.output.audit.sums import SumAuditor

SETS = 100_000


def sets_by(style: str, rng: np.random.Generator, n: int) -> np.ndarray:
    if style == "random":
        return rng.random(n) < rng.uniform(0.05, 0.95)
    if style == "ranges":
        low, high = np.sort(rng.integers(0, n + 1, 2))
        return (np.arange(n) >= low) & (np.arange(n) < high)
    if style == "pairs":
        return np.isin(np.arange(n), rng.integers(0, n, 2 + rng.integers(0, 2)))
    members = np.ones(n, np.bool_)
    members[rng.integers(0, n, rng.integers(0, 3))] = False
    return members


@pytest.mark.parametrize("style", ["random", "ranges", "pairs", "complements"])
def test_no_record_is_disclosed(style: str) -> None:
    rng = np.random.default_rng(11)
    asked = 0
    for n in (6, 8, 10, 12, 20):
        values = rng.integers(0, 1000, n).tolist()
        column = SecretColumn.of(values)
        audit = SumAuditor(group=2, minimum_set_size=0).over(column)
        answers: dict[bytes, tuple[np.ndarray, Fraction]] = {}
        denied: list[np.ndarray] = []
        for _ in range(SETS // 20):
            members = sets_by(style, rng, n)
            asked += 1
            found = audit.ask(Question("sum", (members,)), [column.total(members)])
            if isinstance(found, Denied):
                denied.append(members)
            elif members.any():
                answers[members.tobytes()] = (members, found[0])
        kept = [members.astype(int).tolist() for members, _ in answers.values()]
        assert not oracles_audit.determined(kept)
        for members, total in answers.values():
            assert total == sum(value for value, inside in zip(values, members, strict=True) if inside)
        basis = oracles_audit.echelon(kept)
        for members in denied[:: max(1, len(denied) // 20)]:
            assert oracles_audit.determined([*basis, members.astype(int).tolist()]), "a needless denial"
    assert asked == SETS // 4


def test_decisions_are_the_same_whatever_the_values() -> None:
    """The auditor of sums never sees a value: two tables with any values get the same decisions."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        n = int(rng.integers(2, 9))
        audits = [
            SumAuditor(group=2, minimum_set_size=0).over(SecretColumn.of(rng.integers(0, 9, n).tolist()))
            for _ in range(2)
        ]
        for _ in range(12):
            question = Question("sum", (rng.random(n) < 0.6,))
            decided = [isinstance(one.ask(question, [Fraction(0)]), Denied) for one in audits]
            assert decided[0] == decided[1]
