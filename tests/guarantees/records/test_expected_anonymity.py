"""Expected anonymity: judged by the evidence of a release alone, and never kept against an attacker left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from discreet import Release, Table, quasi
from discreet.core.errors import InputError, ParameterError
from discreet.core.verdict import Basis
from discreet.guarantees import ExpectedAnonymity, guarantee_from_dict
from discreet.publish import UncertainRecords


def table() -> Table:
    values = np.random.default_rng(1).normal(size=(50, 2))
    return Table(pa.table({"x": values[:, 0], "y": values[:, 1]}), {"x": quasi(), "y": quasi()})


def release(attacker: str = "informed") -> Release:
    return UncertainRecords(4, attacker=attacker, random_state=0).release(table())


def test_the_bound_is_the_level() -> None:
    verdict = ExpectedAnonymity(4).check(release())
    assert verdict.ok
    assert verdict.basis is Basis.CONSTRUCTION
    assert (verdict.bound, verdict.measure) == (4.0, "expected anonymity")
    more = ExpectedAnonymity(9).check(release())
    assert not more.ok
    assert more.failing_rows == int((release().evidence.arrays["anonymity"] < 9).sum())


def test_own_spreads_are_never_judged_against_the_informed() -> None:
    own = release("naive")
    with pytest.raises(InputError, match="only a naive attacker"):
        ExpectedAnonymity(4).check(own)
    assert ExpectedAnonymity(4, "naive").check(own).word == "assumed"
    assert ExpectedAnonymity(4, "naive").check(release()).word == "assumed"
    assert ExpectedAnonymity(6, "naive").check(own).word == "broken"


def test_nothing_else_can_be_judged() -> None:
    with pytest.raises(ParameterError, match="release of uncertain records"):
        ExpectedAnonymity(2).check(table())
    bare = release()
    with pytest.raises(InputError, match="does not hold"):
        ExpectedAnonymity(2).check(replace(bare, evidence=replace(bare.evidence, arrays={})))


@pytest.mark.parametrize(
    "guarantee", [ExpectedAnonymity(3), ExpectedAnonymity("level", "naive"), ExpectedAnonymity()]
)
def test_plain_data_and_words(guarantee: ExpectedAnonymity) -> None:
    assert guarantee_from_dict(guarantee.to_dict()) == guarantee
    assert ("as long as they do not work out" in guarantee.describe()) == (guarantee.attacker == "naive")
    with pytest.raises(ParameterError, match="'k' parameter"):
        ExpectedAnonymity(0)
    with pytest.raises(ParameterError, match="'attacker' parameter"):
        ExpectedAnonymity(2, "other")  # type: ignore[arg-type]
