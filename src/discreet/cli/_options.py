"""Options that commands share, and the guarantees that are chosen by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from discreet.cli import _parse_options as parse
from discreet.cli._command import in_group, later
from discreet.cli._output import UNASKED
from discreet.cli._progress import DRY_RUN
from discreet.cli._spec_options import options_of, python_name, settable, value_of
from discreet.core.registry import GuaranteeSpec, Method, methods, releasable_guarantees
from discreet.engines.formats import WRITTEN

F = TypeVar("F", bound=Callable[..., Any])


class DataPath(click.Path):
    """The path of a file or folder, or an address of a database or an object store."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a path, or an address, whose password nothing shows."""
        if "://" not in str(value):
            return super().convert(value, param, ctx)
        from discreet.engines.addresses import address_of

        return address_of(value.strip() if isinstance(value, str) else value) or super().convert(
            value, param, ctx
        )


DATA = DataPath(path_type=Path)
BASKET_FORMATS = ("fimi", "spmf", "lines", "long", "onehot", "bits", "sparse")
NOT_OF_TABLES = ("weights", "keep_empty")
"""Parameters that no option for tables sets: weights stand with the columns, and no row is an empty basket."""

BASKET = click.option(
    "--basket", metavar="COLUMN", help="Baskets: the column of the basket, in a long table."
)
ITEM = click.option("--item", metavar="COLUMN", help="Baskets: the column of the item, in a long table.")
POPULATION = click.option(
    "--population", type=DATA, metavar="FILE", help="The population's table, with the quasi-identifiers."
)
_CLUSTER = (
    click.option(
        "--engine", type=click.Choice(["spark"]), help="Leave the rows on a Spark cluster; Parquet alone."
    ),
    click.option(
        "--master", metavar="ADDRESS", help="The cluster: local[4], spark://host:7077, yarn, k8s://…"
    ),
    click.option("--remote", metavar="ADDRESS", help="A server of Spark Connect: sc://host:15002."),
)
_READING = (
    *_CLUSTER,
    click.option("--delimiter", metavar="CHAR", help="The character between cells; detected by default."),
    click.option("--encoding", metavar="NAME", help="The file's encoding; UTF-8 by default."),
    click.option("--decimal", type=click.Choice([".", ","]), help="The decimal mark."),
    click.option("--thousands", metavar="CHAR", help="The thousands separator."),
    click.option(
        "--null",
        "nulls",
        multiple=True,
        metavar="TOKEN",
        help="Another text that means a missing value, besides the usual ones; may be repeated.",
    ),
    click.option(
        "--dates", type=click.Choice(["dmy", "mdy", "ymd"]), help="The order of day, month and year."
    ),
    click.option(
        "--header/--no-header",
        "header",
        default=None,
        help="Whether the first line names the columns; without a header they are called column1, column2, …",
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
    click.option("--identifier", multiple=True, metavar="COLUMNS", help="What names a person. Dropped."),
    click.option(
        "--person",
        multiple=True,
        metavar="COLUMN",
        help="Whose row it is, if a person or household has several: classes then count people, not rows. Dropped.",
    ),
    click.option("--other", multiple=True, metavar="COLUMNS", help="Columns published unchanged."),
    click.option("--drop", multiple=True, metavar="COLUMNS", help="Columns that nobody needs. Dropped."),
)
_ROLES_FROM = click.option(
    "--roles",
    type=DATA,
    metavar="PATH",
    help="Take the roles from a job file or from the folder of a release; roles set by options override them.",
)
_HIERARCHY = click.option(
    "--hierarchy",
    "hierarchies",
    multiple=True,
    metavar="COLUMN=HOW",
    help="How values become coarser: age=intervals:5,10:top=90, zip=mask, zip=mask:left, zip=mask:5, sex=flat, "
    "education=tree.csv, education=scale:education, diagnosis=icd10, state=codes:us-states, address=ip.",
)
_ALLOW_UNIQUE = click.option(
    "--allow-unique",
    multiple=True,
    metavar="COLUMNS",
    help="Publish these columns unchanged even though they single out many rows; without this option that is an error.",
)
_PSEUDONYM = click.option(
    "--pseudonym",
    "pseudonyms",
    multiple=True,
    metavar="COLUMN=KEY",
    help="Keep an identifier as a keyed pseudonym; the key is env:NAME or file:PATH.",
)


def _noted(key: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Return what notes a flag in the context of its command."""

    def note(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        del param
        ctx.meta[key] = value

    return note


OVERWRITE = click.option("--overwrite", is_flag=True, help="Replace an earlier release.")
OVERWRITE_FILE = click.option("--overwrite", is_flag=True, help="Replace an existing file.")
YES = click.option(
    "--yes",
    is_flag=True,
    expose_value=False,
    callback=_noted(UNASKED),
    help="With --overwrite: replace without a question, which only a terminal is asked.",
)
_DRY_RUN = click.option(
    "--dry-run",
    is_flag=True,
    expose_value=False,
    callback=_noted(DRY_RUN),
    help="Do everything but write: what the release would cost, its cautions and its verdict.",
)
_STRICT = click.option("--strict", is_flag=True, help="Write nothing if there is any caution.")
_PDF = click.option(
    "--pdf", is_flag=True, help="Also print the report to report.pdf, with Chromium, Chrome or Edge."
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
_FORMAT = click.option(
    "--format",
    "format_",
    type=click.Choice(WRITTEN),
    help="The format of the data; the input's by default.",
)
_TO = click.option(
    "--to",
    metavar="PLACE",
    help="Also write the rows elsewhere: a new file such as rows.csv.gz, - for standard output, file.db?table=NAME, "
    "postgresql://user@host/database?table=NAME (or ?view=NAME), s3://bucket/rows.parquet.",
)
_INCLUDE = click.option(
    "--include",
    metavar="NAMES",
    default=None,
    help="Also write: bounds (the ends of intervals as columns), healthdcat (a description for health catalogues).",
)
_ALLOW = click.option(
    "--allow",
    metavar="COLUMNS",
    default=None,
    help="Columns to publish although they hold free text or direct identifiers, such as e-mail addresses.",
)
_PREDICT = click.option(
    "--predict",
    metavar="COLUMNS",
    default=None,
    help="The sensitive columns that the report predicts; by default the label and the first others.",
)
_WRITING = (
    _FORMAT,
    _PREDICT,
    _INCLUDE,
    _ALLOW,
    _TO,
    OVERWRITE,
    YES,
    _DRY_RUN,
    _STRICT,
    _SPREADSHEET_SAFE,
    click.option("--name", metavar="TEXT", help="The data's name, published in the report; none by default."),
    _PDF,
    _SIGN,
    click.option("--no-report", "report", flag_value=False, default=True, type=bool, help="Write no report."),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        help="Repeat an experiment; never for real data: whoever knows or guesses it undoes the order and the noise.",
    ),
)

reading = in_group("Reading", _READING)
cluster = in_group("Reading", _CLUSTER)
pseudonym = in_group("Roles", [_PSEUDONYM])
allow_unique = in_group("Roles", [_ALLOW_UNIQUE])
roles_from = in_group("Roles", [_ROLES_FROM])
sign = in_group("Writing", [_SIGN])
spreadsheet_safe = in_group("Writing", [_SPREADSHEET_SAFE])
rewriting = in_group("Writing", [OVERWRITE, YES, _DRY_RUN, _STRICT, _ALLOW, _PDF, _SIGN, _TO])
printing = in_group(
    "Printing",
    [
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for machines."),
        click.option("--quiet", is_flag=True, help="Print nothing but errors."),
        click.option("--debug", is_flag=True, hidden=True, expose_value=False),
    ],
)


def roles(*, rest: str | None) -> Callable[[F], F]:
    """Add the options for roles; ``rest`` is the default role of columns that are not named."""
    default = "without it they are an error" if rest is None else f"{rest} by default"
    choice = click.option(
        "--rest",
        type=click.Choice(["other", "identifier", "drop"]),
        default=rest,
        help=f"The role of all columns that no other option names; {default}.",
    )
    return in_group("Roles", (*_ROLES, choice, _HIERARCHY, _ROLES_FROM))


def output_options(command: F, *, required: bool = True) -> F:
    """Add the options for writing a release."""
    out = click.option("--out", required=required, type=DATA, metavar="DIR", help="The folder to write.")
    return in_group("Writing", (out, *_WRITING))(command)


def table_guarantees() -> list[GuaranteeSpec]:
    """Return the guarantees that options of commands for tables choose."""
    return [
        spec
        for spec in releasable_guarantees().values()
        if spec.about[0] in ("classes", "releases", "samples")
    ]


def table_publishers() -> list[Method]:
    """Return the methods of `discreet anonymize` for tables; those that draw rows have commands of their own."""
    drawn = {"pseudo-data", "synthetic-data", "uncertain-records"}
    return [method for method in methods(role="publisher", takes="table") if not drawn & set(method.makes)]


def basket_publishers() -> list[Method]:
    """Return the methods of `discreet anonymize` for baskets."""
    return list(methods(role="publisher", takes="baskets"))


def guarantees(command: F) -> F:
    """Add the options of all guarantees about the classes of a table."""
    return options_of(table_guarantees, group="Guarantee")(in_group("Guarantee", [POPULATION])(command))


def method_option(command: F) -> F:
    """Add the choice of a method for tables, and the options of all of them."""
    return later(_method_choice)(options_of(table_publishers, without=NOT_OF_TABLES)(command))


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


def _method_choice() -> Iterator[click.Option]:
    names = dict.fromkeys(spec.name for spec in (*table_publishers(), *basket_publishers()))
    option = click.Option(
        ["--method"],
        type=click.Choice(list(names)),
        help="Tables: mondrian by default, generalization if levels are set; optimal finds the cheapest levels. "
        "Baskets: cahd by default, apriori with --km.",
    )
    option.group = "Method"  # type: ignore[attr-defined]
    yield option


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
    """Refuse an option that has no effect without the one that chooses its guarantee, or another that has it too."""
    chosen = [
        spec
        for flag, specs in families.items()
        if values.get(python_name(flag)) is not None
        for spec in specs
    ]
    in_use = {spec.flag(parameter.name) for spec in chosen for parameter in settable(spec)}
    for spec in family:
        flags = [spec.flag(parameter.name) for parameter in settable(spec)]
        flags += [] if spec.variant is None else [f"--{spec.variant[0]}"]
        for flag in flags:
            if flag not in families and flag not in in_use and values.get(python_name(flag)) is not None:
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
