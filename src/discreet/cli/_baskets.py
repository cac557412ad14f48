"""Baskets on the command line: options, what commands do where a file holds baskets, and what they print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli import _rules as rules
from discreet.cli._command import group_of, in_group
from discreet.cli._output import number_text, plain_judgment, print_json, print_lines, verdict_lines
from discreet.cli._spec_options import options_of, parameters_of, python_name, settable
from discreet.core.registry import GUARANTEES, METHODS
from discreet.kinds.wording import percent

if TYPE_CHECKING:
    from discreet.core.baskets.baskets import Baskets
    from discreet.core.baskets.grouped import GroupedBaskets
    from discreet.kinds.judging import Judgment
    from discreet.measure import Reidentification, SensitiveTie

F = TypeVar("F", bound=Callable[..., Any])

_ENDINGS = (".dat", ".bits", ".npz", ".spmf")
_KNOWN = "1,2,3,4"
_REMEDIES = {"anonymize": "--sensitive-items … -p 10", "check": "-p 10, or --km 5,2", "risk": "--known 1,2,3"}
_OF_BASKETS = ("sensitive_items", "p", "km")
_OF_BOTH = ("roles", "allow_unique", "method")
"""Options of tables that mean something for baskets too."""
_KM = click.option(
    "--km", metavar="K,M", help="Baskets: k^m-anonymity; any M items are in K baskets or none."
)
_FORMAT = click.option(
    "--basket-format",
    type=click.Choice(options.BASKET_FORMATS),
    help="Baskets: how they are written; detected by default.",
)

_TREE = click.option(
    "--item-hierarchy", type=options.DATA, metavar="FILE", help="k^m: the tree over the items."
)

reading = in_group("Baskets", [_FORMAT, options.BASKET, options.ITEM])
attacked = in_group("Baskets", [_FORMAT, options.BASKET, options.ITEM, _TREE])


def publishing(command: F) -> F:
    """Add the options for publishing baskets."""
    sensitive = click.option(
        "--sensitive-items", multiple=True, metavar="ITEMS", help="Baskets: the sensitive items."
    )
    methods = options_of(options.basket_publishers, group="Baskets")
    return in_group("Baskets", [sensitive])(
        _guarantees(methods(in_group("Baskets", [_TREE])(reading(command))))
    )


def judging(command: F) -> F:
    """Add the options for judging baskets."""
    return _guarantees(reading(command))


def _guarantees(command: F) -> F:
    degree = options_of(lambda: [GUARANTEES["privacy-degree"]], group="Baskets")
    return degree(in_group("Baskets", [_KM])(command))


def is_baskets(data: Path, values: Mapping[str, Any]) -> bool:
    """Return whether a command is about baskets: by its options, or by the file."""
    if _is_of_baskets(values.get("method")) or any(values.get(name) for name in (*_OF_BASKETS, "known")):
        return True
    if any(values.get(role) for role in parse.ROLES):
        return False
    if data.suffix == ".toml":
        from discreet.job.parse import toml_of

        return "baskets" in toml_of(data)
    if rules.is_set(values):
        return True
    endings = [ending for ending in data.suffixes if ending not in (".gz", ".zst", ".zstd")]
    return bool(endings and endings[-1] in _ENDINGS) or _is_folder(data)


def _is_of_baskets(method: str | None) -> bool:
    """Return whether a method takes baskets alone."""
    return method is not None and METHODS[method].takes == ("baskets",)


def refuse_of_tables(values: Mapping[str, Any], *, besides: tuple[str, ...] = ()) -> None:
    """Refuse options that mean something for tables only."""
    context = click.get_current_context()
    of_methods = {
        python_name(method.flag(parameter.name))
        for method in options.basket_publishers()
        for parameter in settable(method)
    }
    for option in context.command.get_params(context):
        name = option.name or ""
        if group_of(option) not in ("Roles", "Guarantee", "Method") or name in (*_OF_BOTH, *besides):
            continue
        named = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if named and name not in of_methods:
            method = values.get("method")
            these = f"--method {method} is for" if _is_of_baskets(method) else "these are"
            raise parse.mistake(
                f"{option.opts[-1]} belongs to tables; {these} baskets.",
                _REMEDIES[context.command.name or ""],
            )


def job(data: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the job for the baskets of a file, laid out as a job file."""
    refuse_of_tables(values)
    section: dict[str, Any] = {}
    if values["sensitive_items"]:
        section["sensitive"] = _items(values["sensitive_items"])
    if values["item_hierarchy"] is not None:
        section["hierarchy"] = {"file": str(values["item_hierarchy"])}
    guarantee = guarantee_of(values)
    name = values["method"] or ("apriori" if values["km"] else "cahd")
    parameters = parameters_of(METHODS[name], values, among=options.basket_publishers())
    return {
        "input": {"path": data, **basket_input(values)},
        "baskets": section,
        "guarantee": [guarantee],
        "method": {"name": name} | parameters,
    }


def check(data: Path, values: Mapping[str, Any], *, as_json: bool, quiet: bool) -> bool:
    """Judge published baskets in a folder, or baskets in a file, by a guarantee or by what they reach."""
    from discreet.cli._progress import stages
    from discreet.job.parse import guarantee_from
    from discreet.kinds.judging import judge_baskets

    refuse_of_tables(values)
    guarantee = guarantee_from([guarantee_of(values)], {}, Path()) if _has_guarantee(values) else None
    with stages(2, quiet=quiet or as_json) as progress:
        progress("Reading")
        baskets = read(data, values)
        progress("Judging")
        judgment = judge_baskets(baskets, guarantee, measured=values["measured"] or None)
    if as_json or not quiet:
        print_judgment(judgment, as_json=as_json)
    return judgment.ok


