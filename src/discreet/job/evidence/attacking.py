"""Attacking a written release: its files against the original, a control group and a population."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from discreet.core.boundary import reads
from discreet.core.errors import InputError
from discreet.core.hierarchy.bound import Hierarchy
from discreet.core.schema import Role, other
from discreet.core.tables.grouped import GroupedTable
from discreet.core.tables.table import Table
from discreet.engines.files import read
from discreet.job.descriptions import read_record
from discreet.job.parse import population as population_table
from discreet.kinds.baskets import BasketKind
from discreet.kinds.wording import number, percent
from discreet.kinds.written import Written, roles_of_record
from discreet.measure import (
    Attacks,
    AttackSuccess,
    MembershipAttack,
    basket_attacks,
    membership_attack,
    regulators_attacks,
)
from discreet.measure.attacks.membership import CLOSENESS_PROVES_NOTHING
from discreet.publish.recipes.recipe import private_part

DRAWN = ("pseudo-data", "synthetic-data")
"""The kinds of data whose rows belong to nobody: what is attacked is who is in them."""
TABLES = ("table", "sampled-table", "grouped-table")
"""The kinds of data whose rows are people's, with labels that say whom they may be."""
BASKETS = ("baskets",)
"""The kinds of data whose items others may know."""
ATTACKED = (*TABLES, *BASKETS, *DRAWN)
"""The kinds of data that are attacked."""
NO_MEANING = {
    "sketches": "Sketches show no values to single out, link or infer: `discreet.measure` has `link_sketches` and "
    "`guess_attributes`, which attack them.",
    "uncertain-records": "An uncertain record is a distribution, which every person fits to a degree: "
    "`discreet.measure.likelihood_ranks` says how well the likeliest records are found.",
    "cells": "A table of counts has no rows of people: `discreet check` says how far each cell can be narrowed down.",
    "linked-tables": "Linked tables are joined by one pseudonym, so that the rows of one table are not all that an "
    "attacker has: risk and guarantee of the joined view are in the release.",
}
"""Why the attacks of the regulators have no meaning for a kind of data, and what answers their question there."""
_UNKNOWN = "There is no attack on a release of {}."


