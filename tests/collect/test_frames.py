"""Frames of people's own: what is given back holds no trace of what was hidden, and strange frames are refused."""

from __future__ import annotations

import decimal
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.collect import (
    AdditiveNoise,
    Channels,
    CorrelatedNoise,
    Gaussian,
    JointReconstruction,
    RandomizedResponse,
    UnaryResponse,
)
from discreet.core.errors import InputError, ParameterError, SchemaError

NOISE = AdditiveNoise(Gaussian(5.0), low=0, high=10_000)
PAIR = CorrelatedNoise([[4.0, 3.0], [3.0, 4.0]])
SECRET = 4711.125
HIDERS = {
    "AdditiveNoise": lambda frame: NOISE.perturb(frame, columns=["age", "pay"], random_state=1),
    "CorrelatedNoise": lambda frame: PAIR.perturb(frame, columns=["age", "pay"], random_state=1),
    "Channels": lambda frame: Channels({"age": NOISE, "pay": NOISE}).perturb(frame, random_state=1),
}


def plain() -> dict[str, list[float]]:
    return {"age": [31.0, SECRET, 55.0], "pay": [SECRET, 8.0, 9.0]}


@pytest.mark.parametrize("hide", HIDERS.values(), ids=HIDERS)
def test_no_returned_frame_holds_a_true_value(hide) -> None:
    noted = pa.table(plain()).replace_schema_metadata({"sample": str(SECRET)})
    frame = pd.DataFrame(plain())
    frame.attrs["sample"] = SECRET
    for given in (noted, frame, pl.DataFrame(plain())):
        out = hide(given)
        assert str(SECRET) not in str(getattr(out, "attrs", {}))
        table = out if isinstance(out, pa.Table) else pa.table(out)
        sink = io.BytesIO()
        pq.write_table(table, sink)
        assert str(SECRET).encode() not in sink.getvalue()
        assert np.array([SECRET]).tobytes() not in sink.getvalue()
        assert SECRET not in table["age"].to_pylist() + table["pay"].to_pylist()
    assert frame.attrs == {"sample": SECRET}
    assert noted.schema.metadata == {b"sample": str(SECRET).encode()}


@pytest.mark.parametrize("hide", HIDERS.values(), ids=HIDERS)
def test_an_index_that_reveals_a_hidden_column_is_refused(hide) -> None:
    frame = pd.DataFrame(plain())
    for index in ("age", ["pay", "age"]):
        with pytest.raises(SchemaError, match="index") as caught:
            hide(frame.set_index(index, drop=False))
        assert str(SECRET) not in str(caught.value)
    kept = hide(frame.set_index(pd.Index([7, 7, 3], name="row")))
    assert kept.index.tolist() == [7, 7, 3]


@pytest.mark.parametrize("hide", HIDERS.values(), ids=HIDERS)
def test_columns_of_the_same_name_are_refused(hide) -> None:
    twice = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["age", "age", "pay"])
    for frame in (twice, pa.table([[1.0], [2.0], [3.0]], names=["age", "age", "pay"])):
        with pytest.raises(SchemaError, match="same name"):
            hide(frame)


def test_joint_rows_with_columns_of_the_same_name_are_refused() -> None:
    how = JointReconstruction({"age": NOISE})
    with pytest.raises(SchemaError, match="same name"):
        how.reconstruct(pd.DataFrame([[1.0, 2.0]], columns=["age", "age"]))


