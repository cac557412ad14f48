"""Baskets on the command line: the options, and what the commands for files do where a file holds baskets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli import _rules as rules
from discreet.core.registry import methods

if TYPE_CHECKING:
    from discreet.core.baskets.baskets import Baskets
    from discreet.core.baskets.grouped import GroupedBaskets

F = TypeVar("F", bound=Callable[..., Any])

METHODS = tuple(
    method.name for method in methods(role="publisher", takes="baskets") if len(method.takes) == 1
)
_ENDINGS = (".dat", ".bits", ".npz", ".spmf")
_FORMS = click.Choice(["fimi", "spmf", "lines", "long", "onehot", "bits", "sparse"])
_OF_TABLES = (
    "quasi", "sensitive", "identifier", "person", "other", "hierarchies", "pseudonyms", "weights", "k", "l",
    "diversity", "c", "t", "distance", "beta", "likeness", "delta", "absent", "k_map", "population", "relaxed", "means",
    "levels", "max_suppressed", "measure", "aggregate", "lowest", "highest", "time_limit", "visit_all", "rest",
)  # fmt: skip
_KNOWN = "1,2,3,4"
_REMEDIES = {"anonymize": "--sensitive-items … -p 10", "check": "-p 10, or --km 5,2", "risk": "--known 1,2,3"}
_OF_BASKETS = ("sensitive_items", "p", "km")
_P = click.option(
    "-p", type=int, help="Baskets: the privacy degree; groups and counts tie nobody to an item above 1 in p."
)
_KM = click.option(
    "--km", metavar="K,M", help="Baskets: k^m-anonymity; any M items are in K baskets or none."
)
_READING = (
    click.option(
        "--basket-format", type=_FORMS, help="Baskets: how they are written; found by itself otherwise."
    ),
    click.option(
        "--basket", metavar="COLUMN", help="Baskets: the column that names the basket, in a long table."
    ),
    click.option(
        "--item", metavar="COLUMN", help="Baskets: the column that names the item, in a long table."
    ),
)
_PUBLISHING = (
    click.option("--sensitive-items", multiple=True, metavar="ITEMS", help="Baskets: the sensitive items."),
    _P,
    click.option("--order", type=click.Choice(["rcm", "lexicographic"]), help="cahd: how baskets are laid out."),
    click.option("--no-randomize-groups", "randomize_groups", flag_value=False, default=None, type=bool,
        help="cahd: group as in its paper; weaker against attackers who know the method."),
    click.option("--keep-empty", flag_value=True, default=None, type=bool,
        help="Baskets: publish those without ordinary items, as a group of their own; left out otherwise."),
    _KM,
    click.option("--item-hierarchy", type=options.DATA, metavar="FILE", help="k^m: the tree over the items."),
    click.option("--fan-out", type=int, help="k^m: how many are joined on a level where there is no tree."),
    *_READING,
)  # fmt: skip


def publishing(command: F) -> F:
    """Add the options for publishing baskets."""
    return options.add_all(_PUBLISHING, command)


def judging(command: F) -> F:
    """Add the options for judging baskets."""
    return options.add_all((_P, _KM, *_READING), command)


def reading(command: F) -> F:
    """Add the options for reading baskets."""
    return options.add_all(_READING, command)


def is_baskets(data: Path, given: Mapping[str, Any]) -> bool:
    """Return whether a command is about baskets: by its options, or by the file."""
    if given.get("method") in METHODS or any(given.get(name) for name in (*_OF_BASKETS, "known")):
        return True
    if any(given.get(role) for role in gather.ROLES):
        return False
    if data.suffix == ".toml":
        from discreet.job.parse import toml_of

        return "baskets" in toml_of(data)
    if rules.is_set(given):
        return True
    ending = [one for one in data.suffixes if one not in (".gz", ".zst", ".zstd")]
    return bool(ending and ending[-1] in _ENDINGS) or _is_folder(data)


def refuse_of_tables(given: Mapping[str, Any], *, besides: tuple[str, ...] = ()) -> None:
    """Refuse options that mean something for tables only."""
    context = click.get_current_context()
    source = context.get_parameter_source
    for name in _OF_TABLES:
        if name in given and name not in besides and source(name) is click.core.ParameterSource.COMMANDLINE:
            flag = next(one.opts[-1] for one in context.command.params if one.name == name)
            method = given.get("method")
            these = f"--method {method} is for" if method in METHODS else "these are"
            raise gather.mistake(
                f"{flag} belongs to tables; {these} baskets.", _REMEDIES[context.command.name or ""]
            )


def job(data: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the job for the baskets of a file, laid out as a job file."""
    refuse_of_tables(given)
    about: dict[str, Any] = {}
    if given["sensitive_items"]:
        about["sensitive"] = _items(given["sensitive_items"])
    if given["item_hierarchy"] is not None:
        about["hierarchy"] = {"file": str(given["item_hierarchy"])}
    method = {
        "name": given["method"],
        "alpha": None if given["alpha"] is None else _whole("--alpha", given["alpha"]),
        "order": given["order"],
        "randomize_groups": given["randomize_groups"],
        "keep_empty": given["keep_empty"],
        "fan_out": given["fan_out"],
    }
    return {
        "input": {"path": data, **reading_of(given)},
        "baskets": about,
        "guarantee": [promise(given)],
        "method": {name: value for name, value in method.items() if value is not None},
    }


