"""The options that say how a file of baskets is written, for the commands that read nothing but baskets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from discreet.cli import _options as options

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("fimi", "spmf", "lines", "long", "onehot", "bits", "sparse")
_OPTIONS = (
    click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        help="The format of the baskets; recognized by default.",
    ),
    click.option("--basket", metavar="COLUMN", help="The column that names the basket, in a long table."),
    click.option("--item", metavar="COLUMN", help="The column that names the item, in a long table."),
    click.option(
        "--delimiter", metavar="CHAR", help="What separates the cells; a comma, or a tab in .tsv, by default."
    ),
)


def basket_reading(command: F) -> F:
    """Add the options for reading baskets."""
    return options.add_all(_OPTIONS, command)


def reading_of(given: Mapping[str, Any]) -> dict[str, Any]:
    r"""Return the options as the reader takes them.

    >>> reading_of({"format_": "lines", "basket": None, "item": None, "delimiter": "\\t"})
    {'format': 'lines', 'basket': None, 'item': None, 'delimiter': '\t'}
    """
    delimiter = {"\\t": "\t"}.get(given["delimiter"], given["delimiter"])
    return {
        "format": given["format_"],
        "basket": given["basket"],
        "item": given["item"],
        "delimiter": delimiter,
    }
