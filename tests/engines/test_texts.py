"""Texts as sparse rows: folders, frames and lists, their words, and what is refused."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.core.errors import InputError, ParameterError
from discreet.engines.texts import read_folder, text_rows

TEXTS = ["The cat sat on the mat.", "A dog and a cat: cat!", "", "Dogs bark"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, text in enumerate(TEXTS):
        path = tmp_path / "docs" / f"part{number % 2}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "docs" / ".hidden").write_text("secret words")
    return tmp_path / "docs"


def test_tf_idf_rows_have_the_length_1() -> None:
    found = text_rows(TEXTS)
    assert found.names == ("bark", "cat", "dog", "dogs", "mat", "sat")
    lengths = np.sqrt((found.rows.toarray() ** 2).sum(axis=1))
    assert lengths == pytest.approx([1, 1, 0, 1])
    assert found.empty.tolist() == [False, False, True, False]
    filled = found.filled()
    assert filled.documents == (0, 1, 3)
    assert filled.rows.shape == (3, 6)


def test_counts_count() -> None:
    found = text_rows(TEXTS, weights="counts", stop_words=False)
    cat = found.names.index("cat")
    assert found.rows.toarray()[:, cat].tolist() == [1, 2, 0, 0]
    assert "the" in found.names


def test_words_can_be_left_out() -> None:
    assert text_rows(TEXTS, min_texts=2).names == ("cat",)
    assert text_rows(TEXTS, max_words=1).names == ("cat",)


def test_a_folder_is_read_in_the_order_of_its_paths(folder: Path) -> None:
    texts, paths = read_folder(folder)
    assert paths == ["part0/0.txt", "part0/2.txt", "part1/1.txt", "part1/3.txt"]
    assert texts == [TEXTS[0], TEXTS[2], TEXTS[1], TEXTS[3]]
    found = text_rows(folder)
    assert found.documents == tuple(paths)
    assert "secret" not in found.names


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_agree(frame) -> None:
    given = frame({"body": [*TEXTS[:2], None, TEXTS[3]], "number": [1, 2, 3, 4]})
    found = text_rows(given, column="body")
    wanted = text_rows(TEXTS)
    assert found.names == wanted.names
    assert (found.rows.toarray() == wanted.rows.toarray()).all()


def test_what_is_refused(folder: Path, tmp_path: Path) -> None:
    table = pa.table({"body": ["a"], "number": [1]})
    with pytest.raises(InputError, match="no column 'text'"):
        text_rows(table, column="text")
    with pytest.raises(InputError, match="'number' holds int64"):
        text_rows(table, column="number")
    with pytest.raises(InputError, match="none of that name"):
        text_rows(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no texts"):
        text_rows([])
    with pytest.raises(InputError, match="None of the 2 texts"):
        text_rows(["the", "and"])
    with pytest.raises(InputError, match="sequence of text"):
        text_rows([1, 2])
    with pytest.raises(ParameterError, match="'weights' parameter"):
        text_rows(TEXTS, weights="bm25")  # type: ignore[arg-type]
    (folder / "z.txt").write_bytes(b"\xff\xfe secret")
    with pytest.raises(InputError, match="File 5 of the 5") as error:
        text_rows(folder)
    assert "secret" not in str(error.value)
    assert len(text_rows(folder, encoding="latin-1")) == 5
    with pytest.raises(InputError, match="no such encoding"):
        text_rows(folder, encoding="klingon")
    with pytest.raises(InputError, match="is not in undefined"):
        text_rows(folder, encoding="undefined")
    with pytest.raises(ParameterError, match="'encoding' parameter"):
        text_rows(folder, encoding=None)  # type: ignore[arg-type]


def test_a_folder_that_cannot_be_looked_into_is_not_passed_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = os.scandir

    def closed(path: Any) -> Any:
        if Path(path).name == "part1":
            raise PermissionError(errno.EACCES, "no")
        return look(path)

    monkeypatch.setattr(os, "scandir", closed)
    with pytest.raises(InputError, match=r"A folder in .* cannot be read: Permission denied"):
        read_folder(folder)