def check(data: Path, given: Mapping[str, Any], *, as_json: bool, quiet: bool) -> bool:
    """Judge published baskets in a folder, or baskets in a file, by a promise or by what they reach."""
    from discreet.cli._basket_output import print_judgment
    from discreet.cli._progress import stages
    from discreet.job.parse import guarantee_from
    from discreet.kinds.judging import judge_baskets

    refuse_of_tables(given)
    promised = guarantee_from([promise(given)], {}, Path()) if _has_promise(given) else None
    with stages(2, quiet=quiet or as_json) as progress:
        progress("Reading")
        baskets = read(data, given)
        progress("Judging")
        judgment = judge_baskets(baskets, promised)
    if as_json or not quiet:
        print_judgment(judgment, as_json=as_json)
    return judgment.ok


def risk(data: Path, given: Mapping[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Measure how likely baskets are to be found again by a few known items."""
    from discreet.cli._basket_output import print_risk
    from discreet.cli._progress import stages
    from discreet.core.baskets.grouped import GroupedBaskets
    from discreet.measure import reidentification, sensitive_tie

    refuse_of_tables(given, besides=("rest",))
    numbers = [_whole("--known", one) for one in (given["known"] or _KNOWN).split(",")]
    with stages(2, quiet=quiet or as_json) as progress:
        progress("Reading")
        baskets = read(data, given)
        progress("Measuring")
        plain = baskets.baskets if isinstance(baskets, GroupedBaskets) else baskets
        longest = int(plain.lengths.max(initial=0))
        known = numbers if given["known"] else [r for r in numbers if r <= longest]
        found = [reidentification(baskets, r, random_state=given["seed"]) for r in known]
    if as_json or not quiet:
        print_risk(found, len(plain), sensitive_tie(baskets), as_json=as_json)


def read(data: Path, given: Mapping[str, Any]) -> Baskets | GroupedBaskets:
    """Read the folder of a release of baskets, or a file."""
    from discreet.engines.baskets.files import read_baskets
    from discreet.engines.baskets.published import read_published

    if data.suffix == ".toml":
        from discreet.job import Job

        job_ = Job.read(data)
        return read_baskets(job_.data, **(dict(job_.reading) | reading_of(given)))
    return read_published(data) if data.is_dir() else read_baskets(data, **reading_of(given))


def reading_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for reading baskets that were named."""
    named = {
        "format": given.get("basket_format"),
        "basket": given.get("basket"),
        "item": given.get("item"),
        "delimiter": given.get("delimiter"),
    }
    return {name: {"\\t": "\t"}.get(value, value) for name, value in named.items() if value is not None}


def _has_promise(given: Mapping[str, Any]) -> bool:
    return given["p"] is not None or bool(given["km"]) or rules.is_set(given)


def promise(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the guarantee that the options name, laid out as in a job file."""
    if rules.is_set(given):
        if given["p"] is not None or given["km"]:
            raise gather.mistake("Hidden rules are judged by themselves; leave -p and --km out.")
        return rules.promise(given)
    if given["km"]:
        if given["p"] is not None:
            raise gather.mistake("-p and --km are two promises; ask for one.", "-p 10")
        parts = [_whole("--km", one) for one in given["km"].split(",")]
        if len(parts) != 2:
            raise gather.mistake("--km takes two numbers: k and m.", "--km 5,2")
        return {"kind": "km-anonymity", "k": parts[0], "m": parts[1]}
    if given["p"] is None:
        raise gather.mistake("Choose a guarantee for the baskets.", "--sensitive-items … -p 10, or --km 5,2")
    return {"kind": "privacy-degree", "p": given["p"]}


def _items(values: tuple[str, ...]) -> list[Any]:
    """Split lists of items; where all are written as whole numbers they are numbers."""
    from discreet.core.baskets.names import WHOLE

    names = gather.names_in(values)
    return [int(name) for name in names] if all(WHOLE.fullmatch(name) for name in names) else names


def _whole(flag: str, value: Any) -> int:
    try:
        if not isinstance(value, float) or value.is_integer():
            return int(value)
    except ValueError:
        pass
    raise gather.mistake(f"{flag} takes whole numbers here.")


def _is_folder(data: Path) -> bool:
    return data.is_dir() and any(
        (data / f"baskets.{kind}").is_file() for kind in ("csv", "tsv", "parquet", "arrow")
    )
