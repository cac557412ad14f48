"""The caution about minimality: where sensitive values decided, and nowhere else."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from discreet import Recipe, Table, person, quasi, sensitive
from discreet.guarantees import AlphaKAnonymity, EntropyDiversity, Guarantee, KAnonymity
from discreet.publish import (
    Generalization,
    GlobalRecoding,
    LocalRecoding,
    Microaggregation,
    Mondrian,
    OptimalLattice,
    Samarati,
)

HALF = AlphaKAnonymity(0.5, 2)
PUBLISHERS = [Mondrian, OptimalLattice, Samarati, GlobalRecoding, Microaggregation]


def people(values: str, **more: Any) -> Table:
    """Two people of one kind and four of another."""
    columns = {"q": [1, 1, 2, 2, 2, 2], "s": list(values)}
    return Table(pa.table(columns | more), {"q": quasi(), "s": sensitive(), **dict.fromkeys(more, person())})


def warned(release: Any) -> list[bool]:
    """Whether each caution about minimality is public."""
    return [caution.public for caution in release.cautions if caution.code == "minimality"]


@pytest.mark.parametrize("publisher", PUBLISHERS)
def test_a_class_that_values_kept_whole_gets_a_caution_for_the_owner(publisher: Any) -> None:
    """The two people alike have the same value, for certain: else they would be a class of their own."""
    release = publisher(HALF).release(people("aabcde"))
    assert len(set(release.frame["q"].to_pylist())) == 1
    assert warned(release) == [False]


@pytest.mark.parametrize("publisher", PUBLISHERS)
@pytest.mark.parametrize(
    "guarantee", [HALF, KAnonymity(2), KAnonymity(5), KAnonymity(2) & EntropyDiversity(2)]
)
def test_classes_that_sizes_alone_would_make_get_none(publisher: Any, guarantee: Guarantee) -> None:
    assert warned(publisher(guarantee).release(people("abcdef"))) == []


def test_units_are_no_sensitive_values() -> None:
    table = people("abcdef", unit=[1, 1, 2, 3, 4, 5])
    release = Mondrian(KAnonymity(2)).release(table)
    assert len(set(release.frame["q"].to_pylist())) == 1
    assert warned(release) == []


@pytest.mark.parametrize("made", [LocalRecoding(HALF), Mondrian(HALF, strict=False)])
def test_methods_that_reach_the_same_classes_either_way_always_caution_in_public(made: Any) -> None:
    assert warned(made.release(people("abcdef"))) == [True]
    made.guarantee = KAnonymity(2)
    assert warned(made.release(people("abcdef"))) == []


def test_rows_left_out_for_their_values_get_a_caution_and_small_classes_none() -> None:
    release = Generalization(HALF, levels={}, max_suppressed=0.5).release(people("aabcde"))
    assert release.evidence.suppressed == 2
    assert warned(release) == [False]
    small = Generalization(AlphaKAnonymity(0.5, 3), levels={}, max_suppressed=0.5).release(people("abcdef"))
    assert small.evidence.suppressed == 2
    assert warned(small) == []


def test_new_rows_that_do_not_fit_for_their_values_get_a_caution() -> None:
    release = Mondrian(HALF).release(people("abcdef"))
    recipe = Recipe(release.recipe, release.private)
    assert warned(recipe.apply(people("abcdef").frame)) == []
    assert warned(recipe.apply(people("aabcde").frame)) == [False]
