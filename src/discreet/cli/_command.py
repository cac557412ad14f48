"""Commands whose options come in groups: the essential ones in --help, all of them in --help-all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

GROUPS = ("Options", "Roles", "Guarantee", "Method", "Baskets", "Rules", "Reading", "Writing")
"""The groups of options, in the order in which help shows them; others follow, and what is printed comes last."""
COMMANDS = {
    "Protect data": (
        "demo",
        "studio",
        "sample",
        "publish.init",
        "publish.explore",
        "publish.anonymize",
        "publish.run",
        "publish.condense",
        "publish.synthesize",
        "publish.uncertain",
        "publish.stream",
        "publish.sketch",
        "output.tabulate",
        "publish.hierarchy",
    ),
    "Check data and releases": (
        "measure.check",
        "measure.risk",
        "measure.attack",
        "measure.evidence",
        "publish.recipe",
        "publish.apply",
    ),
    "Collect with noise": ("collect.choose_pq", "collect.distort", "collect.perturb", "collect.reconstruct"),
    "Mine what was protected": ("mine.mine", "mine.fit", "mine.predict"),
    "Hide rules": ("output.hide",),
    "Ask questions": ("output.audit",),
    "Compute together": ("party",),
}
"""The modules of the commands, by what one wants to do, in the order in which one meets them."""

HOMES = {home.rpartition(".")[2].replace("_", "-"): home for members in COMMANDS.values() for home in members}
"""The module of each command by its name."""

_PRINTING = "Printing"
_ALL = "discreet.help_all"


class Later(click.Option):
    """Stands for options that are made when a command needs them, since making them reads the sources of methods."""

    def __init__(self, make: Callable[[], Iterable[click.Option]]) -> None:
        super().__init__(["--later"])
        self.make = make


class Command(click.Command):
    """A command that shows its essential options first, and all of them, in groups, on demand.

    Parameters
    ----------
    essentials
        The options that ``--help`` shows; all of them where it is empty.
    """

    def __init__(self, *args: Any, essentials: Collection[str] = (), **settings: Any) -> None:
        self.essentials = essentials
        self._plain = click.Command(None)
        super().__init__(*args, **settings)

    @property
    def params(self) -> list[click.Parameter]:
        """The parameters; where two groups of options name the same option, the first has it."""
        chosen: dict[str, click.Parameter] = {}
        for declared in self._declared:
            for option in declared.make() if isinstance(declared, Later) else (declared,):
                names = [*option.opts, *option.secondary_opts]
                earlier = [chosen[name] for name in names if name in chosen]
                if earlier:
                    _join(earlier[0], option)
                else:
                    chosen |= dict.fromkeys(names, option)
        return list(dict.fromkeys(chosen.values()))

    @params.setter
    def params(self, declared: Sequence[click.Parameter]) -> None:
        self._declared = list(declared)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, the same objects throughout one call of the command."""
        options: list[click.Parameter] | None = ctx.meta.get(f"discreet.params.{id(self)}")
        if options is None:
            options = super().get_params(ctx)
            options.append(_help_all(hidden=not self.essentials))
            options += _log_options()
            ctx.meta[f"discreet.params.{id(self)}"] = options
        return options

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option --help; click would make it by adding it to ``params``, which are made anew each time."""
        return self._plain.get_help_option(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups; without --help-all only the essential ones."""
        shown_all = ctx.meta.get(_ALL, False) or not self.essentials
        groups: dict[str, list[tuple[str, str]]] = {name: [] for name in GROUPS}
        n_hidden = 0
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is None or isinstance(option, click.Argument):
                continue
            name = group_of(option)
            if shown_all or name == _PRINTING or set(option.opts) & set(self.essentials):
                groups.setdefault(name, []).append(record)
            else:
                n_hidden += 1
        groups[_PRINTING] = groups.pop(_PRINTING, [])
        if shown_all:
            for name, records in groups.items():
                if records:
                    with formatter.section(name):
                        formatter.write_dl(records)
            return
        with formatter.section("Options"):
            formatter.write_dl([record for records in groups.values() for record in records])
        formatter.write_paragraph()
        formatter.write_text(f"{n_hidden} more options: {ctx.command_path} --help-all")


class CommandGroup(click.Group):
    """A command with commands of its own, which are such ones too."""

    command_class = Command


def command(**settings: Any) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function; ``essentials`` names the options that --help shows."""
    return click.command(cls=Command, **settings)


def in_group(group: str, options: Iterable[Callable[[F], F]]) -> Callable[[F], F]:
    """Return a decorator that adds options in their order, in a group of the help."""

    def add(function: F) -> F:
        for option in reversed(tuple(options)):
            function = option(function)
            _declared(function)[-1].group = group
        return function

    return add


def later(make: Callable[[], Iterable[click.Option]]) -> Callable[[F], F]:
    """Return a decorator that adds options which are made when the command needs them."""

    def add(function: F) -> F:
        _declared(function).append(Later(make))
        return function

    return add


def _declared(function: Any) -> list[Any]:
    """Return the parameters that decorators have put on a function so far, as click keeps them."""
    if not hasattr(function, "__click_params__"):
        function.__click_params__ = []
    declared: list[Any] = function.__click_params__
    return declared


def group_of(option: click.Parameter) -> str:
    """Return the group of the help that an option stands in."""
    if {"--help", "--help-all"} & set(option.opts):
        return _PRINTING
    group: str = getattr(option, "group", "Options")
    return group


def _join(first: click.Parameter, second: click.Parameter) -> None:
    """Add to the help of an option what it means to those who declared it as well."""
    words = getattr(second, "help", None)
    if isinstance(first, click.Option) and words and first.help and words.rstrip(".") not in first.help:
        first.help = f"{first.help.rstrip('.')}; {words}"


def _log_options() -> list[click.Option]:
    """Return the options of the log, which every command has, in the group of what is printed."""
    from discreet.cli._log import log_options

    made = log_options()
    for option in made:
        option.group = _PRINTING  # type: ignore[attr-defined]
    return made


def _help_all(*, hidden: bool) -> click.Option:
    def show(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        del param
        if value and not ctx.resilient_parsing:
            ctx.meta[_ALL] = True
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        hidden=hidden,
        help="Show all options and exit.",
    )
