"""Every hider of the registry, for the checks that all of them pass, and how written releases are read as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet import Table, other, quasi, sensitive
from discreet.core.registry import Method, methods
from discreet.guarantees import RulesHidden
from tests.written import rows_of

RULES = ["a => b", "c => a"]
LEAST, CONFIDENCE = 0.25, "0.4"
TABLE_RULE = "x=1 => z=p"


def hiders(takes: str) -> pytest.MarkDecorator:
    """Run a test with every hider that takes a kind of data."""
    found = [pytest.param(method, id=method.name) for method in methods(role="hider", takes=takes)]
    return pytest.mark.parametrize("method", found)


def hide(method: Method, data: Any, rules: list[str], **more: Any) -> Any:
    """Hide rules by their confidence, which every method can, at a share of the baskets, which every method takes."""
    more = {"random_state": 1} | more
    return method.make(RulesHidden(rules, LEAST, float(CONFIDENCE)), **more).hide(data)


def table(rows: list[tuple[Any, Any, Any]]) -> Table:
    """Return rows of three columns and one that is no item as a table."""
    x, y, z = (list(column) for column in zip(*rows, strict=True))
    frame = pa.table(
        {"x": pa.array(x, pa.int64()), "y": pa.array(y), "z": pa.array(z, pa.string()), "w": ["w"] * len(x)}
    )
    return Table(frame, {"x": quasi(), "y": quasi(), "z": sensitive(), "w": other()})


def many() -> list[tuple[Any, Any, Any]]:
    """Return rows in which the rule of tables is found."""
    rng = np.random.default_rng(2)
    return [
        (int(one), "uv"[two], "p" if one == 1 and three < 0.8 else "pqr"[int(three * 3)])
        for one, two, three in zip(
            rng.integers(0, 3, 60), rng.integers(0, 2, 60), rng.random(60), strict=True
        )
    ]


def written_baskets(folder: Path, kind: str) -> list[frozenset[str]]:
    """Return the baskets of a release as an attacker reads them: from the cells of its file."""
    found: dict[int, set[str]] = {}
    for number, row in enumerate(rows_of(folder / f"baskets.{kind}", kind)):
        if kind in ("csv", "tsv"):
            basket = found.setdefault(int(row["basket"]), set())
            basket |= {row["item"].strip('"')} if row["item"] else set()
        else:
            found[number] = set(row["items"].strip("[]").replace("'", "").split(", ")) - {""}
    return [frozenset(one) for one in found.values()]


def written_rows(folder: Path, kind: str) -> list[frozenset[str]]:
    """Return the rows of a release as sets of column=value, from the cells of its file."""
    return [
        frozenset(
            f"{name}={str(cell).strip(_QUOTES)}"
            for name, cell in row.items()
            if cell not in (None, "", "None")
        )
        for row in rows_of(folder / f"data.{kind}", kind)
    ]


_QUOTES = "\"'"