@reads("The release")
def attack_release(
    folder: Path,
    original: Path,
    *,
    control: Path | None = None,
    population: Path | None = None,
    n_attacks: int = 1_000,
    seed: int | None = None,
    item_hierarchy: Path | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Attacks | MembershipAttack:
    """Attack the files of a release of a table, of baskets, or of rows that were drawn.

    Parameters
    ----------
    folder
        The folder of the release.
    original
        The file that it was made of.
    control
        A file of people of the same kind who are not in the original.
    population
        A file of the population, for the journalist.
    n_attacks, seed
        How many guesses each attack takes, and the seed of what is drawn.
    item_hierarchy
        The file of the tree over the items, where baskets were generalized by one.
    reading
        How the files are read.
    """
    record = read_record(folder)
    if record["kind"] not in ATTACKED:
        raise InputError(NO_MEANING.get(record["kind"], _UNKNOWN.format(record["kind"])))
    if record["kind"] in BASKETS:
        return _attack_baskets(
            folder, original, control, item_hierarchy, reading or {}, n_attacks=n_attacks, random_state=seed
        )
    written = Written(folder, record, private_part(folder / "release.json") or {})
    released = written.kind.read_released(written, texts=False)
    people = _people(original, folder, record, reading or {})
    if isinstance(released, GroupedTable):
        # What the attacker takes a row's value to be is the most frequent one of its group.
        rows = released.likeliest()
        released = Table(
            rows, {name: people.schema[name] for name in rows.column_names if name in people.schema}
        )
    others = None if control is None else _people(control, folder, record, reading or {})
    if record["kind"] in DRAWN:
        return membership_attack(released, people, control=others)
    everybody = None if population is None else population_table(population, released.schema.quasi)
    attacked = partial(
        regulators_attacks, control=others, population=everybody, n_attacks=n_attacks, random_state=seed
    )
    attacks = attacked(released, people)
    if record["kind"] != "grouped-table":
        return attacks
    # Values are guessed, quasi-identifiers are not: who looks for one person takes these alone.
    names = released.schema.quasi
    known = Table(released.frame.select(names), {name: released.schema[name] for name in names})
    return replace(attacks, singling_out=attacked(known, people).singling_out)


def _attack_baskets(
    folder: Path,
    original: Path,
    control: Path | None,
    item_hierarchy: Path | None,
    reading: Mapping[str, Any],
    **drawing: Any,
) -> Attacks:
    """Attack released baskets; options for reading tables have no meaning for files of baskets."""
    from discreet.engines.baskets.files import read_baskets
    from discreet.job.evidence.safe_harbor import release_in

    known = {name: value for name, value in reading.items() if name in BasketKind.reading}
    return basket_attacks(
        release_in(folder),
        read_baskets(original, **known),
        control=None if control is None else read_baskets(control, **known),
        hierarchy=None if item_hierarchy is None else Hierarchy.read(item_hierarchy),
        **drawing,
    )


def _people(path: Path, folder: Path, record: Mapping[str, Any], reading: Mapping[str, Any]) -> Table:
    """Read people in clear, with the roles and hierarchies that the release names."""
    frame = read(path, **reading)
    named = roles_of_record(folder, record)
    judged = {name: column for name, column in named.items() if column.role in (Role.QUASI, Role.SENSITIVE)}
    lacking = [name for name in judged if name not in frame.columns]
    if lacking:
        raise InputError(f"{path} lacks column '{lacking[0]}', which the release has.")
    return Table(frame, {name: judged.get(name, other(allow_unique=True)) for name in frame.columns})


def attack_lines(attacks: Attacks | MembershipAttack) -> Iterator[tuple[str, str]]:
    """Return what attacks achieved, as labeled lines."""
    if not isinstance(attacks, Attacks):
        yield from _membership_lines(attacks)
        return
    for success in attacks.all:
        yield from _success_lines(success)
    if attacks.n_controls is None:
        yield "caution", "no control group: what is learned of anybody counts as risk"
    risk = attacks.attackers
    if risk is None:
        return
    yield "prosecutor", f"highest {percent(risk.prosecutor.highest)}, mean {percent(risk.prosecutor.mean)}"
    if risk.journalist is not None:
        yield (
            "journalist",
            f"highest {percent(risk.journalist.highest)}, mean {percent(risk.journalist.mean)}",
        )
    yield "marketer", f"{percent(risk.marketer)} of the rows found again, on average"


def _success_lines(success: AttackSuccess) -> Iterator[tuple[str, str]]:
    rate, control = success.rate, success.control
    among = "" if control is None else f"; {percent(control.share)} of people who are not in the data"
    yield (
        success.name,
        (
            f"right in {percent(rate.share)} of {rate.n_attempts:,} tries ({percent(rate.low)} to {percent(rate.high)})"
            f"{among}; guessing {percent(success.baseline)}"
        ),
    )
    yield (
        "",
        f"risk due to the release {percent(success.risk)} ({percent(success.low)} to {percent(success.high)})",
    )


def _membership_lines(attack_: MembershipAttack) -> Iterator[tuple[str, str]]:
    if attack_.membership is None:
        yield "caution", "no control group, so that nobody can be told from members"
    else:
        auc = attack_.membership.auc
        yield (
            "membership",
            (
                f"a member is nearer than others with {percent(auc)} "
                f"({percent(attack_.low)} to {percent(attack_.high)}); 50% is a coin"
            ),
        )
    near = attack_.closeness
    yield (
        "closest",
        f"{number(round(near.ratio, 3))} of the distance among people; {percent(near.copies)} are copies",
    )
    yield "", CLOSENESS_PROVES_NOTHING
