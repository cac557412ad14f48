"""Indistinguishability: judged by kept groups, by statistics, and by the classes of plain tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import condensation as oracles

from discreet.core.errors import ParameterError, SchemaError
from discreet.core.records.group_statistics import GroupStatistics
from discreet.core.tables.groups import Groups
from discreet.core.verdict import Basis
from discreet.guarantees import Indistinguishability, KAnonymity, guarantee_from_dict
from discreet.guarantees.indistinguishability import LevelledGroups


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 6)), min_size=1, max_size=30))
def test_the_verdict_is_the_slow_definitions(records: list[tuple[int, int]]) -> None:
    _, labels = np.unique([label for label, _ in records], return_inverse=True)
    levels = np.array([level for _, level in records])
    state = GroupStatistics.of(np.zeros((len(levels), 1)), labels, levels, int(labels.max()) + 1)
    verdict = Indistinguishability("level").check(state)
    assert verdict.ok == oracles.levels_are_kept(labels, levels)
    assert verdict.basis is Basis.CONSTRUCTION
    assert verdict.n_rows == len(records)
    broken = {label for label in labels.tolist() if (labels == label).sum() < levels[labels == label].max()}
    assert verdict.failing_groups == len(broken)


def test_one_level_on_plain_classes_is_k_anonymity() -> None:
    groups = Groups(np.array([3, 5, 2]))
    assert Indistinguishability(3).check(groups).failing_rows == 2
    assert (Indistinguishability(3).holds(groups) == KAnonymity(3).holds(groups)).all()
    assert Indistinguishability(3).check(groups).basis is Basis.VERIFIED
    assert Indistinguishability(3).smallest == 3


def test_a_level_per_record_cannot_be_read_off_a_table() -> None:
    with pytest.raises(SchemaError, match="without them"):
        Indistinguishability("level").check(Groups(np.array([3, 5])))
    with pytest.raises(SchemaError, match="without them"):
        Indistinguishability().holds(Groups(np.array([3, 5])))


def test_it_is_told_and_read_again() -> None:
    for promise in (Indistinguishability(), Indistinguishability("level"), Indistinguishability(4)):
        assert guarantee_from_dict(promise.to_dict()) == promise
        assert promise.describe().endswith(".")
    assert "at least 4" in Indistinguishability(4).describe()
    kept = LevelledGroups(np.array([5, 2]), largest=np.array([4, 3]))
    assert "1 of 2 classes (2 rows) fail" in str(Indistinguishability("level").check(kept))


@pytest.mark.parametrize("levels", [0, -1, True, 2.5, [2]])
def test_a_wrong_level_names_its_parameter(levels: object) -> None:
    with pytest.raises(ParameterError, match="'k' parameter of Indistinguishability"):
        Indistinguishability(levels)  # type: ignore[arg-type]
