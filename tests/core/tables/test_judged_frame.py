"""Guarantees judge any frame by the columns that are named."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet import Table, quasi, sensitive
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.guarantees import DistinctDiversity, KAnonymity

ROWS = {"age": [24, 24, 37, 37], "who": [1, 1, 2, 3], "disease": ["flu", "cold", "flu", "flu"]}


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_guarantee_judges_any_frame_by_the_named_columns(made) -> None:
    frame = made(ROWS)
    assert KAnonymity(2).check(frame, quasi=["age"]).ok
    assert not KAnonymity(2).check(frame, quasi=["age", "disease"]).ok
    assert not KAnonymity(2).check(frame, quasi=["age"], person="who").ok
    both = KAnonymity(2) & DistinctDiversity(2)
    verdict = both.check(frame, quasi=("age",), sensitive=["disease"])
    assert [part.ok for part in verdict.parts] == [True, False]


def test_roles_are_asked_for_and_not_given_twice() -> None:
    frame = pa.table(ROWS)
    with pytest.raises(ParameterError, match=r"KAnonymity needs the columns of a frame .*quasi=\[...\]"):
        KAnonymity(2).check(frame)
    with pytest.raises(ParameterError, match="a list of names"):
        KAnonymity(2).check(frame, quasi="age")
    with pytest.raises(SchemaError, match="which the table does not have"):
        KAnonymity(2).check(frame, quasi=["ages"])
    with pytest.raises(InputError, match=r"discreet\.read"):
        KAnonymity(2).check("patients.csv", quasi=["age"])
    table = Table(frame.select(["age", "disease"]), {"age": quasi(), "disease": sensitive()})
    with pytest.raises(ParameterError, match="has its roles already"):
        KAnonymity(2).check(table, quasi=["age"])
