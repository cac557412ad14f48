"""Options made from the registry: names, types and help of parameters come from the classes themselves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

import click

from discreet.cli import _parse_options as parse
from discreet.cli._command import later
from discreet.core.spec import GuaranteeSpec, Parameter, Spec

F = TypeVar("F", bound=Callable[..., Any])
Specs = Callable[[], Iterable[Spec]]
"""What options are made from, looked up when they are needed."""

_MOST_NAMED = 4
"""An option of more methods than this does not name them in its help."""


class Number(click.ParamType[float]):
    """A number that is an int where it is written as one: 2 may count rows, and 1.0 may be a share."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the number."""
        number = click.FLOAT.convert(value, param, ctx)
        return parse.whole_or_not(value) if isinstance(value, str) else number


def options_of(
    specs: Specs | Iterable[Spec],
    *,
    group: str = "Method",
    only: Collection[str] = (),
    without: Collection[str] = (),
) -> Callable[[F], F]:
    """Return a decorator that adds an option for every parameter of some methods, auditors or guarantees.

    Parameters
    ----------
    specs
        Whose parameters; a function that returns them sees what is registered later.
    group
        The group of the help that the options stand in.
    only
        The names of parameters to take; all by default.
    without
        The names of parameters to leave out.

    Examples
    --------
    >>> import click
    >>> from discreet.cli._command import command
    >>> from discreet.core.registry import specs
    >>> @command(name="audit")
    ... @options_of(specs("auditor").values(), without=["step"])
    ... def audit(**values): ...
    >>> [param.opts[0] for param in audit.params][:3]
    ['--group', '--minimum-set-size', '--max-overlap']
    """
    look_up = specs if callable(specs) else lambda: specs
    return later(lambda: click_options(look_up(), group=group, only=only, without=without))


def click_options(
    specs: Iterable[Spec], *, group: str = "Method", only: Collection[str] = (), without: Collection[str] = ()
) -> list[click.Option]:
    """Return the click options of specs, one for each flag, in the order in which they first occur."""
    registered = list(specs)
    sharing: dict[str, list[tuple[Spec, Parameter]]] = {}
    aliases: dict[str, Spec] = {}
    variants: dict[str, list[GuaranteeSpec]] = {}
    for spec in registered:
        for parameter in settable(spec, only, without):
            sharing.setdefault(spec.flag(parameter.name), []).append((spec, parameter))
        aliases |= {alias: spec for alias, (name, _) in spec.aliases.items() if not only or name in only}
        if isinstance(spec, GuaranteeSpec) and spec.variant is not None:
            variants.setdefault(spec.variant[0], []).append(spec)
    options = [_option(flag, owners, len(registered)) for flag, owners in sharing.items()]
    options += [_variant(option, owners) for option, owners in variants.items()]
    options += [_alias(alias, spec) for alias, spec in aliases.items()]
    for option in options:
        option.group = group  # type: ignore[attr-defined]
    return options


def settable(spec: Spec, only: Collection[str] = (), without: Collection[str] = ()) -> list[Parameter]:
    """Return the parameters of a spec that can be written as an option."""
    return [
        parameter
        for name, parameter in spec.options().items()
        if parameter.shape is not None and name not in without and (not only or name in only)
    ]


def parameters_of(
    spec: Spec,
    values: Mapping[str, Any],
    *,
    among: Iterable[Spec] = (),
    choice: str = "--method",
    without: Collection[str] = (),
) -> dict[str, Any]:
    """Return the parameters of a spec that options set; one that belongs to others alone is refused.

    Parameters
    ----------
    spec
        The method, auditor or guarantee that was chosen.
    values
        The values of the options by their Python names, as click passes them.
    among
        Everything that could have been chosen.
    choice
        The option that chooses, for the remedy.
    without
        The names of parameters that are set in another way.
    """
    parameters = {parameter.name: parameter for parameter in settable(spec, (), without)}
    others = [other for other in among if other.name != spec.name]
    chosen: dict[str, Any] = {}
    for other in (spec, *others):
        for parameter in settable(other, (), without):
            flag = other.flag(parameter.name)
            value = values.get(python_name(flag))
            if value is None or value == ():
                continue
            if parameter.name not in parameters or spec.flag(parameter.name) != flag:
                raise _misplaced(_written(flag), flag, parameter.name, [spec, *others], choice)
            chosen.setdefault(parameter.name, value_of(flag, parameters[parameter.name], value))
        for alias, (name, stands_for) in other.aliases.items():
            if not values.get(alias):
                continue
            if alias not in spec.aliases:
                raise _misplaced(
                    f"--{alias.replace('_', '-')}", other.flag(name), name, [spec, *others], choice
                )
            chosen[name] = stands_for
    return {name: chosen[name] for name in parameters if name in chosen}


