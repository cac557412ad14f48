"""The options that say how a file of baskets is written, for the commands that read nothing but baskets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from discreet.cli import _options as options
from discreet.cli._command import in_group

FORMATS = options.BASKET_FORMATS

FORMAT = click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="The format of the baskets; detected by default.",
)
basket_reading = in_group(
    "Reading",
    (
        FORMAT,
        options.BASKET,
        options.ITEM,
        click.option(
            "--delimiter",
            metavar="CHAR",
            help="The character between cells; a comma by default, a tab in .tsv.",
        ),
    ),
)


def reading_of(values: Mapping[str, Any]) -> dict[str, Any]:
    r"""Return the options as the reader takes them.

    >>> reading_of({"format_": "lines", "basket": None, "item": None, "delimiter": "\\t"})
    {'format': 'lines', 'basket': None, 'item': None, 'delimiter': '\t'}
    """
    delimiter = {"\\t": "\t"}.get(values["delimiter"], values["delimiter"])
    return {
        "format": values["format_"],
        "basket": values["basket"],
        "item": values["item"],
        "delimiter": delimiter,
    }
