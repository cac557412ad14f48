"""The family: one definition everywhere, every kind of rows, and variances as the formulas say."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import norm
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from tests.oracles import sketches as oracles

from discreet import Baskets
from discreet.core.errors import InputError, ParameterError
from discreet.core.records import sparse_rows
from discreet.publish import DeltaSketch, SketchFamily, sketch_record
from discreet.publish.sketches import client as sketch_client

FALSE_ALARM = 1e-9
"""The keys here are fixed. For a key drawn anew, this is how often a right family fails a test, for each comparison."""
FAR = float(norm.isf(FALSE_ALARM / 2))
NAMES = st.one_of(
    st.text(max_size=5),
    st.integers(-(2**70), 2**70),
    st.binary(max_size=4),
    st.floats(allow_nan=False, allow_infinity=False),
    st.none(),
    st.tuples(st.text(max_size=2), st.integers(0, 5)),
)
VALUES = st.one_of(st.integers(-1000, 1000), st.floats(-1e6, 1e6, allow_subnormal=False))
RECORDS = st.lists(st.dictionaries(NAMES, VALUES, max_size=8), min_size=1, max_size=4)


@given(RECORDS, st.binary(min_size=1, max_size=40))
@settings(max_examples=60)
def test_the_family_and_the_client_agree_bit_for_bit(records: list[dict[Any, float]], key: bytes) -> None:
    try:
        expected = [sketch_record(record, key, 9) for record in records]
    except ValueError:
        with pytest.raises(InputError, match="vanish or overflow"):
            SketchFamily(key).sketch(records)
        return
    assert SketchFamily(key, components=9).sketch(records).dense().tolist() == expected
    assert SketchFamily(key, components=99).sketch(records, lengths=9).dense().tolist() == expected


def test_the_client_runs_in_a_bare_interpreter_and_agrees(tmp_path: Path) -> None:
    copied = tmp_path / "sketch_client.py"
    copied.write_text(Path(sketch_client.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    code = (
        f"import importlib.util as u, sys\ns = u.spec_from_file_location('client', {str(copied)!r})\n"
        "m = u.module_from_spec(s)\ns.loader.exec_module(m)\n"
        "print(m.sketch_record({'tea': 0.1, 5: -2.7, (1, 'x'): 3}, 'key', 12))\n"
        "print(m.sketch_by_delta({'tea': 0.1, 5: -2.7, (1, 'x'): 3}, 'key', 0.7, 100))\n"
        "print([name for name in sys.modules if name in ('numpy', 'pyarrow', 'discreet', 'numba')])"
    )
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    told = ran.stdout.splitlines()
    record = {"tea": 0.1, 5: -2.7, (1, "x"): 3}
    assert told[0] == str(SketchFamily("key", components=12).sketch([record]).values.tolist())
    published = DeltaSketch(0.7, family=SketchFamily("key", components=100)).release([record]).data
    assert told[1] == str(published.values.tolist())
    assert told[2] == "[]"


def test_a_key_makes_these_signs_on_every_machine() -> None:
    """Written down once: if this fails, sketches made by earlier versions cannot be compared any more."""
    family = SketchFamily("a key for all", components=70)
    assert family.fingerprint == "96328bd4be521c2f8aab8060b74c46d5"
    assert family.signs(["tea", 5, b"x", None, ("a", 1)]).tolist() == [
        [3214288866000493080, 5],
        [8298603766447613703, 39],
        [4124696412387787873, 39],
        [15368977175273594457, 11],
        [6097556147255847965, 29],
    ]


def test_signs_are_those_of_the_definition() -> None:
    family = SketchFamily(b"\x00\xff", components=130)
    secret = sketch_client.master(family.key)
    names: list[Any] = ["tea", 7, (1, "b")]
    bits = np.unpackbits(family.signs(names).view(np.uint8), axis=1, bitorder="little")[:, :130]
    for row, name in zip(bits, names, strict=True):
        x = sketch_client.point(secret, name)
        expected = [oracles.sign(sketch_client.coefficients(secret, j), x) for j in range(130)]
        assert (1 - 2 * row.astype(int)).tolist() == expected


@given(st.lists(NAMES, unique_by=lambda name: (name, type(name)), min_size=2, max_size=6))
def test_names_are_spelled_apart(names: list[Any]) -> None:
    spelled = {sketch_client.spelled(name) for name in names}
    assert len(spelled) == len(set(names))


def test_every_kind_of_rows_gives_the_same_sketches() -> None:
    family = SketchFamily("key", components=33)
    records = [{"b": 2.0, "a": 1.0}, {}, {"c": -0.5, "a": 3.0}]
    names = ["a", "b", "c"]
    array = np.array([[1, 2, 0], [0, 0, 0], [3, 0, -0.5]])
    expected = family.sketch(records)
    vectorizer = DictVectorizer()
    kinds = [
        sparse.csr_matrix(array),
        sparse.csr_array(array),
        sparse.coo_array(array),
        sparse.csc_array(array),
    ]
    for rows in [array, array.astype(np.float32), *kinds]:
        assert family.sketch(rows, names=names).equals(expected)
    assert family.sketch(vectorizer.fit_transform(records), names=vectorizer.get_feature_names_out()).equals(
        expected
    )
    doubled = sparse.csr_array(
        (np.array([1.0, 1, 1, 0, 3, -0.5]), np.array([0, 1, 1, 2, 0, 2]), [0, 4, 4, 6])
    )
    before = doubled.data.copy()
    assert family.sketch(doubled, names=names).equals(expected)
    assert (doubled.data == before).all()
    lists = [["bread", "milk"], ["beer"], []]
    ones = [dict.fromkeys(one, 1) for one in lists]
    assert family.sketch(Baskets.from_lists(lists)).equals(family.sketch(ones))
    assert family.sketch(Baskets.from_lists(lists).take(np.array([1]))).equals(family.sketch(ones[1:2]))
    numbered = family.sketch([{0: 1, 1: 2}, {}, {0: 3, 2: -0.5}])
    assert family.sketch(array).equals(numbered)
    assert family.sketch(array.astype(np.int8)[:1]).equals(numbered.take([0]))
    assert not numbered.equals(expected)


def test_vectorizers_need_no_common_vocabulary() -> None:
    family = SketchFamily("key", components=64)
    texts = ["tea with milk", "tea with lemon", "dark beer"]
    together, alone = TfidfVectorizer(use_idf=False), TfidfVectorizer(use_idf=False)
    one = family.sketch(together.fit_transform(texts), names=together.get_feature_names_out())
    other = family.sketch(alone.fit_transform(texts[2:]), names=alone.get_feature_names_out())
    assert one.take([2]).equals(other)
    wide = HashingVectorizer(n_features=2**26).fit_transform(texts)
    assert len(family.sketch(wide)) == 3


def test_lengths_of_each_record() -> None:
    family = SketchFamily("key", components=70)
    rows = np.random.default_rng(0).normal(size=(4, 5))
    whole = family.sketch(rows)
    lengths = np.array([70, 0, 3, 65])
    assert family.sketch(rows, lengths=lengths).equals(whole.shortened(lengths))
    assert family.sketch(rows, lengths=0).suppressed.all()
    assert family.sketch(np.zeros((0, 5))).lengths.size == 0
    assert not family.sketch([{}, {"a": 0}]).values.any()


def test_the_kind_of_components_follows_from_what_is_published_alone() -> None:
    """A record of very many items that gets no component leaves no trace in those of others."""
    family = SketchFamily("key", components=5)
    for n, kind in ((127, np.int8), (128, np.int16), (2**15 - 1, np.int16), (2**15, np.float64)):
        rows = sparse.csr_array(np.vstack([np.ones(n), np.arange(n) < 3]))
        both = family.sketch(rows)
        assert both.values.dtype == kind
        alone = family.sketch(rows, lengths=np.array([0, 5]))
        assert alone.values.dtype == np.int8
        assert alone.take([1]).equals(both.take([1]))


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1, 1, 1, 0, 0, 1], [0, 1, 1, 1, 1, 0]),
        ([0.5, 2.0, 0.1, 1.0, 0, 0], [1.5, 0.2, 0.1, 0, 3.0, 0.7]),
        ([1.0, -2.0, 0.5, 3.0, 0, 1], [-1.0, 2.0, -0.5, 1.0, 2.0, 0]),
    ],
)
def test_means_and_variances_are_those_of_the_formulas(x: list[float], y: list[float]) -> None:
    """Components are independent draws: their means and variances are compared with the formulas for one component."""
    m = 1 << 16
    family = SketchFamily("a fixed key", components=m)
    s, t = family.sketch(np.array([x, y])).dense()
    signs = 1.0 - 2 * np.unpackbits(family.signs(range(7)).view(np.uint8), axis=1, bitorder="little")
    x_squared, y_squared = sum(a * a for a in x), sum(b * b for b in y)
    record = dict(enumerate(x))
    for item in range(7):
        variance = float(oracles.attribute_variance(record, item, 1))
        _agrees(s * signs[item], record.get(item, 0), variance)
    _agrees(s * t, sum(a * b for a, b in zip(x, y, strict=True)), oracles.dot_variance(x, y))
    _agrees(s * s, x_squared, oracles.dot_variance(x, x))
    _agrees(t * t, y_squared, oracles.dot_variance(y, y))
    apart = [a - b for a, b in zip(x, y, strict=True)]
    _agrees((s - t) ** 2, sum(d * d for d in apart), oracles.dot_variance(apart, apart))


def _agrees(draws: np.ndarray, mean: float, variance: float) -> None:
    assert abs(draws.mean() - mean) <= FAR * math.sqrt(variance / draws.size) + 1e-12
    squares = (draws - mean) ** 2
    assert abs(squares.mean() - variance) <= FAR * squares.std() / math.sqrt(draws.size) + 1e-9


def test_the_papers_variance_is_a_lower_bound_only_without_negative_values() -> None:
    def paper(x: list[float], y: list[float]) -> float:
        both = sum(a * b for a, b in zip(x, y, strict=True))
        return sum(a * a for a in x) * sum(b * b for b in y) - both**2

    rng = np.random.default_rng(2)
    for _ in range(200):
        x, y = rng.poisson(0.7, (2, 6)).astype(float).tolist()
        assert oracles.dot_variance(x, y) >= paper(x, y) - 1e-9
    assert oracles.dot_variance([1.0, 1.0], [1.0, -1.0]) < paper([1.0, 1.0], [1.0, -1.0])


def test_the_key_does_not_show() -> None:
    family = SketchFamily("a secret of mine")
    assert "secret" not in repr(family)
    assert "secret" not in repr(family.sketch([{"a": 1}]))
    assert b"secret" not in pickle.dumps(family.sketch([{"a": 1}]))
    assert family.fingerprint != SketchFamily("a secret of yours").fingerprint
    assert family.fingerprint == SketchFamily(b"a secret of mine", components=3).fingerprint


def test_the_number_of_processors_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 5))
    expected = SketchFamily("key").sketch(rows)
    monkeypatch.setattr("discreet.kernels.threads.processors", lambda: 7)
    assert SketchFamily("key").sketch(rows).equals(expected)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_values_that_are_no_numbers_are_refused_and_not_shown(bad: float) -> None:
    family = SketchFamily("key")
    for rows in ([{"planted": bad}], np.array([[1.0, bad]]), sparse.csr_array(np.array([[1.0, bad]]))):
        with pytest.raises(InputError, match="1 values of the records are NaN or infinite") as caught:
            family.sketch(rows)
        assert "planted" not in str(caught.value)
    with pytest.raises(ValueError, match="finite"):
        sketch_record({"planted": bad}, "key", 3)


def test_other_bad_input_is_refused() -> None:
    family = SketchFamily("key", components=5)
    assert (sketch_client.SMALLEST, sketch_client.LARGEST) == (sparse_rows.SMALLEST, sparse_rows.LARGEST)
    for beyond in (1e200, 1e-200):
        with pytest.raises(InputError, match="vanish or overflow"):
            family.sketch([{"a": beyond}])
    for rows in ({"a": 1}, "text", 5, [["a"]], [5]):
        with pytest.raises(InputError, match="must be a sparse matrix"):
            family.sketch(rows)
    with pytest.raises(InputError, match="no number"):
        family.sketch([{"a": "planted"}])
    with pytest.raises(InputError, match="2 dimensions"):
        family.sketch(np.zeros(3))
    with pytest.raises(InputError, match="not numbers"):
        family.sketch(np.array([["a"]]))
    with pytest.raises(InputError, match="2 names are given for 3 columns"):
        family.sketch(np.ones((1, 3)), names=["a", "b"])
    with pytest.raises(InputError, match="same name"):
        family.sketch(np.ones((1, 2)), names=["a", "a"])
    with pytest.raises(InputError, match="name of an item"):
        family.sketch([{frozenset(): 1}])
    with pytest.raises(ParameterError, match="names"):
        family.sketch([{"a": 1}], names=["a"])
    with pytest.raises(InputError, match="1 of the 'lengths' lie outside"):
        family.sketch(np.ones((2, 2)), lengths=np.array([5, 6]))
    with pytest.raises(InputError, match="each of the 2 records"):
        family.sketch(np.ones((2, 2)), lengths=np.array([5]))
    with pytest.raises(ParameterError, match="'lengths'"):
        family.sketch(np.ones((2, 2)), lengths=6)
    for key in ("", b"", 987654321, 3.25, bytearray(b"planted"), ["planted"], None):
        with pytest.raises(ParameterError, match="'key'") as caught:
            SketchFamily(key)  # type: ignore[arg-type]
        assert not any(shown in str(caught.value) for shown in ("987654321", "3.25", "planted"))
        with pytest.raises(ValueError, match="bytes or text"):
            sketch_record({"a": 1}, key, 1)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'components'"):
        SketchFamily("key", components=0)
    for names in ("tea", b"tea"):
        with pytest.raises(InputError, match="not a single one"):
            family.signs(names)


@pytest.mark.parametrize("value", ["planted", None, 1j, 10**400, [1]])
def test_the_client_does_not_show_a_value_that_is_no_number(value: Any) -> None:
    with pytest.raises(ValueError, match="must be finite numbers") as caught:
        sketch_record({"a": value}, "key", 3)
    assert caught.value.__cause__ is caught.value.__context__ is None
    with pytest.raises(InputError, match="no number"):
        SketchFamily("key").sketch([{"a": value}])


def test_names_that_are_equal_are_one_item() -> None:
    for names in (
        (1, 1.0, True, np.int64(1), np.float64(1)),
        (0.5, np.float32(0.5), Fraction(1, 2)),
        (0, -0.0),
    ):
        assert len({sketch_client.spelled(name) for name in names}) == 1
        assert len({sketch_client.spelled((name,)) for name in names}) == 1
    for name in (
        math.nan,
        ("a", math.nan),
        Fraction(1, 3),
        Fraction(10) ** 400 / 3,
        frozenset(),
        1j,
        bytearray(b"1"),
    ):
        with pytest.raises(ValueError, match="name of an item"):
            sketch_client.spelled(name)
    composed, parted = "caf\u00e9", "cafe\u0301"
    assert sketch_client.spelled(composed) != sketch_client.spelled(parted)
