"""Hand-made tables that pycanon 1.3 judges wrongly, as seen by running 1.3.6 with pandas 2.3."""

from __future__ import annotations

import pandas as pd
import pytest

from discreet import Table, quasi, sensitive
from discreet.guarantees import DistinctDiversity, EntropyDiversity, KAnonymity, RecursiveDiversity


def judged(frame: pd.DataFrame) -> Table:
    return Table(frame, {"age": quasi(), "ward": sensitive()})


def test_a_null_key_is_a_class_of_its_own() -> None:
    """Grouping by one column drops the row without an age: pycanon's k_anonymity says 3, l_diversity 2."""
    table = judged(pd.DataFrame({"age": ["30", "30", "30", None], "ward": ["x", "y", "x", "z"]}))
    assert KAnonymity(3).check(table).worst == 1
    assert DistinctDiversity(2).check(table).worst == 1


def test_row_labels_are_not_positions() -> None:
    """Labels 0, 2, 1, 3 send pycanon to the wrong rows: l_diversity says 2, yet age 20 has ward x alone."""
    frame = pd.DataFrame({"age": ["20", "20", "40", "40"], "ward": ["x", "x", "y", "z"]})
    frame.index = pd.Index([0, 2, 1, 3])
    assert DistinctDiversity(2).check(judged(frame)).worst == 1
    assert DistinctDiversity(2).check(judged(frame.reset_index(drop=True))).worst == 1


def test_sorting_a_table_changes_nothing() -> None:
    """Sorted by age, pycanon's l_diversity falls from 2 to 1."""
    frame = pd.DataFrame({"age": ["20", "40", "20", "40"], "ward": ["x", "x", "y", "y"]})
    for shown in (frame, frame.sort_values("age")):
        assert DistinctDiversity(2).check(judged(shown)).worst == 2


@pytest.mark.parametrize("l", [2, 3, 4, 6, 7, 8, 10])
def test_entropy_is_not_cut_to_an_int(l: int) -> None:  # noqa: E741
    """Equally frequent values have exactly their number as l; pycanon's entropy_l_diversity says one less."""
    table = judged(pd.DataFrame({"age": ["20"] * l, "ward": [f"w{number}" for number in range(l)]}))
    verdict = EntropyDiversity(l).check(table)
    assert verdict.ok
    assert verdict.worst == pytest.approx(l, rel=1e-12)


def test_entropy_between_two_ints_is_told() -> None:
    """Shares of 2/3 and 1/3 have an l of 1.89; pycanon says 1."""
    table = judged(pd.DataFrame({"age": ["20"] * 3, "ward": ["x", "x", "y"]}))
    assert EntropyDiversity(1.8).check(table)
    assert EntropyDiversity(1.9).check(table).worst == pytest.approx(1.8898815748423097, rel=1e-12)


def test_recursive_diversity_sets_the_most_frequent_against_the_rarest() -> None:
    """Nine of x and one of y need c > 9 for l = 2; pycanon sorts upwards, sets 1 against 9, says c = 1."""
    table = judged(pd.DataFrame({"age": ["20"] * 10, "ward": ["x"] * 9 + ["y"]}))
    assert RecursiveDiversity(1, 2).check(table).worst == 9.0
    assert not RecursiveDiversity(9, 2).check(table)
    assert RecursiveDiversity(9.01, 2).check(table)


def test_recursive_diversity_of_three_values() -> None:
    """Counts 5, 3, 1 need c > 5 for l = 3; pycanon says c = 1."""
    table = judged(pd.DataFrame({"age": ["20"] * 9, "ward": ["x"] * 5 + ["y"] * 3 + ["z"]}))
    assert RecursiveDiversity(1, 3).check(table).worst == 5.0
    assert not RecursiveDiversity(5, 3).check(table)


def test_null_among_the_sensitive_values() -> None:
    """pycanon's l_diversity, entropy_l_diversity and alpha_k_anonymity stop with a TypeError."""
    table = judged(pd.DataFrame({"age": ["20", "20", "30", "30"], "ward": ["x", None, "x", "y"]}))
    assert DistinctDiversity(2).check(table)
    assert EntropyDiversity(2).check(table)
