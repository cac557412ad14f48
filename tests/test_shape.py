"""The shape of the code stays within its limits; ``make shape`` prints it."""

from __future__ import annotations

import pytest

from tests.shape import Shape, shape
from tests.walks import walks


@pytest.fixture(scope="module")
def counted() -> Shape:
    return shape()


def test_bindings_name_things_of_the_domain(counted: Shape) -> None:
    assert counted.dialect_share < 0.015, counted.dialect.most_common()


def test_no_two_public_classes_have_one_name(counted: Shape) -> None:
    assert not counted.classes


def test_a_public_function_shares_its_name_only_as_the_verb_of_a_protocol(counted: Shape) -> None:
    assert not counted.functions


def test_duckdb_is_imported_by_its_engine_alone(counted: Shape) -> None:
    assert not counted.duckdb


def test_a_word_of_the_dialect_and_a_name_with_two_meanings_are_counted(tmp_path) -> None:
    (tmp_path / "first.py").write_text("import duckdb\n# why\ndef price(one): ...\nclass Basket: ...\n")
    (tmp_path / "second.py").write_text("def price(item): ...\nclass Basket: ...\ntotal = 1\n")
    counted = shape(tmp_path)
    assert (counted.files, counted.lines, counted.comments) == (2, 7, 1)
    assert (dict(counted.dialect), counted.bindings) == ({"one": 1}, 3)
    assert list(counted.classes) == ["Basket"]
    assert list(counted.functions) == ["price"]
    assert counted.duckdb == ["first.py"]


@pytest.mark.slow
def test_a_walk_touches_few_files() -> None:
    counted = walks()
    assert {data: len(walk.files) for data, walk in counted.items() if len(walk.files) > 90} == {}
    # Both read their file, and what they wrote once more: the walks are not cut short.
    names = ("read", "written_cells", "read_published")
    assert [tuple(walk.calls.get(name, 0) for name in names) for walk in counted.values()] == [
        (1, 1, 0),
        (0, 0, 1),
    ]
