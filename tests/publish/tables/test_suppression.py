"""How many rows may be left out: a number or a share, one constraint in every publisher, command and file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet import Recipe, Table, intervals, person, quasi
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.core.registry import methods
from discreet.guarantees import KAnonymity
from discreet.parties import simulate
from discreet.parties.mining import AnonymizeTogether
from discreet.publish import Generalization, OptimalLattice
from discreet.publish.tables.publisher import SUPPRESSIBLE, allowed_rows

PUBLISHERS = [
    method
    for method in methods(role="publisher")
    if "max_suppressed" in method.parameters() and "table" in method.takes
]


def ages(*, people: bool = False) -> Table:
    columns: dict[str, Any] = {"age": [24, 24, 24, 71, 95, 95]}
    roles: dict[str, Any] = {"age": quasi(intervals(10))}
    if people:
        return Table(pa.table(columns | {"who": list("abcdee")}), roles | {"who": person()})
    return Table(pa.table(columns), roles)


@pytest.mark.parametrize("method", PUBLISHERS, ids=lambda method: method.name)
def test_every_publisher_takes_rows_and_shares(method: Any) -> None:
    more = {"levels": {}} if method.name == "generalization" else {"highest": {"age": 1}}
    more = more if set(more) <= set(method.parameters()) else {}
    for limit in (1, np.int64(1), 1 / 6, 0.17, 1.0):
        release = method.load()(KAnonymity(2), max_suppressed=limit, **more).release(ages())
        assert release.evidence.suppressed <= 1
    for wrong in (-1, 1.01, True, "2", float("nan")):
        with pytest.raises(
            ParameterError,
            match=r"'max_suppressed' parameter of .* an int in \[0, inf\) or a number in \[0, 1\]",
        ):
            method.load()(KAnonymity(2), max_suppressed=wrong, **more).release(ages())


def test_an_int_is_rows_and_a_float_a_share() -> None:
    assert [allowed_rows(limit, 6) for limit in (0, 1, 6, 9, 0.0, 0.5, 1.0)] == [0, 1, 6, 6, 0, 3, 6]
    admitted = [limit for limit in (1, 2, 1.0, 2.0) if any(allowed.admits(limit) for allowed in SUPPRESSIBLE)]
    assert admitted == [1, 2, 1.0]
    levels = Generalization(KAnonymity(2), levels={"age": 0}, max_suppressed=1)
    assert levels.release(ages()).evidence.suppressed == 1
    few = Generalization(KAnonymity(3), levels={"age": 0}, max_suppressed=2)
    with pytest.raises(InfeasibleError, match=r"at most 2 rows may be; allow max_suppressed=3\.") as caught:
        few.release(ages())
    assert caught.value.fix == {"max_suppressed": 3}
    with pytest.raises(
        InfeasibleError, match=r"at most 10\.00% of the rows may be; allow max_suppressed=0\.5\."
    ):
        Generalization(KAnonymity(3), levels={"age": 0}, max_suppressed=0.1).release(ages())


def test_rows_are_counted_also_where_they_belong_to_people() -> None:
    # d stands alone, and both rows of e are one person's.
    allowed = OptimalLattice(KAnonymity(2), highest={"age": 1}, max_suppressed=3).release(ages(people=True))
    assert allowed.evidence.suppressed == 3
    with pytest.raises(InfeasibleError, match="suppresses 3 of 6 rows"):
        OptimalLattice(KAnonymity(2), highest={"age": 1}, max_suppressed=2).release(ages(people=True))


def test_a_recipe_remembers_which_of_the_two_it_was() -> None:
    release = Generalization(KAnonymity(2), levels={"age": 0}, max_suppressed=1).release(ages())
    recipe = Recipe(release.recipe, release.private)
    assert recipe.max_suppressed == 1
    assert isinstance(recipe.max_suppressed, int)
    frame = ages().frame
    assert recipe.apply(frame, misfits="suppress").evidence.suppressed == 1
    with pytest.raises(InfeasibleError, match="at most 0 rows"):
        recipe.apply(frame, misfits="suppress", max_suppressed=0)
    with pytest.raises(ParameterError, match="'max_suppressed' parameter of Recipe"):
        recipe.apply(frame, max_suppressed=1.5)


def test_parties_agree_on_rows_or_shares() -> None:
    tables = {"north": {"age": [21, 35]}, "south": {"age": [21, 35]}, "west": {"age": [39]}}
    for limit, levels in ((1, 0), (0.2, 0), (0, 1)):
        protocol = AnonymizeTogether(
            k=2,
            domain={"age": tuple(range(20, 40))},
            hierarchies={"age": {"kind": "intervals", "widths": (10, 20)}},
            max_suppressed=limit,
        )
        assert simulate(protocol, tables).outputs["north"].levels == {"age": levels}
