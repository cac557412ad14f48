"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from discreet.core.registry import methods
from discreet.engines.formats import WRITTEN

F = TypeVar("F", bound=Callable[..., Any])

DATA = click.Path(path_type=Path)
MEASURES = ("loss", "entropy", "discernibility", "average_class_size", "height", "precision")
"""What a search for levels can minimize."""

PUBLISHERS = [
    method.name
    for method in methods(role="publisher")
    if {"table", "baskets"} & set(method.takes) and "pseudo-data" not in method.makes
]
"""The methods of `discreet anonymize`; pseudo-data and sketches have commands of their own."""

_READING = (
    click.option("--delimiter", metavar="CHAR", help="What separates the cells; found by itself otherwise."),
    click.option("--encoding", metavar="NAME", help="The file's encoding; UTF-8 otherwise."),
    click.option("--decimal", type=click.Choice([".", ","]), help="The decimal mark."),
    click.option("--thousands", metavar="CHAR", help="The thousands separator."),
    click.option(
        "--null",
        "nulls",
        multiple=True,
        metavar="TOKEN",
        help="A cell that stands for nothing, beside the usual ones; may be repeated.",
    ),
    click.option(
        "--dates", type=click.Choice(["dmy", "mdy", "ymd"]), help="The order of day, month and year."
    ),
    click.option(
        "--header/--no-header",
        "header",
        default=None,
        help="Whether the first line names the columns; without one they are column1, column2, …",
    ),
    click.option(
        "--text", multiple=True, metavar="COLUMNS", help="Columns that stay text, whatever they look like."
    ),
    click.option(
        "--sheet", metavar="NAME", help="The sheet of a spreadsheet, by name or number; the first by default."
    ),
    click.option(
        "--codes",
        "labels",
        flag_value=False,
        default=None,
        type=bool,
        help="SPSS, Stata: read labeled values as their codes, not as their labels.",
    ),
)
_ROLES = (
    click.option(
        "--quasi", multiple=True, metavar="COLUMNS", help="Quasi-identifiers: what others may know."
    ),
    click.option(
        "--sensitive", multiple=True, metavar="COLUMNS", help="What must not be learned about a person."
    ),
    click.option("--identifier", multiple=True, metavar="COLUMNS", help="What names a person; dropped."),
    click.option(
        "--person",
        multiple=True,
        metavar="COLUMN",
        help="Whose row it is, where people or households have several: classes count these, not rows; dropped.",
    ),
    click.option("--other", multiple=True, metavar="COLUMNS", help="Published as it is."),
)
_ROLES_FROM = click.option(
    "--roles",
    type=DATA,
    metavar="PLACE",
    help="Take the roles from a job file or from the folder of a release; options come before them.",
)
_K = click.option("-k", type=int, help="k-anonymity: at least so many rows in every class.")
_KS = click.option(
    "-k", "ks", metavar="NUMBERS", help="k-anonymity: at least so many rows in every class; several: 2,5,10."
)
_PROMISES = (
    click.option(
        "-l", type=float, help="l-diversity: so many well-represented sensitive values in every class."
    ),
    click.option(
        "--diversity",
        type=click.Choice(["distinct", "entropy", "recursive"]),
        help="The kind of l-diversity; distinct by default.",
    ),
    click.option("--c", type=float, help="The c of recursive (c, l)-diversity."),
    click.option("-t", type=float, help="t-closeness: the largest distance to the whole table."),
    click.option(
        "--distance",
        type=click.Choice(["equal", "ordered", "hierarchical", "kl", "variational"]),
        help="The distance of t-closeness; equal by default.",
    ),
    click.option(
        "--alpha",
        type=float,
        help="(alpha, k)-anonymity: the largest share of a sensitive value in a class; for cahd, how far to look.",
    ),
    click.option(
        "--beta", type=float, help="beta-likeness: the largest relative gain of a sensitive value in a class."
    ),
    click.option(
        "--likeness",
        type=click.Choice(["basic", "enhanced"]),
        help="The kind of beta-likeness; enhanced by default.",
    ),
    click.option("--delta", type=float, help="delta-disclosure: the largest log2 ratio of a value's shares."),
    click.option(
        "--absent",
        type=click.Choice(["ignored", "counted"]),
        help="Whether a value that is missing from a class breaks delta-disclosure: ignored (as ARX, the default) or "
        "counted (as published).",
    ),
    click.option(
        "--k-map", type=int, help="k-map: at least so many people of the population fit every class."
    ),
    click.option(
        "--population", type=DATA, metavar="FILE", help="The population's table, with the quasi-identifiers."
    ),
)
_HIERARCHY = click.option(
    "--hierarchy",
    "hierarchies",
    multiple=True,
    metavar="COLUMN=HOW",
    help="How values become coarser: age=intervals:5,10,20, zip=mask, zip=mask:left, zip=mask:5, sex=flat, "
    "education=tree.csv, education=scale:education, diagnosis=icd10, address=ip.",
)
KEEP_ORDER = click.option(
    "--keep-order",
    is_flag=True,
    help="Keep the order of the input; shuffled otherwise, since a place in a list is as good as a name.",
)
_ALLOW_UNIQUE = click.option(
    "--allow-unique",
    multiple=True,
    metavar="COLUMNS",
    help="Publish columns as they are although they single out many rows; refused otherwise.",
)
_PSEUDONYM = click.option(
    "--pseudonym",
    "pseudonyms",
    multiple=True,
    metavar="COLUMN=KEY",
    help="Keep an identifier as a keyed pseudonym; the key is env:NAME or file:PATH.",
)
_METHOD = (
    click.option(
        "--method",
        type=click.Choice(PUBLISHERS),
        help="Mondrian by default; generalization where levels are given; optimal finds the levels that cost least. "
        "For baskets cahd by default, apriori for --km.",
    ),
    click.option(
        "--relaxed", is_flag=True, help="Mondrian: share equal values out by chance, for smaller classes."
    ),
    click.option(
        "--means", is_flag=True, help="Mondrian: publish means of numbers and dates, not intervals."
    ),
    click.option(
        "--level",
        "levels",
        multiple=True,
        metavar="COLUMN=LEVEL",
        help="Generalization: how high a column goes in its hierarchy.",
    ),
    click.option(
        "--max-suppressed", type=float, help="The share of rows that may be left out; not for Mondrian."
    ),
    click.option(
        "--measure", type=click.Choice(MEASURES), help="What a search for levels minimizes; loss by default."
    ),
    click.option(
        "--aggregate",
        type=click.Choice(["mean", "maximum", "geometric"]),
        help="How a search puts columns together; mean by default.",
    ),
    click.option(
        "--lowest",
        multiple=True,
        metavar="COLUMN=LEVEL",
        help="Optimal, local: the lowest level of a column.",
    ),
    click.option(
        "--highest",
        multiple=True,
        metavar="COLUMN=LEVEL",
        help="Optimal, local: the highest level of a column.",
    ),
    click.option(
        "--time-limit", type=float, metavar="SECONDS", help="Optimal, local: take the best found by then."
    ),
    click.option(
        "--visit-all", is_flag=True, help="Optimal: score every node, so that the report shows them all."
    ),
)
_SPREADSHEET_SAFE = click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="Put an apostrophe before texts that a spreadsheet would run as a formula.",
)
_SIGN = click.option(
    "--sign",
    type=DATA,
    metavar="KEYFILE",
    help="Sign release.json with a private key, such as one that 'discreet party keys' made.",
)
_OUTPUT = (
    click.option(
        "--format",
        "format_",
        type=click.Choice(WRITTEN),
        help="The format of the data; the input's by default.",
    ),
    click.option("--overwrite", is_flag=True, help="Replace an earlier release."),
    click.option("--strict", is_flag=True, help="Write nothing where there is any caution."),
    _SPREADSHEET_SAFE,
    click.option("--name", metavar="TEXT", help="The data's name, published in the report; none by default."),
    click.option(
        "--pdf", is_flag=True, help="Print the report into report.pdf as well, by Chromium, Chrome or Edge."
    ),
    _SIGN,
    click.option("--no-report", "report", flag_value=False, default=True, type=bool, help="Write no report."),
    click.option(
        "--seed", type=click.IntRange(min=0), help="Make the order of the rows repeatable; keep it secret."
    ),
)
_PRINTING = (
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for machines."),
    click.option("--quiet", is_flag=True, help="Print nothing but errors."),
    click.option("--debug", is_flag=True, hidden=True, expose_value=False),
)