def test_a_column_named_twice_does_not_leave_another_bare() -> None:
    with pytest.raises(ParameterError, match="each once"):
        PAIR.perturb(pd.DataFrame(plain()), columns=["age", "age"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: NOISE.perturb(pd.Series([1.0])), "Series has no columns"),
        (lambda: NOISE.perturb(1.0), "float has no columns"),
        (lambda: NOISE.perturb([[1.0], [2.0, SECRET]]), "not of the same length"),
        (
            lambda: NOISE.perturb(np.ma.array([1.0, SECRET], mask=[False, True])),
            "1 values of 'data' are null",
        ),
        (
            lambda: PAIR.perturb(np.ma.array([[1.0, SECRET]], mask=[[False, True]])),
            "1 values of 'data' are null",
        ),
        (lambda: PAIR.perturb(np.array([[1e308, 1.0]])), "lost in rounding"),
    ],
)
def test_strange_data_is_refused_in_words(call, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        call()
    assert str(SECRET) not in str(caught.value)


def test_columns_must_be_named_by_texts() -> None:
    with pytest.raises(SchemaError, match="named by texts"):
        NOISE.perturb(pd.DataFrame({0: [1.0]}), columns=[0])  # type: ignore[list-item]


def test_channels_are_passed_by_column() -> None:
    for given in ("age", [("age", NOISE)]):
        with pytest.raises(ParameterError, match="'channels'"):
            Channels(given)  # type: ignore[arg-type]


def test_options_for_a_column_that_is_not_hidden_are_refused() -> None:
    channels = Channels({"age": NOISE})
    noisy = channels.perturb(pd.DataFrame({"age": [31.0, 44.0] * 50}))
    assert channels.reconstruct(noisy, age={"intervals": 5})["age"].shares.size == 5
    with pytest.raises(SchemaError, match="'agee'"):
        channels.reconstruct(noisy, agee={"intervals": 5})


def test_decimals_are_numbers() -> None:
    values = [decimal.Decimal("31.25"), decimal.Decimal("44.50")]
    for frame in (pa.table({"age": values}), pl.DataFrame({"age": values})):
        noisy = NOISE.perturb(frame, columns=["age"], random_state=1)
        assert np.allclose(np.asarray(noisy["age"]), NOISE.perturb([31.25, 44.5], random_state=1))


def test_the_column_that_bits_replace_is_gone() -> None:
    channels = Channels({"drink": UnaryResponse.optimal(["tea", "milk"], epsilon=1)})
    frame = pd.DataFrame({"drink": ["tea", "milk"], "n": [1, 2]}, index=[4, 4])
    assert list(channels.perturb(frame).columns) == ["drink=tea", "drink=milk", "n"]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["a", "b", "a"], categories=["b", "a", "c"])),
        pl.Series(["a", "b", "a"], dtype=pl.Enum(["a", "b", "c"])),
        pa.array(["a", "b", "a"]).dictionary_encode(),
    ],
)
def test_categories_keep_their_kind_of_column(column) -> None:
    channels = Channels({"x": RandomizedResponse.k_ary(["a", "b", "c"], keep=0.5)})
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    frame = make[type(column).__module__.split(".")[0]]({"x": column})
    noisy = channels.perturb(frame, random_state=1)
    assert set(np.asarray(noisy["x"])) <= {"a", "b", "c"}
    assert str(noisy["x"].dtype if hasattr(column, "dtype") else noisy["x"].type.value_type) in (
        "category",
        "Enum(categories=['a', 'b', 'c'])",
        "string",
    )


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": pd.Categorical(["a", "b"], ordered=True)}),
        pl.DataFrame({"x": pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"]))}),
    ],
)
def test_a_type_that_cannot_hold_every_report_is_refused_whatever_is_drawn(frame) -> None:
    channels = Channels({"x": RandomizedResponse.k_ary(["a", "b", "c"], keep=0.99)})
    for seed in range(5):
        with pytest.raises(SchemaError, match="lacks some"):
            channels.perturb(frame, random_state=seed)
    whole = Channels({"x": RandomizedResponse.k_ary(["b", "a"], keep=0.6)}).perturb(frame, random_state=1)
    assert whole["x"].dtype == frame["x"].dtype


def test_a_fraction_is_no_category_of_whole_numbers() -> None:
    for channel in (RandomizedResponse.k_ary([1, 2.5], keep=0.9), UnaryResponse([1, 2.5], p=0.9, q=0.9)):
        with pytest.raises(InputError, match="not of the categories' type"):
            channel.perturb([1, 2])
        assert len(channel.perturb([1.0, 2.5])) == 2
    assert RandomizedResponse.k_ary([1.0, 2.0], keep=0.9).count([1, 2, 2]).tolist() == [1, 2]
