"""Baskets as lines of text: every name spelled once, then every line put together from the spellings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.baskets.baskets import Baskets
from discreet.engines.formats import write_bytes


def write_rows(
    baskets: Baskets, words: Sequence[str], *, close: str, cut: int, path: Path, display_path: Path
) -> None:
    """Write a line per basket: the words of its items, less the last ``cut`` bytes, and what closes the line."""
    from discreet.kernels.baskets.fimi import spell

    spelled = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, spelled)])
    letters = np.frombuffer(b"".join(spelled), np.uint8)
    closing = np.frombuffer(close.encode(), np.uint8)
    write_bytes(
        path, spell(baskets.indptr, baskets.items, ends, letters, closing, cut=cut), display_path=display_path
    )


def count_names(names: pa.Array, pattern: str) -> int:
    """Count the names in which a pattern is found; numbers are taken as they are written."""
    matching = pc.match_substring_regex(names.cast(pa.string()), pattern)
    return int(pc.sum(matching).as_py() or 0)
