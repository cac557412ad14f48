"""Sensitive rules on the command line: the options that name them and their thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import in_group
from discreet.cli._spec_options import options_of, parameters_of
from discreet.core.registry import GUARANTEES

F = TypeVar("F", bound=Callable[..., Any])

_THRESHOLDS = ("min_confidence", "margin")


def naming(*, required: bool) -> Callable[[F], F]:
    """Add the options that name sensitive rules and their thresholds."""
    named = (
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
    )
    thresholds = options_of(lambda: [GUARANTEES["rules-hidden"]], group="Rules", only=_THRESHOLDS)
    return lambda command: in_group("Rules", named)(thresholds(command))


def is_set(values: Mapping[str, Any]) -> bool:
    """Return whether any of the options was used."""
    return any(values.get(name) for name in ("rules", "rules_file", "min_support", *_THRESHOLDS))


def rules_guarantee(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules and their thresholds, laid out as a guarantee in a job file."""
    rules = _rules(values["rules"], values["rules_file"])
    if not rules:
        raise parse.mistake("Say which rules are sensitive.", '--rule "diapers => beer"')
    if values["min_support"] is None:
        raise parse.mistake("--rule requires --min-support.", "--min-support 0.01")
    spec = GUARANTEES["rules-hidden"]
    thresholds = parameters_of(spec, {name: values[name] for name in _THRESHOLDS})
    support = parse.support(values["min_support"])
    return {"kind": spec.name, "rules": rules, "min_support": support, **thresholds}


def _rules(rules: tuple[str, ...], file: Path | None) -> list[str]:
    from discreet.core.errors import InputError

    if file is None:
        return list(rules)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{file} cannot be read as a text file with one rule a line.") from None
    lines = (line.strip() for line in text.splitlines())
    return [*rules, *(line for line in lines if line and not line.startswith("#"))]