def are_named(values: Iterable[str]) -> bool:
    """Return whether any of the options, by their Python names, stands on the command line."""
    source = click.get_current_context().get_parameter_source
    return any(source(name) is click.core.ParameterSource.COMMANDLINE for name in values)


def python_name(flag: str) -> str:
    """Return the name that a function has for an option.

    >>> python_name("--strict-cuts/--relaxed"), python_name("-k")
    ('strict_cuts', 'k')
    """
    return flag.partition("/")[0].lstrip("-").replace("-", "_")


def value_of(flag: str, parameter: Parameter, value: Any) -> Any:
    """Return what an option stands for, as the parameter takes it."""
    if parameter.shape == "names":
        return parse.names_in(value)
    if parameter.shape in ("levels", "numbers"):
        return parse.numbers(flag, value, int if parameter.shape == "levels" else float)
    if parameter.shape == "int" and isinstance(value, float):
        if not value.is_integer():
            raise parse.mistake(f"{flag} takes whole numbers here.")
        return int(value)
    return value


def _option(flag: str, owners: list[tuple[Spec, Parameter]], n_specs: int) -> click.Option:
    """Return the option of a flag that the parameters of one or several specs share."""
    parameter = owners[0][1]
    shapes = {other.shape for _, other in owners}
    settings: dict[str, Any] = {"help": _words(owners, n_specs)}
    if parameter.shape == "bool":
        pair = flag if "/" in flag else f"{flag}/--no-{flag.removeprefix('--')}"
        return click.Option([pair, python_name(flag)], default=None, **settings)
    if parameter.shape == "choice":
        words = dict.fromkeys(word for _, other in owners for word in other.choices)
        settings["type"] = click.Choice(list(words))
    elif parameter.shape in ("names", "levels", "numbers"):
        metavar = {"names": "NAMES", "levels": "COLUMN=LEVEL", "numbers": "COLUMN=NUMBER"}
        settings |= {"multiple": True, "metavar": metavar[parameter.shape]}
    elif "number" in shapes or shapes == {"int", "float"}:
        settings["type"] = Number()
    else:
        settings["type"] = {"int": click.INT, "float": click.FLOAT}.get(parameter.shape or "", click.STRING)
    return click.Option([flag, python_name(flag)], **settings)


def _words(owners: list[tuple[Spec, Parameter]], n_specs: int) -> str:
    """Return the first sentence of the parameter's words, after the names of those that have it."""
    spec, parameter = owners[0]
    sentence = parameter.words.partition(". ")[0].rstrip(".")
    default = "" if parameter.required or parameter.default in (None, "", ()) else parameter.default
    named = [other.name for other, _ in owners]
    if isinstance(spec, GuaranteeSpec):
        named = [_family(spec) if parameter.name == spec.leading else spec.name]
    elif len(named) == n_specs or len(named) > _MOST_NAMED:
        named = []
    if named and not sentence[:2].isupper():
        sentence = sentence[:1].lower() + sentence[1:]
    written = f"{default:g}" if isinstance(default, float) else f"{default}"
    ending = f"; {written} by default" if written and parameter.shape != "bool" else ""
    return f"{', '.join(named)}{': ' if named else ''}{sentence}{ending}."


def _family(spec: GuaranteeSpec) -> str:
    """Return the name that guarantees with one option have in common, such as l-diversity."""
    option, word = spec.variant or ("", "")
    return spec.name.removeprefix(f"{word}-") if option in spec.name else spec.name


def _variant(option: str, owners: list[GuaranteeSpec]) -> click.Option:
    """Return the option that chooses among guarantees with the same first option."""
    words = [spec.variant[1] for spec in owners if spec.variant is not None]
    described = f"The kind of {_family(owners[0])}; {words[0]} by default."
    return click.Option([f"--{option}", option], type=click.Choice(words), help=described)


def _alias(alias: str, spec: Spec) -> click.Option:
    name, value = spec.aliases[alias]
    flag = f"--{alias.replace('_', '-')}"
    return click.Option(
        [flag, alias], is_flag=True, help=f"{spec.name}: the same as {spec.flag(name)} {value}."
    )


def _written(flag: str) -> str:
    """Return the option that turns a parameter off, which is the one that was set, or the only one."""
    return flag.rpartition("/")[2]


def _misplaced(written: str, flag: str, parameter: str, specs: list[Spec], choice: str) -> click.UsageError:
    """Make the error for an option that belongs to others than what was chosen."""
    fitting = [
        spec.name for spec in specs[1:] if parameter in spec.options() and spec.flag(parameter) == flag
    ]
    belongs = " and ".join(filter(None, [", ".join(fitting[:-1]), fitting[-1]]))
    return parse.mistake(f"{written} belongs to {belongs}.", f"{choice} {fitting[0]}")
