"""The data of the sketch experiment: 20 Newsgroups and Reuters where they are present, and Quest sets."""

from __future__ import annotations

import gzip
import json
import lzma
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.core.arrays import IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.records.sparse_rows import SparseRows
from discreet.datasets import quest
from discreet.engines.texts import text_rows
from discreet.kernels import ragged
from experiments.data_sets import present

MESSAGES = Path("newsgroups20") / "20news-bydate.jsonl.xz"
STORIES = tuple(Path("reuters52") / f"r52-{part}-all-terms.txt.gz" for part in ("train", "test"))
_TOPICS = 17
"""The paper's text set has as many classes."""
_MIN_TEXTS = 3
_FEWER = 8
"""A quick run takes every eighth text."""


@dataclass(frozen=True, repr=False)
class Sample:
    """Records with a class each."""

    title: str
    rows: SparseRows
    labels: IntArray

    @property
    def described(self) -> str:
        """The set in a few words."""
        n, items = len(self.rows), len(self.rows.names)
        length = self.rows.items.size / max(n, 1)
        return f"{n:,} records, {items:,} items, {length:.1f} of them in a record; {self.labels.max() + 1} classes"


def texts(data: Path | None, *, quick: bool) -> Sample | None:
    """Read the messages of 20 Newsgroups, without their headers, words counted; None where they are absent."""
    path = present(data, MESSAGES)
    if path is None:
        return None
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        messages = [json.loads(line) for line in lines]
    pairs = [(message["group"], _body(message["text"])) for message in messages]
    return _counted("20 Newsgroups (for Text17)", pairs[::_FEWER] if quick else pairs)


def topics(data: Path | None, *, quick: bool) -> Sample | None:
    """Read the stories of Reuters about its 17 largest topics, words counted; None where they are absent."""
    paths = [present(data, place) for place in STORIES]
    pairs = []
    for path in paths:
        if path is None:
            return None
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            pairs += [(topic, text) for topic, _, text in (line.partition("\t") for line in lines)]
    largest = {topic for topic, _ in Counter(topic for topic, _ in pairs).most_common(_TOPICS)}
    pairs = [pair for pair in pairs if pair[0] in largest]
    return _counted("Reuters, 17 largest topics (for Text17)", pairs[::_FEWER] if quick else pairs)


def _counted(title: str, pairs: list[tuple[str, str]]) -> Sample:
    """Count the words of texts; those without any are left out."""
    counted = text_rows([text for _, text in pairs], min_texts=_MIN_TEXTS, weights="counts")
    filled = np.flatnonzero(~counted.empty)
    groups = np.unique([group for group, _ in pairs], return_inverse=True)[1]
    return Sample(title, SparseRows.of(counted.rows[filled], names=counted.names), groups[filled])


def two_instances(name: str, *, n_baskets: int, n_items: int = 1000, random_state: int = 1) -> Sample:
    """Generate two Quest sets with patterns of their own, a class each: half of the baskets from either."""
    size = -(-n_baskets // 2)
    halves = [
        quest(name, n_baskets=size, n_items=n_items, random_state=2 * random_state + half) for half in (0, 1)
    ]
    rows = SparseRows.of(_together(halves))
    return Sample(f"{name}.D{_short(2 * size)}", rows, np.repeat([0, 1], size))


def _together(parts: Iterable[Baskets]) -> Baskets:
    """Put baskets of the same items one after the other."""
    listed = list(parts)
    lengths = np.concatenate([part.lengths for part in listed])
    indptr = ragged.bounds(lengths)
    return Baskets(indptr, np.concatenate([part.items for part in listed]), listed[0].names)


def _body(text: str) -> str:
    """Leave out the header, which names the group."""
    return text.partition("\n\n")[2]


def _short(n: int) -> str:
    return f"{n // 1000}K" if n % 1000 == 0 else str(n)