def measure_risk(data: Path, values: Mapping[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Measure how likely baskets are to be found again by a few known items."""
    from discreet.cli._progress import stages
    from discreet.measure import reidentification, sensitive_tie

    refuse_of_tables(values, besides=("rest",))
    numbers = parse.number_list("--known", values["known"] or _KNOWN, int)
    with stages(2, quiet=quiet or as_json) as progress:
        progress("Reading")
        baskets = read(data, values)
        progress("Measuring")
        ordinary = baskets.ordinary
        longest = int(ordinary.lengths.max(initial=0))
        n_known = numbers if values["known"] else [number for number in numbers if number <= longest]
        risks = [reidentification(baskets, number, random_state=values["seed"]) for number in n_known]
    if as_json or not quiet:
        print_risk(risks, len(ordinary), sensitive_tie(baskets), as_json=as_json)


def read(data: Path, values: Mapping[str, Any]) -> Baskets | GroupedBaskets:
    """Read the folder of a release of baskets, or a file."""
    from discreet.engines.baskets.files import read_baskets
    from discreet.engines.baskets.published import read_published

    if data.suffix == ".toml":
        from discreet.job import Job

        described = Job.read(data)
        return read_baskets(described.data, **(dict(described.reading) | basket_input(values)))
    return read_published(data) if data.is_dir() else read_baskets(data, **basket_input(values))


def basket_input(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for reading baskets that were named."""
    named = {
        "format": values.get("basket_format"),
        "basket": values.get("basket"),
        "item": values.get("item"),
        "delimiter": values.get("delimiter"),
    }
    return {name: {"\\t": "\t"}.get(value, value) for name, value in named.items() if value is not None}


def _has_guarantee(values: Mapping[str, Any]) -> bool:
    return values["p"] is not None or bool(values["km"]) or rules.is_set(values)


def guarantee_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the guarantee that the options name, laid out as in a job file."""
    if rules.is_set(values):
        if values["p"] is not None or values["km"]:
            raise parse.mistake("Hidden rules are judged by themselves; leave -p and --km out.")
        return rules.rules_guarantee(values)
    if values["km"]:
        if values["p"] is not None:
            raise parse.mistake("-p and --km are two guarantees; choose one.", "-p 10")
        parts = parse.number_list("--km", values["km"], int)
        if len(parts) != 2:
            raise parse.mistake("--km takes two numbers: k and m.", "--km 5,2")
        return {"kind": "km-anonymity", "k": parts[0], "m": parts[1]}
    if values["p"] is None:
        raise parse.mistake("Choose a guarantee for the baskets.", "--sensitive-items … -p 10, or --km 5,2")
    return {"kind": "privacy-degree", "p": values["p"]}


def _items(lists: tuple[str, ...]) -> list[Any]:
    """Split lists of items; where all are written as whole numbers they are numbers."""
    from discreet.core.baskets.names import WHOLE

    names = parse.names_in(lists)
    return [int(name) for name in names] if all(WHOLE.fullmatch(name) for name in names) else names


def _is_folder(data: Path) -> bool:
    return data.is_dir() and any(
        (data / f"baskets.{ending}").is_file() for ending in ("csv", "tsv", "parquet", "arrow")
    )


def print_judgment(judgment: Judgment, *, as_json: bool) -> None:
    """Print whether the guarantee is kept, and what the baskets reach."""
    if as_json:
        print_json({"groups": None, **plain_judgment(judgment)})
        return
    from discreet.kinds.kind import kind_named

    counts, verdict = judgment.counts, judgment.verdict
    where = f" in {counts['groups']:,} groups" if "groups" in counts else ""
    what = "" if verdict is None else kind_named("baskets").groups_of(verdict)
    print_lines(
        [
            *(() if verdict is None else verdict_lines(verdict, groups=what, rows="baskets")),
            ("baskets", f"{counts['baskets']:,}{where}"),
            *(
                ("" if number else "reaches", f"{measure.name:<30} up to {number_text(measure.worst)}")
                for number, measure in enumerate(judgment.measures)
            ),
        ]
    )


def print_risk(
    risks: Sequence[Reidentification], n_baskets: int, tie: SensitiveTie | None, *, as_json: bool
) -> None:
    """Print how likely baskets are to be found again."""
    if as_json:
        content = [risk.to_dict() for risk in risks]
        tied = None if tie is None else {"highest": tie.highest, "mean": tie.mean}
        print_json({"command": "risk", "ok": True, "baskets": n_baskets, "known": content, "tie": tied})
        return
    lines = [("baskets", f"{n_baskets:,}")]
    for risk in risks:
        low, high = risk.probability_interval
        how = "exact" if risk.exact else f"{percent(low)} to {percent(high)}, {risk.n_samples:,} drawn"
        lines.append(
            (
                f"{risk.r} known",
                f"found with a chance of {percent(risk.probability)} ({how}); {percent(risk.unique)} are the only ones",
            )
        )
    if tie is not None:
        most, mean = percent(tie.highest), percent(tie.mean)
        lines.append(("tied", f"to a sensitive item by groups and counts: {most} at most, {mean} on average"))
    print_lines(lines)
