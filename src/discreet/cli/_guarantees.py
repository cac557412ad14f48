"""Guarantees on the command line: what the options that were set come to, laid out as in a job file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from discreet.cli import _parse_options as parse
from discreet.cli._options import table_guarantees
from discreet.cli._spec_options import python_name, settable, value_of
from discreet.core.registry import GuaranteeSpec

Families = Mapping[str, list[GuaranteeSpec]]
"""Guarantees by the option that chooses them."""


def guarantees_of(
    values: Mapping[str, Any], specs: Iterable[GuaranteeSpec] | None = None
) -> list[dict[str, Any]]:
    """Return the guarantees that options name, in the order of the registry; those about tables by default.

    >>> guarantees_of({"k": 5, "l": 2, "diversity": "entropy"})
    [{'kind': 'k-anonymity', 'k': 5}, {'kind': 'entropy-l-diversity', 'l': 2}]
    """
    families: dict[str, list[GuaranteeSpec]] = {}
    for spec in table_guarantees() if specs is None else specs:
        families.setdefault(spec.flag(spec.leading), []).append(spec)
    for flag, family in families.items():
        if values.get(python_name(flag)) is None:
            _refuse_idle(flag, family, families, values)
    return [
        _section(_chosen(family, values), families, values)
        for flag, family in families.items()
        if values.get(python_name(flag)) is not None
    ]


def _refuse_idle(
    leading: str, family: list[GuaranteeSpec], families: Families, values: Mapping[str, Any]
) -> None:
    """Refuse an option that has no effect without the one that chooses its guarantee."""
    for spec in family:
        flags = [spec.flag(parameter.name) for parameter in settable(spec)]
        flags += [] if spec.variant is None else [f"--{spec.variant[0]}"]
        for flag in flags:
            if flag not in families and values.get(python_name(flag)) is not None:
                raise parse.mistake(f"{flag} requires {leading}.", leading)


def _chosen(family: list[GuaranteeSpec], values: Mapping[str, Any]) -> GuaranteeSpec:
    """Return the guarantee that is meant among those with one option; options of the others are refused."""
    by_word = {spec.variant[1]: spec for spec in family if spec.variant is not None}
    if not by_word:
        return family[0]
    option = family[0].variant[0] if family[0].variant else ""
    chosen = by_word[values.get(option) or next(iter(by_word))]
    flags = {chosen.flag(parameter.name) for parameter in settable(chosen)}
    for word, spec in by_word.items():
        for flag in (spec.flag(parameter.name) for parameter in settable(spec)):
            if flag not in flags and values.get(python_name(flag)) is not None:
                raise parse.mistake(f"{flag} belongs to {word} {option}.", f"--{option} {word}")
    return chosen


def _section(spec: GuaranteeSpec, families: Families, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return one guarantee as a job file has it."""
    section: dict[str, Any] = {"kind": spec.name}
    for name, parameter in spec.options().items():
        flag = spec.flag(name)
        value = values.get(python_name(flag))
        if value is not None:
            section[name] = value_of(flag, parameter, value)
        elif parameter.required and flag in families:
            # Another guarantee's own option: without it nothing is asked beyond the weakest.
            section[name] = 1
        elif parameter.required:
            named = spec.flag(spec.leading)
            if spec.variant is not None:
                named = f"{spec.variant[1].capitalize()} {spec.variant[0]}"
            raise parse.mistake(f"{named} needs its {name} as well.", f"{flag} …")
    return section
