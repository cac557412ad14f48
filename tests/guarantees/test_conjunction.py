"""What every guarantee shares: joining, judging, and plain data."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from tests.guarantees.small_tables import LETTERS, Rows, groups_of, letter_tree, rows_of, tables

import discreet.guarantees
from discreet.core.errors import ParameterError
from discreet.core.tables.groups import Groups
from discreet.guarantees import (
    AllOf,
    AlphaKAnonymity,
    BasicBetaLikeness,
    BasicPrivacy,
    CellProtection,
    DeltaDisclosure,
    DeltaPresence,
    DifferentialPrivacy,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    ExpectedAnonymity,
    Guarantee,
    Indistinguishability,
    KAnonymity,
    KmAnonymity,
    KMap,
    LocalDP,
    MaxRisk,
    MInvariance,
    NoValueDisclosed,
    PerUnit,
    PopulationUniqueness,
    PrivacyDegree,
    RecursiveDiversity,
    RulesHidden,
    SampledPrivacy,
    TCloseness,
    guarantee_from_dict,
)
from discreet.guarantees.constructed import SketchGuarantee

EVERY: list[Guarantee] = [
    KAnonymity(2),
    DistinctDiversity(2),
    EntropyDiversity(1.7, of="ward"),
    RecursiveDiversity(2, 2, of=("ward",)),
    TCloseness(0.3),
    TCloseness(0.7, "kl"),
    TCloseness(0.3, "ordered"),
    TCloseness(0.3, "hierarchical", of="ward"),
    TCloseness(0.3, 1.0 - np.eye(8)),  # type: ignore[arg-type]
    AlphaKAnonymity(0.5, 2),
    BasicBetaLikeness(1.0),
    EnhancedBetaLikeness(1.0),
    DeltaDisclosure(1.0),
    Indistinguishability(2),
    PrivacyDegree(2),
]
ALL_TOGETHER = AllOf(tuple(EVERY))


def test_every_exported_guarantee_is_here() -> None:
    exported = [getattr(discreet.guarantees, name) for name in discreet.guarantees.__all__]
    kinds = {kind for kind in exported if isinstance(kind, type) and issubclass(kind, Guarantee)}
    of_channels = {BasicPrivacy, LocalDP}  # tests/collect/test_mask.py
    of_baskets = {KmAnonymity, RulesHidden}  # tests/guarantees/test_km_anonymity.py, tests/output/hiding
    of_units = {PerUnit}  # tests/guarantees/test_per_unit.py
    of_whole_tables = {MaxRisk, PopulationUniqueness}  # test_max_risk.py, test_population_uniqueness.py
    of_samples = {SampledPrivacy}  # tests/publish/tables/test_safe_pub.py
    of_sequences = {MInvariance}  # tests/publish/linked/test_counterfeits.py
    of_query_logs = {NoValueDisclosed, DifferentialPrivacy}  # tests/output/audit
    of_records = {ExpectedAnonymity, CellProtection}  # tests/guarantees/records, tests/output/tabular
    of_sketches = {kind for kind in kinds if issubclass(kind, SketchGuarantee)}  # tests/collect
    elsewhere = (
        of_channels
        | of_baskets
        | of_units
        | of_whole_tables
        | of_samples
        | of_sequences
        | of_query_logs
        | of_records
        | of_sketches
    )
    assert kinds - elsewhere == {type(guarantee) for guarantee in EVERY} | {
        Guarantee,
        AllOf,
        DeltaPresence,
        KMap,
    }


@given(tables())
def test_a_conjunction_holds_where_all_parts_hold(rows: Rows) -> None:
    groups = groups_of(rows, domain=LETTERS, hierarchy=letter_tree())
    cheap = [guarantee for guarantee in EVERY if not isinstance(getattr(guarantee, "distance", ""), tuple)]
    joined = AllOf(tuple(cheap))
    kept = [part.holds(groups) for part in cheap]
    assert joined.holds(groups).tolist() == np.all(kept, axis=0).tolist()
    assert joined.measure(groups).tolist() == np.sum(kept, axis=0).tolist()
    verdict = joined.check(groups)
    assert verdict.ok is all(part.check(groups).ok for part in cheap)
    assert verdict.parts == tuple(part.check(groups) for part in cheap)
    assert verdict.failing_groups == int((~np.all(kept, axis=0)).sum())


def test_joining_flattens() -> None:
    a, b, c = KAnonymity(5), EntropyDiversity(2, of="disease"), TCloseness(0.2)
    assert repr(a & b) == "KAnonymity(k=5) & EntropyDiversity(l=2, of='disease')"
    assert (a & b) & c == a & (b & c) == AllOf((a, b, c))
    with pytest.raises(TypeError):
        a & 3  # type: ignore[operator]


def test_a_conjunction_is_what_its_parts_are() -> None:
    assert (KAnonymity(5) & DistinctDiversity(2)).monotone
    assert not (KAnonymity(5) & EntropyDiversity(2)).monotone
    assert (KAnonymity(2) & DistinctDiversity(4)).smallest == 4
    joined = KAnonymity(2) & EntropyDiversity(2, of="b") & DistinctDiversity(2, of="a")
    assert joined.columns(["a", "b", "c"]) == ("a", "b")
    assert joined.describe().count(".") == 3


def test_a_conjunction_needs_guarantees() -> None:
    for parts in ((), (KAnonymity(2), 5), [KAnonymity(2)]):
        with pytest.raises(ParameterError, match="'parts' parameter of AllOf"):
            AllOf(parts)  # type: ignore[arg-type]


@pytest.mark.parametrize("guarantee", [*EVERY, ALL_TOGETHER], ids=repr)
def test_plain_data_and_back(guarantee: Guarantee) -> None:
    again = guarantee_from_dict(json.loads(json.dumps(guarantee.to_dict())))
    assert again == guarantee
    assert hash(again) == hash(guarantee)
    assert guarantee.describe().endswith(".")


def test_plain_data_of_a_k_map_needs_the_population() -> None:
    people = object()
    joined = KAnonymity(2) & KMap(3, people)
    assert guarantee_from_dict(joined.to_dict(), population=people) == joined
    with pytest.raises(ParameterError, match="'population' parameter of KMap"):
        guarantee_from_dict(joined.to_dict())


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({"guarantee": "Anonymity"}, "The 'guarantee' parameter"),
        ({}, "The 'guarantee' parameter"),
        ({"guarantee": "KAnonymity", "k": 2, "l": 3}, "KAnonymity has no parameter 'l'. It has: k."),
        ({"guarantee": "KAnonymity"}, "The 'k' parameter of KAnonymity is missing"),
        ({"guarantee": "KAnonymity", "k": 0}, "The 'k' parameter of KAnonymity must be"),
        ({"guarantee": "AllOf", "parts": 3}, "The 'parts' parameter"),
        ([], "The 'plain' parameter"),
    ],
)
def test_bad_plain_data(plain: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        guarantee_from_dict(plain)  # type: ignore[arg-type]


class Holder:
    """Has groups, as tables and releases do."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def groups(self) -> Groups:
        return self._groups


