"""Sketches: estimates against the slow definitions, ragged lengths, files, and what is refused."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import sketches as oracles

from discreet import read_sketches, write_sketches
from discreet.core.errors import InputError, OutputError
from discreet.core.records.sketches import Sketches
from discreet.publish import SketchFamily

COMPONENTS = st.lists(st.integers(-6, 6).map(float), max_size=7)
RAGGED = st.lists(COMPONENTS, min_size=1, max_size=6)


def made(lists: list[list[float]], family: str = "f") -> Sketches:
    return Sketches(
        np.array([value for one in lists for value in one], np.float64),
        np.cumsum([0, *map(len, lists)]),
        family,
    )


def lists_of(sketches: Sketches) -> list[list[float]]:
    return [
        sketches.values[start:stop].tolist() for start, stop in itertools.pairwise(sketches.indptr.tolist())
    ]


@given(RAGGED, RAGGED)
@pytest.mark.parametrize("kind", ["dot", "squared_distance", "cosine"])
def test_comparisons_are_those_of_the_definition(
    kind: str, a: list[list[float]], b: list[list[float]]
) -> None:
    slow = getattr(oracles, kind)
    one, other = made(a), made(b)
    expected = np.array([[slow(s, t) for t in b] for s in a])
    np.testing.assert_allclose(getattr(one, kind)(other), expected, atol=1e-12)
    np.testing.assert_allclose(getattr(one, kind)(), [[slow(s, t) for t in a] for s in a], atol=1e-12)
    first = other.take([0])
    np.testing.assert_allclose(getattr(one, kind)(first, paired=True), expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(getattr(first, kind)(one, paired=True), expected[:, 0], atol=1e-12)
    pairs = [slow(s, s[::-1]) for s in a]
    turned = made([s[::-1] for s in a])
    np.testing.assert_allclose(getattr(one, kind)(turned, paired=True), pairs, atol=1e-12)


def test_many_sketches_are_compared_across_blocks() -> None:
    rng = np.random.default_rng(1)
    lists = [rng.normal(size=int(m)).tolist() for m in rng.integers(0, 30, 700)]
    many = made(lists)
    found = many.take(np.arange(5)).squared_distance(many)
    expected = [[oracles.squared_distance(s, t) for t in lists] for s in lists[:5]]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(RAGGED)
def test_norms_and_centroids(lists: list[list[float]]) -> None:
    sketches = made(lists)
    np.testing.assert_allclose(sketches.squared_norm(), [oracles.dot(s, s) for s in lists])
    np.testing.assert_allclose(lists_of(sketches.centroid())[0], oracles.centroid(lists))
    labels = np.arange(len(lists)) % 2
    for label, found in enumerate(lists_of(sketches.centroids(labels, n=2))):
        members = [s for s, own in zip(lists, labels, strict=True) if own == label]
        np.testing.assert_allclose(found, oracles.centroid(members))


@given(RAGGED, st.data())
def test_taking_cutting_and_joining(lists: list[list[float]], data: st.DataObject) -> None:
    sketches = made(lists)
    chosen = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=8))
    assert lists_of(sketches.take(np.array(chosen, np.int64))) == [lists[at] for at in chosen]
    assert lists_of(sketches.take(~sketches.suppressed)) == [s for s in lists if s]
    assert lists_of(sketches.shortened(3)) == [s[:3] for s in lists]
    cuts = data.draw(st.lists(st.integers(0, 9), min_size=len(lists), max_size=len(lists)))
    assert lists_of(sketches.shortened(cuts)) == [s[:m] for s, m in zip(lists, cuts, strict=True)]
    assert lists_of(Sketches.concat([sketches, sketches])) == lists + lists
    assert Sketches.from_dense(sketches.dense(), family="f", lengths=sketches.lengths).equals(sketches)


def test_reconstruction_with_its_errors() -> None:
    family = SketchFamily("key", components=400)
    records = [{"a": 2, "b": -1, "c": 1}, {"b": 3}]
    sketches = family.sketch(records, lengths=np.array([400, 1]))
    found = sketches.reconstruct(["a", "b", "never seen"], family)
    assert np.abs(found.values[0] - [2, -1, 0]).max() < 5 * math.sqrt(6 / 400)
    predicted = [math.sqrt(float(oracles.attribute_variance(records[0], item, 400))) for item in "ab?"]
    np.testing.assert_allclose(found.standard_errors[0], predicted, rtol=0.2)
    assert found.values[1, 1] == 3
    assert np.isnan(found.standard_errors[1]).all()
    plain = sketches.dense()[0]
    only = family.sketch([{"b": 1}]).dense()[0]
    assert found.values[0, 1] == pytest.approx(float((plain * only).mean()))


@given(RAGGED)
def test_a_file_gives_the_same_back(
    tmp_path_factory: pytest.TempPathFactory, lists: list[list[float]]
) -> None:
    path = tmp_path_factory.mktemp("sketches") / "s.arrow"
    sketches = made(lists, "abc")
    assert write_sketches(sketches, path) == path
    assert read_sketches(path).equals(sketches)
    with pa.OSFile(str(path), "rb") as stream:
        assert pa.ipc.open_file(stream).read_all().column("sketch").to_pylist() == lists


def test_a_file_that_is_cut_short_damaged_or_foreign_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.arrow"
    write_sketches(made([[1.0, 2.0], [], [3.5]]), path)
    whole = path.read_bytes()
    for size in range(1, len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match="cut short or damaged"):
            read_sketches(path)
    place = whole.index(np.array([1.0, 2.0]).tobytes())
    path.write_bytes(whole[:place] + np.array([7.0]).tobytes() + whole[place + 8 :])
    with pytest.raises(InputError, match="checksum"):
        read_sketches(path)
    other = made([[1.0]]).to_arrow().replace_schema_metadata({"discreet.sketches": "2"})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, other.schema) as writer:
        writer.write_table(other)
    with pytest.raises(InputError, match="version 2; only version 1"):
        read_sketches(path)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, pa.schema([])) as writer:
        writer.write_table(pa.table({}))
    with pytest.raises(InputError, match="none of sketches"):
        read_sketches(path)
    with pytest.raises(InputError):
        read_sketches(tmp_path / "absent.arrow")


@pytest.mark.parametrize("kind", [np.float64, np.int16, np.int8])
def test_no_flipped_byte_gives_other_sketches_or_ends_the_process(tmp_path: Path, kind: Any) -> None:
    path = tmp_path / "s.arrow"
    sketches = Sketches(np.array([1, -2, 3, 4], kind), np.array([0, 2, 2, 4]), "ab" * 16)
    whole = write_sketches(sketches, path).read_bytes()
    refused = 0
    for place in range(len(whole)):
        for flip in (0x01, 0x80, 0xFF):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :])
            try:
                assert read_sketches(path).equals(sketches)
            except InputError:
                refused += 1
    assert refused > len(whole)


def test_components_of_one_byte_are_compared_and_joined_as_any_others() -> None:
    values, bounds = np.array([127, -127, 100, -100, 127]), np.array([0, 3, 5])
    whole = Sketches(values.astype(np.float64), bounds, "key")
    small, wide = (Sketches(values.astype(kind), bounds, "key") for kind in (np.int8, np.int16))
    assert small.values.dtype == np.int8
    assert small.equals(whole)
    assert small.dot().tolist() == whole.dot().tolist()
    assert small.squared_norm().tolist() == whole.squared_norm().tolist()
    assert small.squared_distance(wide).tolist() == whole.squared_distance().tolist()
    assert small.centroid().equals(whole.centroid())
    for other in (wide, whole):
        joined = Sketches.concat([small, other])
        assert joined.values.dtype == other.values.dtype
        assert joined.equals(Sketches.concat([whole, whole]))


def test_a_column_of_another_kind_is_none_of_sketches(tmp_path: Path) -> None:
    path = tmp_path / "s.arrow"
    for column in (pa.array([1.0]), pa.array([[1.0]]), pa.array([["planted"]], pa.large_list(pa.string()))):
        table = pa.table({"sketch": column}).replace_schema_metadata({"discreet.sketches": "1"})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(InputError, match="none of sketches"):
            read_sketches(path)


def test_an_old_file_stays_unless_it_may_go(tmp_path: Path) -> None:
    path = write_sketches(made([[1.0]]), tmp_path / "s.arrow")
    with pytest.raises(OutputError, match="already"):
        write_sketches(made([[2.0]]), path)
    assert lists_of(read_sketches(path)) == [[1.0]]
    assert lists_of(read_sketches(write_sketches(made([[2.0]]), path, overwrite=True))) == [[2.0]]
    assert [left.name for left in tmp_path.iterdir()] == ["s.arrow"]


def test_sketches_of_different_keys_are_refused() -> None:
    one, other = SketchFamily("one").sketch([{"a": 1}]), SketchFamily("other").sketch([{"a": 1}])
    for kind in ("dot", "squared_distance", "cosine"):
        for paired in (False, True):
            with pytest.raises(InputError, match="different keys"):
                getattr(one, kind)(other, paired=paired)
    with pytest.raises(InputError, match="different keys"):
        Sketches.concat([one, other])
    with pytest.raises(InputError, match="different keys"):
        one.reconstruct(["a"], SketchFamily("other"))
    with pytest.raises(InputError, match="only 3"):
        one.reconstruct(["a"], SketchFamily("one", components=3))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="do not fit"):
        Sketches(np.zeros(3), np.array([0, 2]), "")
    with pytest.raises(InputError, match="do not fit"):
        Sketches(np.zeros(3), np.array([0, 3, 2, 3]), "")
    for bad in (np.nan, np.inf):
        with pytest.raises(InputError, match="NaN or infinite"):
            Sketches(np.array([bad]), np.array([0, 1]), "")
    with pytest.raises(InputError, match="in pairs"):
        made([[1.0], [2.0]]).dot(made([[1.0]] * 3), paired=True)
    with pytest.raises(InputError, match="labels"):
        made([[1.0], [2.0]]).centroids([0, 2], n=2)
    with pytest.raises(InputError, match="no sketches"):
        Sketches.concat([])
    with pytest.raises(InputError, match="2 dimensions"):
        Sketches.from_dense([1.0])
    for bad in ([["planted"]], [[1.0], [1.0, 2.0]], [[1j]]):
        with pytest.raises(InputError, match="rows of numbers") as caught:
            Sketches.from_dense(bad)
        assert "planted" not in str(caught.value)
    with pytest.raises(InputError, match="rows of numbers"):
        Sketches(np.array(["planted"]), np.array([0, 1]), "")  # type: ignore[arg-type]
    for lengths in ([0.9], ["planted"]):
        with pytest.raises(InputError, match="whole numbers"):
            Sketches.from_dense([[1.0]], lengths=lengths)
        with pytest.raises(InputError, match="whole numbers"):
            made([[1.0]]).shortened(lengths)
    with pytest.raises(InputError, match="each of the 2 sketches"):
        made([[1.0], [2.0]]).shortened([1, 1, 1])
    for records in ([2], [True], [0.0]):
        with pytest.raises(InputError, match="'records' must be numbers"):
            made([[1.0], [2.0]]).take(records)
    assert len(made([[1.0], [2.0]]).take([])) == 0
    with pytest.raises(InputError, match="not a single one"):
        SketchFamily("key").sketch([{"a": 1}]).reconstruct("a", SketchFamily("key"))
