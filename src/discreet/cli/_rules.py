"""Sensitive rules on the command line: the options that name them and their thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather

F = TypeVar("F", bound=Callable[..., Any])


def naming(*, required: bool) -> Callable[[F], F]:
    """Add the options that name sensitive rules and their thresholds."""
    added = (
        click.option(
            "--rule",
            "rules",
            multiple=True,
            metavar="RULE",
            help='A sensitive rule "a, b => c", or itemset "a, b".',
        ),
        click.option(
            "--rules-file", type=options.DATA, metavar="FILE", help="A text file with one rule a line."
        ),
        click.option(
            "--min-support",
            required=required,
            metavar="SUPPORT",
            help="Rules: the least support at which they would be found, 0.01 or 100 baskets.",
        ),
        click.option(
            "--min-confidence",
            type=float,
            help="Rules: the least confidence; without it support alone counts.",
        ),
        click.option(
            "--margin",
            type=float,
            help="Rules: how far below the thresholds they are hidden too, as a share.",
        ),
    )

    return lambda command: options.add_all(added, command)


def is_set(given: Mapping[str, Any]) -> bool:
    """Return whether any of the options was used."""
    names = ("rules", "rules_file", "min_support", "min_confidence", "margin")
    return any(given.get(name) for name in names)


def promise(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules and their thresholds, laid out as a guarantee in a job file."""
    named = _named(given["rules"], given["rules_file"])
    if not named:
        raise gather.mistake("Say which rules are sensitive.", '--rule "diapers => beer"')
    if given["min_support"] is None:
        raise gather.mistake("--rule requires --min-support.", "--min-support 0.01")
    thresholds = {name: given[name] for name in ("min_confidence", "margin") if given[name] is not None}
    return {
        "kind": "rules-hidden",
        "rules": named,
        "min_support": gather.support(given["min_support"]),
        **thresholds,
    }


def _named(rules: tuple[str, ...], file: Path | None) -> list[str]:
    from discreet.core.errors import InputError

    if file is None:
        return list(rules)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{file} cannot be read as a text file with one rule a line.") from None
    lines = (line.strip() for line in text.splitlines())
    return [*rules, *(line for line in lines if line and not line.startswith("#"))]