@pytest.mark.parametrize("guarantee", [*EVERY, ALL_TOGETHER], ids=repr)
def test_judges_whatever_has_groups(guarantee: Guarantee) -> None:
    rows = rows_of({"u": "aab", "v": ["c", None], "w": "eefg"})
    groups = groups_of(rows, domain=LETTERS, hierarchy=letter_tree())
    verdict = guarantee.check(Holder(groups))
    assert verdict == guarantee.check(groups)
    assert (verdict.n_groups, verdict.n_rows, verdict.guarantee) == (3, 9, repr(guarantee))
    assert verdict.failing_groups == int((~guarantee.holds(groups)).sum())
    assert guarantee.measure(groups).dtype == np.float64
    assert guarantee.holds(groups).dtype == np.bool_


@pytest.mark.parametrize("guarantee", [*EVERY, ALL_TOGETHER], ids=repr)
def test_weights_count_as_rows(guarantee: Guarantee) -> None:
    """Distinct tuples with counts are judged as the rows they stand for."""
    rows = rows_of({"u": "aaab", "v": ["c", None, None], "w": "eefg"})
    groups = groups_of(rows, domain=LETTERS, hierarchy=letter_tree())
    codes, weights = np.array([1, 2, 3, 0, 5, 6, 7], np.int32), np.array([3, 1, 1, 2, 2, 1, 1])
    overall = groups.sensitive["ward"].overall
    packed = Groups.of(
        np.array([0, 0, 1, 1, 2, 2, 2], np.int32), weights, 3, {"ward": (codes, overall, letter_tree())}
    )
    assert guarantee.measure(packed).tolist() == guarantee.measure(groups).tolist()


@pytest.mark.parametrize("guarantee", [*EVERY, ALL_TOGETHER], ids=repr)
def test_no_class_to_judge_breaks_no_promise(guarantee: Guarantee) -> None:
    none = np.zeros(0, np.int32)
    groups = Groups.of(none, none.astype(np.int64), 0, {"ward": (none, np.zeros(8, np.int64), letter_tree())})
    verdict = guarantee.check(groups)
    assert verdict.ok
    assert math.isnan(verdict.worst)


def test_exempting_reaches_every_part() -> None:
    groups = groups_of(rows_of({"u": "ab", "*": "c"}), suppressed=[False, True])
    joined = KAnonymity(2) & DistinctDiversity(2)
    assert not joined.check(groups)
    assert joined.check(groups, suppressed="exempt").parts[1].n_rows == 2
    assert joined.check(groups, suppressed="exempt")
