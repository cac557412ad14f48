"""Texts as sparse rows: a folder, a frame or a list of texts, weighted by tf–idf or counted, through scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from discreet.core.arrays import BoolArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import InstanceOf, IntIn, OneOf, require
from discreet.core.tables.encoding import type_name

Weights = Literal["tf-idf", "counts"]


@dataclass(frozen=True, repr=False, eq=False)
class TextRows:
    """Texts as rows: a scipy CSR array with a column for each word, and the words.

    ``documents`` names each text: the path of its file in the folder, or its number.
    """

    rows: Any
    names: tuple[str, ...]
    documents: tuple[str | int, ...]

    @property
    def empty(self) -> BoolArray:
        """Which texts hold none of the words."""
        return np.asarray(np.diff(self.rows.indptr) == 0)

    def filled(self) -> TextRows:
        """Keep the texts that hold a word."""
        filled = np.flatnonzero(~self.empty)
        return TextRows(self.rows[filled], self.names, tuple(self.documents[number] for number in filled))

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        return f"TextRows({len(self)} texts, {len(self.names)} words, {self.rows.nnz} entries)"


@public
def text_rows(
    source: Any,
    *,
    column: str | None = None,
    weights: Weights = "tf-idf",
    min_texts: int = 1,
    max_words: int | None = None,
    stop_words: bool = True,
    encoding: str = "utf-8",
) -> TextRows:
    """Turn texts into sparse rows.

    Parameters
    ----------
    source
        A folder, whose files are read in the order of their paths, those in folders inside it too; a pandas, Polars,
        Arrow or DuckDB frame; or a sequence of texts.
    column
        The column of the texts in a frame. A null is an empty text.
    weights
        ``"tf-idf"``: how often a word occurs, the more the rarer it is elsewhere, each row brought to the length 1.
        ``"counts"``: how often it occurs. What is rare depends on all texts together, so rows made apart have other
        weights; counts are the same wherever they are made.
    min_texts
        Words in fewer texts are left out.
    max_words
        The most words to keep, the most frequent ones; None keeps all.
    stop_words
        Whether to leave out the most common English words.
    encoding
        The encoding of the files.

    Examples
    --------
    >>> found = text_rows(["The cat sat.", "A cat and a dog.", ""])
    >>> found
    TextRows(3 texts, 3 words, 4 entries)
    >>> found.names, found.empty.tolist()
    (('cat', 'dog', 'sat'), [False, False, True])
    """
    require("text_rows", "weights", weights, OneOf(("tf-idf", "counts")))
    require("text_rows", "min_texts", min_texts, IntIn(1))
    require("text_rows", "max_words", max_words, IntIn(1), InstanceOf((type(None),), "None"))
    require("text_rows", "encoding", encoding, InstanceOf((str,), "the name of an encoding"))
    texts, documents = _texts(source, column, encoding)
    if not texts:
        raise InputError("There are no texts.")
    matrix, names = _weighed(texts, weights, min_texts, max_words, stop_words=stop_words)
    return TextRows(matrix, names, documents)


def read_folder(folder: str | os.PathLike[str], *, encoding: str = "utf-8") -> tuple[list[str], list[str]]:
    """Read all files of a folder and of those inside it; return the texts and their paths, in the order of the paths.

    Files and folders whose name begins with a dot are left out.
    """
    home = Path(folder)
    if not home.is_dir():
        raise InputError("The texts are to be read from a folder, and there is none of that name.")
    paths = _files(home)
    texts = []
    for number, path in enumerate(paths, 1):
        try:
            texts.append(path.read_bytes().decode(encoding))
        except LookupError:
            raise InputError("There is no such encoding.") from None
        except UnicodeError:
            raise InputError(
                f"File {number} of the {len(paths)} in {home} is not in {encoding}; pass its encoding.",
                fix={"encoding": "latin-1"},
            ) from None
        except OSError as error:
            raise InputError(
                f"File {number} of the {len(paths)} in {home} cannot be read: {os.strerror(error.errno or 0)}."
            ) from None
    return texts, [path.relative_to(home).as_posix() for path in paths]


def _files(home: Path) -> list[Path]:
    """Return the files of a folder and of those inside it, in order; a folder that cannot be looked into is refused."""

    def refuse(error: OSError) -> None:
        raise InputError(f"A folder in {home} cannot be read: {os.strerror(error.errno or 0)}.") from None

    paths: list[Path] = []
    for folder, inside, names in os.walk(home, onerror=refuse):
        inside[:] = [name for name in inside if not name.startswith(".")]
        paths.extend(Path(folder, name) for name in names if not name.startswith("."))
    return sorted(path for path in paths if path.is_file())


def _texts(source: Any, column: str | None, encoding: str) -> tuple[list[str], tuple[str | int, ...]]:
    """Return the texts, and what names each."""
    if isinstance(source, str | os.PathLike):
        texts, paths = read_folder(source, encoding=encoding)
        return texts, tuple(paths)
    if column is not None:
        texts = _cells(source, column)
    elif isinstance(source, Sequence) or hasattr(source, "__iter__"):
        texts = list(source)
        if not all(isinstance(text, str) for text in texts):
            raise InputError(
                "Texts must be a sequence of text, a folder, or a frame with the name of its column."
            )
    else:
        raise InputError(
            "Texts must be a sequence of text, a folder, or a frame with the name of its column."
        )
    return texts, tuple(range(len(texts)))


def _cells(frame: Any, column: str) -> list[str]:
    """Read the column of a frame; a null is an empty text."""
    import pyarrow as pa

    from discreet.core.tables.source import source_of

    source = source_of(frame)
    if column not in source.names:
        raise InputError(f"There is no column '{column}'.")
    cells = source.columns([column])[column]
    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
        raise InputError(f"Column '{column}' holds {type_name(cells.type)} and not text.")
    return [cell or "" for cell in cells.to_pylist()]


def _weighed(
    texts: list[str], weights: Weights, min_texts: int, max_words: int | None, *, stop_words: bool
) -> tuple[Any, tuple[str, ...]]:
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    counter = CountVectorizer(
        min_df=min_texts, max_features=max_words, stop_words="english" if stop_words else None
    )
    try:
        counts = counter.fit_transform(texts)
    except ValueError:
        raise InputError(
            f"None of the {len(texts)} texts holds a word that is kept; lower min_texts, or keep stop words."
        ) from None
    matrix = counts if weights == "counts" else TfidfTransformer().fit_transform(counts)
    return csr_array(matrix), tuple(counter.get_feature_names_out().tolist())
