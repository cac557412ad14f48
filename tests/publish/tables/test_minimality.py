"""The caution about minimality: where sensitive values decided, and nowhere else."""

from __future__ import annotations

from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from discreet import Recipe, Table, flat, person, quasi, sensitive
from discreet.errors import InfeasibleError
from discreet.guarantees import (
    AlphaKAnonymity,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    KMap,
)
from discreet.publish import (
    Generalization,
    GlobalRecoding,
    Incognito,
    LocalRecoding,
    LocalSuppression,
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


def pairs(*rows: tuple[int, str]) -> Table:
    """A table of two quasi-identifiers."""
    columns = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    return Table(pa.table(columns), {"a": quasi(), "b": quasi()})


POPULATION = pairs(*[(24, "x")] * 5, (24, "y"), *[(30, "z")] * 4)


def membership(release: Any) -> list[bool]:
    """Whether each caution about who is in the sample is public."""
    return [caution.public for caution in release.cautions if caution.code == "membership"]


@pytest.mark.parametrize("guarantee", [KMap(2, POPULATION), DeltaPresence(0, 0.5, POPULATION)])
@pytest.mark.parametrize(
    "publisher", [LocalSuppression, LocalRecoding, Mondrian, OptimalLattice, GlobalRecoding, Samarati]
)
def test_labels_searched_under_a_population_show_who_is_in_the_sample(
    publisher: Any, guarantee: Guarantee
) -> None:
    release = publisher(guarantee).release(pairs((24, "x"), (30, "z")))
    assert membership(release) == [True]


def test_a_star_under_k_map_names_a_person() -> None:
    """The star fits six people, and five of them would have been published without it."""
    with_y = LocalSuppression(KMap(2, POPULATION)).release(pairs((24, "y"), (30, "z"), (30, "z")))
    with_x = LocalSuppression(KMap(2, POPULATION)).release(pairs((24, "x"), (30, "z"), (30, "z")))
    assert "*" in with_y.frame["b"].to_pylist()
    assert "*" not in with_x.frame["b"].to_pylist()
    assert membership(with_y) == membership(with_x) == [True]


def test_levels_chosen_before_show_nothing_of_the_sample_unless_rows_are_left_out() -> None:
    sample = pairs((24, "y"), (30, "z"))
    stated = {"levels": {"b": "top"}}
    assert membership(Generalization(KMap(2, POPULATION), **stated).release(sample)) == []
    assert membership(Generalization(DeltaPresence(0, 0.5, POPULATION), **stated).release(sample)) == []
    beyond = pairs((24, "x"), (24, "x"), *[(30, "z")] * 3)
    kept = Generalization(DeltaPresence(0, 0.5, POPULATION), **stated, max_suppressed=0.9).release(beyond)
    assert kept.evidence.suppressed == 3
    assert membership(kept) == [True]
    # One of the two is published, and one left out: only one person is like too few others.
    assert membership(Generalization(KMap(2, POPULATION), levels={}, max_suppressed=1).release(sample)) == [
        True
    ]


def test_ties_between_nodes_say_nothing_of_values() -> None:
    """Two nodes cost the same; if the search took either by what it met first, the other's failure would show."""
    pairs_ = [("1", "f"), ("2", "m"), ("1", "f"), ("2", "m"), ("1", "m")]
    roles = {"a": quasi(flat()), "b": quasi(flat()), "s": sensitive()}
    columns = {"a": [row[0] for row in pairs_], "b": [row[1] for row in pairs_]}
    worlds: dict[Any, list[Any]] = {}
    for publisher in (OptimalLattice, Samarati, Incognito, GlobalRecoding):
        for values in product("ab", repeat=5):
            table = Table(pa.table({**columns, "s": list(values)}), roles)
            try:
                release = publisher(DistinctDiversity(2)).release(table)
            except InfeasibleError:
                continue
            rows = tuple(sorted(tuple(row.values()) for row in release.frame.to_pylist()))
            cautious = any(caution.code == "minimality" for caution in release.cautions)
            worlds.setdefault((publisher, rows), []).append((values, cautious))
    for (_, rows), possible in worlds.items():
        if not any(cautious for _, cautious in possible):
            n_worlds = {len({values[at] for values, _ in possible}) for at in range(5)}
            assert n_worlds == {2}, rows


def test_a_target_is_a_sensitive_column_that_decides() -> None:
    table = Table(
        pa.table({"a": list("112233"), "s": list("aabbab")}), {"a": quasi(flat()), "s": sensitive()}
    )
    release = OptimalLattice(KAnonymity(2), target="s").release(table)
    assert [caution.public for caution in release.cautions if caution.code == "minimality"] == [True]
    assert not any(
        caution.code == "minimality" for caution in OptimalLattice(KAnonymity(2)).release(table).cautions
    )
