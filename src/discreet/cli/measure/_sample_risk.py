"""Options of `discreet risk` for samples: population uniques, special uniques, sets of columns, weights, lift."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from discreet.cli import _parse_options as parse
from discreet.cli._command import in_group
from discreet.kinds.wording import percent

if TYPE_CHECKING:
    from discreet.core.tables.table import Table
    from discreet.measure import (
        AttributeLift,
        ColumnSet,
        LogLinearRisk,
        PopulationUniques,
        SampleRisk,
        SpecialUniques,
    )

F = TypeVar("F")
_MOST_SHOWN = 5
_OPTIONS = (
    click.option(
        "--population-size",
        type=click.IntRange(min=1),
        metavar="N",
        help="How many people the sample was drawn from, to estimate population uniques.",
    ),
    click.option(
        "--special",
        type=click.IntRange(min=1),
        metavar="SIZE",
        help="Score rows that up to SIZE columns single out (SUDA2, DIS).",
    ),
    click.option(
        "--sets",
        type=click.IntRange(min=1),
        metavar="SIZE",
        help="Show which sets of up to SIZE columns tell rows apart (distinction, separation).",
    ),
    click.option("--weight", metavar="COLUMN", help="How many people of the population a row stands for."),
    click.option("--household", metavar="COLUMN", help="With --weight: who lives together."),
)


def options(command: F) -> F:
    """Add the options."""
    return in_group("Sample", _OPTIONS)(command)  # type: ignore[type-var]  # commands are callables


@dataclass(frozen=True, repr=False)
class SampleMeasures:
    """What was measured on demand; None where it was not."""

    population_uniques: PopulationUniques | None
    log_linear: LogLinearRisk | None
    special_uniques: SpecialUniques | None
    column_sets: tuple[ColumnSet, ...] | None
    sample_risk: SampleRisk | None
    attribute_lift: tuple[AttributeLift, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as plain data for JSON, those that were measured."""
        listed = {
            name: [each.to_dict() for each in measured] if isinstance(measured, tuple) else measured.to_dict()
            for name, measured in vars(self).items()
            if measured is not None
        }
        return {name: measured for name, measured in listed.items() if measured}

    def lines(self) -> Iterator[tuple[str, str]]:
        """Iterate over the lines for the terminal."""
        for lift in self.attribute_lift:
            yield from _lift_lines(lift)
        if self.population_uniques is not None:
            yield from _population_lines(self.population_uniques)
        if self.log_linear is not None:
            yield (
                "",
                (
                    f"by a log-linear model, {self.log_linear.population_uniques:,.1f} of the "
                    f"{self.log_linear.sample_uniques:,} unique rows are; a match of one is right in "
                    f"{self.log_linear.correct_matches:,.1f} cases"
                ),
            )
        if self.special_uniques is not None:
            yield from _special_lines(self.special_uniques)
        if self.column_sets is not None:
            yield from _set_lines(self.column_sets)
        if self.sample_risk is not None:
            yield from _weighted_lines(self.sample_risk)


def measured(table: Table, values: Mapping[str, Any]) -> SampleMeasures:
    """Measure what the options ask of a table."""
    from discreet import measure

    size, special, sets, weight = (values[name] for name in ("population_size", "special", "sets", "weight"))
    if values["household"] is not None and weight is None:
        raise parse.mistake("--household requires --weight.", "--weight COLUMN")
    estimated = None if size is None else measure.population_uniques(table, size)
    counts_rows = table.schema.person is None
    fraction = {} if size is None else {"sampling_fraction": table.n_rows / size}
    return SampleMeasures(
        estimated,
        measure.log_linear_risk(table, size) if size is not None and counts_rows else None,
        None if special is None else measure.special_uniques(table, max_size=special, **fraction),
        None if sets is None else measure.column_sets(table, max_size=sets),
        None
        if weight is None
        else measure.sample_risk(
            table, weight=weight, household=values["household"], threshold=values["threshold"]
        ),
        measure.attribute_lift(table),
    )


def _lift_lines(lift: AttributeLift) -> Iterator[tuple[str, str]]:
    yield (
        "attribute",
        (
            f"{lift.column}: a class shows a row's value with {percent(lift.mean)} on average, where a guess has "
            f"{percent(lift.base_rate)}"
        ),
    )
    yield (
        "",
        (
            f"up to {percent(lift.highest)}, {lift.highest_lift:,.1f} times the share of the whole table; for certain "
            f"for {lift.certain:,} rows"
        ),
    )


def _population_lines(estimate: PopulationUniques) -> Iterator[tuple[str, str]]:
    models = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "negative binomial"}
    by_model = ", ".join(
        f"{words} {figure:,.0f}"
        for name, words in models.items()
        if (figure := getattr(estimate, name)) is not None
    )
    yield (
        "population",
        (
            f"{estimate.dankar:,.0f} of {estimate.population_size:,} people ({percent(estimate.share)}) are unique, as "
            f"estimated by Dankar's rule ({models[estimate.model]})"
        ),
    )
    yield "", f"by each model: {by_model}"


def _special_lines(special: SpecialUniques) -> Iterator[tuple[str, str]]:
    by_size = ", ".join(f"{count:,} of {size}" for size, count in enumerate(special.minimal_uniques, start=1))
    yield "special", f"minimal uniques by number of columns: {by_size}"
    yield (
        "",
        (
            f"SUDA score up to {special.highest_score:,.0f}, DIS up to {percent(special.highest_dis)}, for a sample of "
            f"{percent(special.sampling_fraction)}"
        ),
    )
    ranked = sorted(special.contributions.items(), key=lambda entry: -entry[1])[:_MOST_SHOWN]
    if special.highest_score:
        yield "", "share of the scores: " + ", ".join(f"{name} {percent(share)}" for name, share in ranked)


def _set_lines(sets: tuple[ColumnSet, ...]) -> Iterator[tuple[str, str]]:
    for size in sorted({len(each.columns) for each in sets}):
        ranked = [each for each in sets if len(each.columns) == size][:_MOST_SHOWN]
        for number, each in enumerate(ranked):
            yield (
                "" if number else f"sets of {size}",
                (
                    f"{', '.join(each.columns)}: distinction {percent(each.distinction)}, separation "
                    f"{percent(each.separation)}, {each.uniques:,} rows unique"
                ),
            )


def _weighted_lines(risk: SampleRisk) -> Iterator[tuple[str, str]]:
    yield (
        "weighted",
        (
            f"highest {percent(risk.highest)}, mean {percent(risk.mean)} for {risk.population_size:,.0f} people; "
            f"{risk.expected:,.1f} rows are found again on average"
        ),
    )
    if risk.household is not None:
        home = risk.household
        yield (
            "household",
            (
                f"highest {percent(home.highest)}, mean {percent(home.mean)} in {home.n_households:,} households; "
                f"{home.expected:,.1f} rows are found again on average"
            ),
        )
