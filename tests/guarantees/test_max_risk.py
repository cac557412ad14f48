"""Limits on the risk of a whole table, against the definition over rows and in every search."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Table, intervals, person, quasi, sensitive
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.core.tables.groups import Groups
from discreet.guarantees import AllOf, DistinctDiversity, Guarantee, KAnonymity, MaxRisk, guarantee_from_dict
from discreet.measure import risk
from discreet.publish import GlobalRecoding, Incognito, LocalRecoding, Mondrian, OptimalLattice, Samarati

SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=8)
SHARES = st.sampled_from([0.0, 0.1, 0.2, 0.25, 1 / 3, 0.5, 0.7, 1.0])


def is_kept(sizes: list[int], highest: float, mean: float, unique: float) -> bool:
    """The definition, over rows: each row's risk, their mean, and the rows that are alone."""
    risks = [1 / size for size in sizes for _ in range(size)]
    if not risks:
        return True
    alone = sum(one == 1 for one in risks) / len(risks)
    return bool(max(risks) <= highest + 1e-9 and np.mean(risks) <= mean + 1e-9 and alone <= unique + 1e-9)


def least_rows(sizes: list[int], highest: float, mean: float, unique: float) -> int:
    """The fewest rows that must be left out, by trying every set of classes."""
    return min(
        sum(sizes[number] for number in gone)
        for n_gone in range(len(sizes) + 1)
        for gone in combinations(range(len(sizes)), n_gone)
        if is_kept([size for at, size in enumerate(sizes) if at not in gone], highest, mean, unique)
    )


@given(SIZES, SHARES.filter(bool), SHARES.filter(bool), SHARES)
def test_verdict_and_kept_classes_by_definition(
    sizes: list[int], highest: float, mean: float, unique: float
) -> None:
    guarantee = MaxRisk(highest, mean=mean, unique=unique)
    groups = Groups(np.array(sizes))
    verdict = guarantee.check(groups)
    assert verdict.ok is is_kept(sizes, highest, mean, unique)
    kept = guarantee.together(groups)
    assert is_kept([size for size, stays in zip(sizes, kept, strict=True) if stays], highest, mean, unique)
    assert sum(np.array(sizes)[~kept]) == least_rows(sizes, highest, mean, unique)
    assert bool(kept.all()) is verdict.ok
    assert guarantee.failing_at_least(groups).sum() <= sum(np.array(sizes)[~kept])


@given(SIZES, SHARES.filter(bool), SHARES.filter(bool), SHARES)
def test_classes_that_hold_alone_hold_in_any_table(
    sizes: list[int], highest: float, mean: float, unique: float
) -> None:
    guarantee = MaxRisk(highest, mean=mean, unique=unique)
    groups = Groups(np.array(sizes))
    alone = guarantee.holds(groups)
    assert is_kept(groups.sizes[alone].tolist(), highest, mean, unique)
    assert not (alone & ~guarantee.together(groups)).any()


@pytest.mark.parametrize("k", [1, 2, 3, 5, 7, 10, 49, 1000])
def test_highest_alone_is_k_anonymity(k: int) -> None:
    guarantee = MaxRisk(1 / k)
    assert (guarantee.smallest, guarantee.by_size, guarantee.table_wide) == (k, True, False)


def test_parts_say_which_limit_is_broken() -> None:
    verdict = MaxRisk(1, mean=0.3, unique=0.1).check(Groups(np.array([1, 1, 8])))
    assert [(part.measure, part.ok, part.worst) for part in verdict.parts] == [
        ("risk of a row", True, 1.0),
        ("mean risk of the rows", True, 0.3),
        ("share of rows alone in their class", False, 0.2),
    ]
    assert verdict.parts[2].failing_rows == 2  # one row of nine is still too large a share


def test_conjunction_sees_only_what_the_other_parts_keep() -> None:
    groups = Groups(np.array([1, 1, 6, 2]))
    both = AllOf((MaxRisk(1, mean=0.3), KAnonymity(2)))
    assert both.table_wide
    assert both.together(groups).tolist() == [False, False, True, True]
    assert both.check(groups.only(both.together(groups))).ok


@pytest.mark.parametrize(("name", "value"), [("highest", 0), ("highest", 1.5), ("mean", 0), ("unique", -0.1)])
def test_bad_parameters_are_named(name: str, value: float) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of MaxRisk must be"):
        MaxRisk(**{"highest": 0.2, name: value})


def test_is_read_from_its_own_record() -> None:
    guarantee = MaxRisk(0.2, mean=0.05, unique=0.0)
    assert guarantee_from_dict(guarantee.to_dict()) == guarantee
    assert "at most 0.05 on average" in guarantee.describe()


def ages(n: int = 400) -> Table:
    rng = np.random.default_rng(5)
    frame = pa.table({
        "age": np.clip(rng.normal(45, 15, n), 18, 90).astype(int),
        "zip": rng.choice([10115, 10117, 10119, 80331, 80333], n),
        "ill": rng.choice(["no", "flu", "gout"], n),
    })  # fmt: skip
    return Table(frame, {"age": quasi(intervals(5, 10, 20)), "zip": quasi(), "ill": sensitive()})


@pytest.mark.parametrize("publisher", [OptimalLattice, Samarati, Incognito, GlobalRecoding, LocalRecoding])
@pytest.mark.parametrize(
    "guarantee",
    [MaxRisk(0.5, mean=0.1), MaxRisk(1, mean=0.2, unique=0.01), MaxRisk(1, mean=0.1) & DistinctDiversity(2)],
)
def test_every_search_keeps_it(publisher: Any, guarantee: Guarantee) -> None:
    release = publisher(guarantee, max_suppressed=0.1, random_state=0).release(ages())
    assert release.verdict.ok
    assert risk(release).prosecutor.mean <= 0.2
    assert risk(Mondrian(guarantee, random_state=0).release(ages())).prosecutor.mean <= 0.2


def test_lattice_leaves_out_only_what_the_mean_needs() -> None:
    """Judged class by class, a mean of 0.1 would be 10-anonymity, and more rows would be left out."""
    levels = {"age": 2, "zip": 1}
    from discreet.publish import Generalization

    release = Generalization(MaxRisk(1, mean=0.1), levels=levels, max_suppressed=0.5).release(ages())
    strict = Generalization(KAnonymity(10), levels=levels, max_suppressed=0.5).release(ages())
    assert release.evidence.suppressed <= strict.evidence.suppressed
    assert risk(release).smallest_class < 10


def test_global_recoding_loses_no_more_than_the_lattice() -> None:
    guarantee = MaxRisk(0.5, mean=0.05)
    lattice = OptimalLattice(guarantee, max_suppressed=0.05, random_state=0).release(ages())
    values = GlobalRecoding(guarantee, max_suppressed=0.05, random_state=0).release(ages())
    assert values.figures.private.loss.total <= lattice.figures.private.loss.total + 1e-9


def test_people_are_counted() -> None:
    frame = pa.table({"who": [1, 1, 1, 2, 3], "age": [30, 30, 30, 40, 40]})
    table = Table(frame, {"who": person(), "age": quasi()})
    verdict = MaxRisk(1, mean=0.5).check(table)
    assert not verdict.ok
    assert "per 'who'" in str(verdict)


def test_impossible_limits_say_so() -> None:
    one = Table(pa.table({"age": [30, 31]}), {"age": quasi()})
    with pytest.raises(InfeasibleError, match="suppresses 2 of 2 rows"):
        OptimalLattice(MaxRisk(0.2)).release(one)
