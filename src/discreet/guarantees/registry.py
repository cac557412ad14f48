"""Guarantees from plain data, as recipes and job files keep them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from discreet.core.boundary import public, reads
from discreet.core.errors import ParameterError
from discreet.core.guarantee import Guarantee
from discreet.core.params import InstanceOf, check_fields, require, unknown
from discreet.core.registry import GUARANTEES, releasable_guarantees
from discreet.guarantees.constructed import together
from discreet.guarantees.per_unit import PerUnit

if TYPE_CHECKING:
    from discreet.core.tables.table import Table


def guarantee_classes() -> dict[str, type[Guarantee]]:
    """Return the classes of all single guarantees by their names."""
    return {spec.class_name: spec.load() for spec in GUARANTEES.values()}


def probes_of(table: Table, population: object = None) -> Iterator[tuple[str, str | None, Guarantee]]:
    """Iterate over all that a table is measured by: a name, the sensitive column or None, and a guarantee.

    The bounds of the guarantees do not matter. Those about the classes alone come first, then those of every column.
    """
    specs = [spec for spec in releasable_guarantees().values() if spec.about[0] == "classes"]
    for name in (None, *table.schema.sensitive):
        column = None if name is None else table.encoded[name]
        for spec in specs:
            kind: type[Guarantee] = spec.load()
            letter = kind.letter or next(iter(spec.options()))
            for words, guarantee in kind.probes(column, population):
                yield f"{kind.label or spec.name}, {letter}{words}", name, guarantee


@public
@reads("The guarantee")
def guarantee_from_dict(document: Mapping[str, object], *, population: object = None) -> Guarantee:
    """Read what ``to_dict`` gave; the population that some compare with is not in it and must be given.

    Neither are the rules of a `RulesHidden`, which are the owner's: its ``to_private_dict`` has them.

    >>> guarantee_from_dict({"guarantee": "EntropyDiversity", "l": 2, "of": "disease"})
    EntropyDiversity(l=2, of='disease')
    """
    reader = "guarantee_from_dict"
    require(reader, "plain", document, InstanceOf((Mapping,), "a mapping"))
    fields: dict[str, Any] = {name: value for name, value in document.items() if name != "guarantee"}
    named = document.get("guarantee")
    if named == "AllOf":
        require(reader, "parts", fields.get("parts"), InstanceOf((list, tuple), "a list"))
        return together(tuple(guarantee_from_dict(part, population=population) for part in fields["parts"]))
    if named == "PerUnit":
        require(reader, "of", fields.get("of"), InstanceOf((Mapping,), "a mapping"))
        return PerUnit(guarantee_from_dict(fields["of"], population=population), fields.get("unit"))  # type: ignore[arg-type]
    homes = {spec.class_name: spec for spec in GUARANTEES.values()}
    if not isinstance(named, str) or named not in homes:
        raise unknown(reader, "guarantee", named, ["AllOf", "PerUnit", *homes])
    kind: type[Guarantee] = homes[named].load()
    if homes[named].takes_population:
        fields["population"] = population
    if named == "RulesHidden" and not fields:
        raise ParameterError(
            "Which rules are hidden, and at which thresholds, is not said here: public files do not say it. The "
            "owner's private folder does."
        )
    check_fields(named, kind, fields)
    return kind(**fields)
