"""Running experiments: find one by name, run it on the data, and write its page."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from discreet.core.params import InstanceOf, IntIn, require, unknown
from experiments.page import Page

EXPERIMENTS = {
    "emask": "MASK and EMASK: choosing p and q, privacy, accuracy and speed of mining distorted baskets",
    "condensation": "Condensation: accuracy and covariances of pseudo-data by the privacy level, static and dynamic",
    "uncertain": "Uncertain records: range counts, accuracy and attacks by k, beside condensation and Mondrian",
    "sketches": "Sketches: classifying and clustering random projections of texts and baskets, by k, δ and items",
    "cahd": "CAHD: finding baskets again, band matrices, and KL and time beside PermMondrian and Anatomy",
    "tables": "Tables: linkage, loss by columns and by k, accuracy by k, and ratings found again",
    "randomization": "Randomization: reconstructed shapes, trees, clusters and ratings from noise, linkage",
    "hiding": "Hiding rules: lost itemsets, ghosts, dissimilarity and time of every method, by threshold and sets",
    "auditing": "Query auditing: the share of denied queries of every auditor, by the number of queries before",
    "parties": "Mining between parties: bytes, rounds and time by rows, items and parties; the ring beside masks",
}
"""What each experiment is about, by its name, which is also its module's."""

DATA_VARIABLE = "DISCREET_DATA"
_BESIDE = Path("shared") / "data"


def perform(
    name: str,
    out: str | os.PathLike[str],
    *,
    data: Path | None = None,
    quick: bool = False,
    seeds: int = 3,
    log: Callable[[str], None] | None = None,
) -> Path:
    """Run an experiment and return the path of its page.

    Parameters
    ----------
    name
        One of EXPERIMENTS.
    out
        The folder for the tables, the pictures and ``index.html``; files of the same names are replaced.
    data
        The folder of public data sets; None looks for it, and what is not there is skipped with a line about it.
    quick
        Whether to take smaller data, so that it is a matter of seconds.
    seeds
        How many seeds to run, for the spread.
    log
        Called with a line about each step.
    """
    if name not in EXPERIMENTS:
        raise unknown("perform", "name", name, EXPERIMENTS)
    require("perform", "quick", quick, InstanceOf((bool,), "a bool"))
    require("perform", "seeds", seeds, IntIn(1, 100))
    command = f"python -m experiments {name} --seeds {seeds}{' --quick' if quick else ''}"
    page = Page(Path(out), command=command, log=log)
    found = data_folder() if data is None else data
    import_module(f"experiments.{name}.experiment").run(page, data=found, quick=quick, seeds=seeds)
    return page.finish()


def data_folder() -> Path | None:
    """Find the public data sets: where DISCREET_DATA says, or in shared/data beside the project; None if absent."""
    variable = os.environ.get(DATA_VARIABLE)
    folder = Path(variable) if variable else Path(__file__).resolve().parents[2] / _BESIDE
    return folder if folder.is_dir() else None
