"""Files of published baskets: the baskets with a group id, and the sensitive counts per group beside them.

Text files are long: a line for each entry with the group, the number of the basket and the item; a basket without items
has one line with an empty cell. Parquet and Arrow files have a row for each basket with the list of its items.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets, group_item_counts
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.engines.writing import write_frame

FORMATS = ("csv", "tsv", "parquet", "arrow")
BASKETS, SENSITIVE = "baskets", "sensitive"
_DELIMITERS = {"csv": ",", "tsv": "\t"}


def write_published(data: GroupedBaskets | Baskets, folder: Path, kind: str) -> list[Path]:
    """Write published baskets into a folder: one file, and one more where they are grouped."""
    group = data.group if isinstance(data, GroupedBaskets) else None
    frame = _long(data.ordinary, group) if kind in _DELIMITERS else _nested(data.ordinary, group)
    written = [write_frame(frame, folder / f"{BASKETS}.{kind}", kind)]
    if isinstance(data, GroupedBaskets):
        counts = {
            "group": data.sensitive.group.astype(np.int32),
            "item": data.sensitive_names.take(pa.array(data.sensitive.values)),
            "count": data.sensitive.counts,
        }
        written.append(write_frame(pa.table(counts), folder / f"{SENSITIVE}.{kind}", kind))
    return written


@public
def read_published(folder: str | os.PathLike[str]) -> GroupedBaskets | Baskets:
    """Read published baskets from a folder.

    Items are text or whole numbers. Text files do not say which: the folder's release.json does; without one,
    items that are all written as whole numbers are numbers.
    """
    folder = Path(folder)
    kind = next((kind for kind in FORMATS if (folder / f"{BASKETS}.{kind}").is_file()), None)
    if kind is None:
        raise InputError(
            f"'{folder}' holds no published baskets; name a file of baskets, or the folder of a release of baskets."
        )
    try:
        return _read(folder, kind)
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError, IndexError) as error:
        raise InputError(
            f"The files in '{folder}' cannot be read as published baskets ({type(error).__name__})."
        ) from None


def _long(baskets: Baskets, group: Any) -> pa.Table:
    """Return a row per entry, and one with a null for each basket without items."""
    lengths = np.maximum(baskets.lengths, 1)
    numbers = np.repeat(np.arange(len(baskets)), lengths)
    empty = np.repeat(baskets.lengths == 0, lengths)
    codes = np.zeros(numbers.size, np.int32)
    codes[~empty] = baskets.items
    columns = {"basket": numbers, "item": baskets.names.take(pa.array(codes, mask=empty))}
    return pa.table(columns if group is None else {"group": group[numbers], **columns})


def _nested(baskets: Baskets, group: Any) -> pa.Table:
    lists = pa.LargeListArray.from_arrays(baskets.indptr, baskets.names.take(pa.array(baskets.items)))
    return pa.table({"items": lists} if group is None else {"group": group, "items": lists})


def _read(folder: Path, kind: str) -> GroupedBaskets | Baskets:
    frame = _frame(folder / f"{BASKETS}.{kind}", kind)
    counts = (
        _frame(folder / f"{SENSITIVE}.{kind}", kind) if (folder / f"{SENSITIVE}.{kind}").is_file() else None
    )
    if kind in _DELIMITERS:
        number = _are_numbers(folder, frame, counts)
        frame = _typed(frame, number=number)
        counts = None if counts is None else _typed(counts, number=number)
        rows, group = _rows(frame)
        item = frame["item"].combine_chunks()
        valid = np.asarray(item.is_valid())
        rows, item, n = rows[valid], item.drop_null(), int(rows.max(initial=-1)) + 1
    else:
        lists = frame["items"].combine_chunks()
        n, item = len(lists), lists.flatten()
        rows = np.repeat(np.arange(n), np.diff(lists.offsets.to_numpy()))
        group = frame["group"].to_numpy() if "group" in frame.column_names else None
    baskets = _coded(rows, item, n)
    if counts is None or group is None:
        return baskets
    values, names = _codes(counts["item"].combine_chunks())
    return _grouped(baskets, group, counts, values, names)


def _grouped(baskets: Baskets, group: Any, counts: pa.Table, values: Any, names: pa.Array) -> GroupedBaskets:
    of_group, n_held = (
        counts["group"].to_numpy().astype(np.int64),
        counts["count"].to_numpy().astype(np.int64),
    )
    n_groups = int(group.max(initial=-1)) + 1
    if of_group.size and (of_group.min() < 0 or of_group.max() >= n_groups):
        raise InputError("The sensitive counts name a group that has no baskets.")
    order = np.lexsort((values, of_group))
    sensitive = group_item_counts(
        of_group[order], values[order], n_held[order], n_groups=n_groups, n_items=len(names)
    )
    return GroupedBaskets(baskets, group.astype(np.int32), sensitive, names)


def _rows(frame: pa.Table) -> tuple[Any, Any]:
    """Return the number of every line's basket, and the group of every basket."""
    rows = frame["basket"].to_numpy()
    numbers, first = np.unique(rows, return_index=True)
    if (numbers != np.arange(numbers.size)).any():
        raise InputError("The baskets are not numbered from 0 on.")
    if "group" not in frame.column_names:
        return rows, None
    group = frame["group"].to_numpy()
    if (group != group[first][rows]).any():
        raise InputError("A basket is said to be in two groups.")
    return rows, group[first]


def _coded(rows: Any, item: pa.Array, n: int) -> Baskets:
    codes, names = _codes(item)
    return Baskets.from_entries(rows, codes, names, n=n)


def _codes(item: pa.Array) -> tuple[Any, pa.Array]:
    """Code items by their order."""
    names = item.unique().sort()
    codes = pc.index_in(item, value_set=names)
    return np.asarray(codes.to_numpy(zero_copy_only=False), np.int32), names


def _are_numbers(folder: Path, frame: pa.Table, counts: pa.Table | None) -> bool:
    recipe = folder / "release.json"
    kind = json.loads(recipe.read_text(encoding="utf-8")).get("items") if recipe.is_file() else None
    if kind in ("text", "numbers"):
        return bool(kind == "numbers")
    columns = [frame["item"]] if counts is None else [frame["item"], counts["item"]]
    record = r"^(0|-?[1-9][0-9]{0,17})$"
    return all(pc.all(pc.match_substring_regex(entry, record)).as_py() is not False for entry in columns)


def _typed(frame: pa.Table, *, number: bool) -> pa.Table:
    """Turn the cells of a text file into numbers; items only where they are."""
    kinds = {name: pa.int64() for name in frame.column_names if name != "item" or number}
    return pa.table({name: frame[name].cast(kinds.get(name, pa.string())) for name in frame.column_names})


def _frame(path: Path, kind: str) -> pa.Table:
    if kind == "parquet":
        from pyarrow import parquet

        return parquet.read_table(path)
    if kind == "arrow":
        with pa.OSFile(str(path), "rb") as source:
            return pa.ipc.open_file(source).read_all()
    from pyarrow import csv

    # The names first: every column is read as text, so that no item is taken for a number or a date.
    head = csv.open_csv(path, parse_options=csv.ParseOptions(delimiter=_DELIMITERS[kind])).schema.names
    return csv.read_csv(
        path,
        parse_options=csv.ParseOptions(delimiter=_DELIMITERS[kind], newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(head, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
