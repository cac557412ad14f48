"""Publishers as transformers of scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from discreet.core.errors import InputError, ParameterError
from discreet.guarantees import KAnonymity
from discreet.publish import Anonymizer, Mondrian, OptimalLattice

N = 60


def people(n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    ages = rng.integers(20, 60, n)
    index = pd.Index(range(100, 100 + n))
    return pd.DataFrame(
        {"name": [f"Person {at}" for at in range(n)], "age": ages, "zip": rng.integers(0, 5, n) + 2100},
        index=index,
    )


def anonymizer(publisher=None) -> Anonymizer:
    return Anonymizer(publisher or Mondrian(KAnonymity(5)), quasi=["age", "zip"], identifier=["name"])


@pytest.mark.parametrize(
    "publisher", [Mondrian(KAnonymity(5)), OptimalLattice(KAnonymity(5), max_suppressed=0.2)]
)
def test_rows_keep_their_place_and_what_was_released_their_cells(publisher) -> None:
    frame = people()
    made = anonymizer(publisher)
    rows = made.fit_transform(frame)
    assert rows.index.equals(frame.index)
    assert list(rows.columns) == ["age", "zip"] == made.get_feature_names_out().tolist()
    released = made.release_.frame
    assert made.release_.verdict.ok
    kept = rows[rows["age"] != "*"] if made.release_.evidence.suppressed else rows
    assert sorted(map(tuple, kept.astype(str).to_numpy())) == sorted(
        map(tuple, released.astype(str).to_numpy())
    )
    assert made.transform(frame.assign(age=900).head(1))["age"].tolist() == ["*"]


def test_it_is_cloned_and_stands_in_pipelines() -> None:
    frame, classes = people(), np.arange(N) % 2
    model = make_pipeline(
        anonymizer().set_output(transform="pandas"),
        make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["age", "zip"])),
        DecisionTreeClassifier(random_state=0),
    )
    assert clone(model).fit(frame, classes).predict(frame.head(7)).shape == (7,)
    polars = clone(anonymizer()).fit_transform(pl.from_pandas(frame))
    assert isinstance(polars, pl.DataFrame)


def test_mistakes_are_named() -> None:
    with pytest.raises(ParameterError, match="a publisher of tables"):
        Anonymizer(KAnonymity(5), quasi=["age"]).fit(people())  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        anonymizer().transform(people())
    with pytest.raises(InputError, match="the columns that were fitted"):
        anonymizer().fit(people()).transform(people()[["zip", "age", "name"]])


def test_a_wrong_guarantee_is_refused_where_it_is_passed() -> None:
    with pytest.raises(ParameterError, match="The 'guarantee' parameter of Mondrian must be a guarantee"):
        Mondrian(5)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'max_suppressed' parameter of OptimalLattice"):
        OptimalLattice(KAnonymity(2), max_suppressed="much")  # type: ignore[arg-type]
