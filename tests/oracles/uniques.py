"""Slow definitions of what sets of columns single out, over lists of rows."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

Rows = list[tuple[object, ...]]


def singled_out(rows: Rows, columns: tuple[int, ...]) -> set[int]:
    """The rows whose values in the columns no other row has."""
    keys = [tuple(row[column] for column in columns) for row in rows]
    counts = Counter(keys)
    return {number for number, key in enumerate(keys) if counts[key] == 1}


def minimal_uniques(rows: Rows, max_size: int) -> dict[int, list[tuple[int, ...]]]:
    """For each row, the sets of columns that single it out while no proper part of them does."""
    n_columns = len(rows[0])
    single = {
        columns: singled_out(rows, columns)
        for size in range(1, max_size + 1)
        for columns in combinations(range(n_columns), size)
    }
    return {
        number: [
            columns
            for columns, members in single.items()
            if number in members
            and not any(
                number in single[part]
                for size in range(1, len(columns))
                for part in combinations(columns, size)
            )
        ]
        for number in range(len(rows))
    }


def suda_score(rows: Rows, number: int, max_size: int) -> int:
    """The sum over the row's minimal uniques of (c - s)...(c - m)."""
    n_columns, score = len(rows[0]), 0
    for columns in minimal_uniques(rows, max_size)[number]:
        product = 1
        for size in range(len(columns), min(max_size, n_columns - 1) + 1):
            product *= n_columns - size
        score += product
    return score


def separation(rows: Rows, columns: tuple[int, ...]) -> float:
    """The share of pairs of rows that differ in some of the columns."""
    if len(rows) < 2:
        return 1.0
    told_apart = sum(
        any(first[column] != second[column] for column in columns) for first, second in combinations(rows, 2)
    )
    return told_apart / comb(len(rows), 2)


def zayatz_share(sizes: list[int], population_size: int) -> float:
    """The share of a sample's rows that are unique in the population, by Zayatz, with binomials in whole numbers."""
    n = sum(sizes)
    looks_alone = [
        size * comb(population_size - size, n - 1) / comb(population_size, n)
        if size <= population_size
        else 0.0
        for size in sizes
    ]
    alone = sum(size == 1 for size in sizes)
    if alone == 0 or population_size == n:
        return alone / max(n, 1)
    share = sum(chance for chance, size in zip(looks_alone, sizes, strict=True) if size == 1) / sum(
        looks_alone
    )
    return alone * share / n