def reading(command: F) -> F:
    """Add the options for reading a file."""
    return add_all(_READING, command)


def roles(*, rest: str | None) -> Callable[[F], F]:
    """Add the options for roles; ``rest`` is the default role of columns that are not named."""
    otherwise = "refused otherwise" if rest is None else f"{rest} by default"
    choice = click.option(
        "--rest",
        type=click.Choice(["other", "identifier"]),
        default=rest,
        help=f"The role of columns that are not named; {otherwise}.",
    )
    return lambda command: add_all((*_ROLES, choice, _HIERARCHY, _ROLES_FROM), command)


def roles_from(command: F) -> F:
    """Add the option that takes roles from a job file or a release."""
    return _ROLES_FROM(command)


def promises(command: F) -> F:
    """Add the options for guarantees."""
    return add_all((_K, *_PROMISES), command)


def many_promises(command: F) -> F:
    """Add the options for guarantees, with several k at once."""
    return add_all((_KS, *_PROMISES), command)


def method(command: F) -> F:
    """Add the options for methods."""
    return add_all(_METHOD, command)


def pseudonym(command: F) -> F:
    """Add the option for pseudonyms."""
    return _PSEUDONYM(command)


def allow_unique(command: F) -> F:
    """Add the option for columns that may single rows out."""
    return _ALLOW_UNIQUE(command)


def output(command: F, *, required: bool = True) -> F:
    """Add the options for writing a release."""
    out = click.option("--out", required=required, type=DATA, metavar="DIR", help="The folder to write.")
    return add_all((out, *_OUTPUT), command)


def sign(command: F) -> F:
    """Add the option that signs a release."""
    return _SIGN(command)


def spreadsheet_safe(command: F) -> F:
    """Add the option that makes texts harmless to spreadsheets."""
    return _SPREADSHEET_SAFE(command)


def printing(command: F) -> F:
    """Add the options for what is printed."""
    return add_all(_PRINTING, command)


def add_all(options: tuple[Callable[[F], F], ...], command: F) -> F:
    """Add several options to a command, in their order."""
    for option in reversed(options):
        command = option(command)
    return command


def order_caution(order: str) -> list[tuple[str, str]]:
    """Return the caution about records that are written in the order of the input, as lines to print."""
    if order != "kept":
        return []
    return [
        ("caution", "the order of the input is kept: whoever knows that order knows whose record is whose")
    ]


def seed_warning(*, seeded: bool) -> list[tuple[str, str]]:
    """Return the warning about what was drawn by a seed, as lines to print."""
    return [("warning", "seeded: whoever knows the seed can undo this")] if seeded else []
