"""Linked tables by definition: rows as dictionaries, joined views written out, people counted one by one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]
Roles = Mapping[str, Mapping[str, str]]
"""By table, the role of each column: person, quasi, sensitive or other."""


def views(tables: Mapping[str, Rows], roles: Roles, *, known: bool) -> dict[Any, Any]:
    """The joined view of each person: by table, which quasi-identifying rows they have, and how often where known."""
    seen: dict[Any, dict[str, Counter[Any]]] = defaultdict(lambda: {name: Counter() for name in tables})
    for name, rows in tables.items():
        quasi = [column for column, role in roles[name].items() if role == "quasi"]
        key = next(column for column, role in roles[name].items() if role == "person")
        for row in rows:
            seen[str(row[key])][name][tuple(row[column] for column in quasi)] += 1
    return {
        person: tuple(frozenset(counts.items() if known else counts.keys()) for counts in of_tables.values())
        for person, of_tables in seen.items()
    }


def classes(tables: Mapping[str, Rows], roles: Roles, *, known: bool) -> list[set[Any]]:
    """People with the same view."""
    alike: dict[Any, set[Any]] = defaultdict(set)
    for person, view in views(tables, roles, known=known).items():
        alike[view].add(person)
    return list(alike.values())


def least_people(tables: Mapping[str, Rows], roles: Roles, *, known: bool) -> int:
    """The k of k-anonymity."""
    return min(len(people) for people in classes(tables, roles, known=known))


def least_values(tables: Mapping[str, Rows], roles: Roles, column: str, *, known: bool) -> int:
    """The l of distinct diversity: values in a class that has any, no more than its people; 1 where all share one."""
    name = next(table for table, of_table in roles.items() if of_table.get(column) == "sensitive")
    key = next(each for each, role in roles[name].items() if role == "person")
    found = []
    for people in classes(tables, roles, known=known):
        values = {row[column] for row in tables[name] if str(row[key]) in people}
        if values:
            holders = [{str(row[key]) for row in tables[name] if row[column] == value} for value in values]
            shared = any(set(people) <= those for those in holders)
            found.append(1 if shared else min(len(values), len(people)))
    return min(found)


def largest_share(tables: Mapping[str, Rows], roles: Roles, column: str, *, known: bool) -> float:
    """The largest share of the people of a class who have one value."""
    name = next(table for table, of_table in roles.items() if of_table.get(column) == "sensitive")
    key = next(each for each, role in roles[name].items() if role == "person")
    shares = [0.0]
    for people in classes(tables, roles, known=known):
        having = {(row[column], str(row[key])) for row in tables[name] if str(row[key]) in people}
        shares += [count / len(people) for count in Counter(value for value, _ in having).values()]
    return max(shares)
