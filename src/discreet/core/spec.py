"""Spec: what a thing with a name and parameters is, whatever makes options, job keys, forms or tables of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from discreet.core.outline import Field, Outline, outline
from discreet.core.params import Constraint, listed

Role = Literal["publisher", "collector", "miner", "hider", "auditor", "protocol", "guarantee", "verb"]
"""What it does: publishers release, collectors perturb, miners mine or learn, hiders hide, auditors answer, protocols
run between parties, guarantees judge, and verbs are the other things that a job can do."""
RELEASING: tuple[Role, ...] = ("publisher", "hider")
"""The roles of methods that make a release."""
Data = Literal[
    "table", "baskets", "records", "stream", "values", "grouped-table", "pseudo-data", "synthetic-data",
    "sampled-table",
    "uncertain-records", "sketches", "cells", "linked-tables", "model",
]  # fmt: skip
"""What a method takes or makes."""


@dataclass(frozen=True)
class Parameter(Field):
    """A parameter: its default, how it is written, its words, and what it must be."""

    owner: Spec | None = field(default=None, repr=False, compare=False)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What the value must be; of several constraints one must hold. The class is loaded for it."""
        declared = {} if self.owner is None else getattr(self.owner.load(), "constraints", {})
        return listed(declared.get(self.name, ()))


@dataclass(frozen=True)
class Spec:
    """A class as commands, files and documentation name it.

    Constraints stand on the class, and the words of its parameters in its docstring; here is only what neither says.

    Parameters
    ----------
    name
        The name in commands, job files and session files.
    home
        The class, as ``module:Class`` within the package.
    role
        What it does.
    summary
        What it does, in one line; by default the first line of the class's docstring.
    supplied
        Parameters that no option sets: the guarantee or the description of the data supplies them, or the class has
        no use for them.
    fixed
        Parameters whose values the name stands for, where one class has several names.
    flags
        The options of parameters that are not called as the parameters are.
    aliases
        Options without a value that stand for a value of a parameter, by the name that the option has in Python.

    Examples
    --------
    >>> from discreet.core.registry import METHODS
    >>> mondrian = METHODS["mondrian"]
    >>> mondrian.flag("strict"), mondrian.options()["summary"].choices
    ('--strict-cuts/--relaxed', ('box', 'mean'))
    """

    name: str
    home: str
    role: Role
    summary: str = ""
    supplied: tuple[str, ...] = field(default=(), kw_only=True)
    fixed: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    flags: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    aliases: Mapping[str, tuple[str, Any]] = field(default_factory=dict, kw_only=True)

    @property
    def class_name(self) -> str:
        """The name of the class."""
        return self.home.partition(":")[2]

    @property
    def words(self) -> str:
        """What it does, in one line."""
        return self.summary or self._outline.summary

    def load(self) -> Any:
        """Return the class."""
        module, _, name = self.home.partition(":")
        return getattr(import_module(f"discreet.{module}"), name)

    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters by name, in the order of the constructor; the class is not loaded for it."""
        return {name: Parameter(**vars(field), owner=self) for name, field in self._outline.fields.items()}

    def options(self) -> dict[str, Parameter]:
        """Return the parameters that a command or a file may set: all but those that are supplied or fixed."""
        supplied = {"random_state", *self.supplied, *self.fixed}
        return {name: parameter for name, parameter in self.parameters().items() if name not in supplied}

    def flag(self, parameter: str) -> str:
        """Return the option of a parameter."""
        return self.flags.get(parameter, f"--{parameter.replace('_', '-')}")

    @property
    def _outline(self) -> Outline:
        module, _, name = self.home.partition(":")
        return outline(f"discreet.{module}", name)


@dataclass(frozen=True)
class Method(Spec):
    """A method that takes data: a publisher, collector, miner or hider.

    Parameters
    ----------
    takes
        The kinds of data it takes.
    makes
        The kinds of release or result, one for each kind of data.
    keeping
        The guarantees it can keep: names of classes, or what the guarantees are about.
    joins
        Whether it keeps several guarantees at once.
    whole_columns
        Whether it takes whole columns to levels, so that the nodes that `discreet explore` compares stand for it.
    """

    takes: tuple[Data, ...] = field(default=(), kw_only=True)
    makes: tuple[Data, ...] = field(default=(), kw_only=True)
    keeping: tuple[str, ...] = field(default=(), kw_only=True)
    joins: bool = field(default=False, kw_only=True)
    whole_columns: bool = field(default=False, kw_only=True)

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The names of the classes of the guarantees it can keep."""
        from discreet.core.registry import GUARANTEES

        named = {name: (name,) for name in self.keeping}
        about = {
            subject: tuple(spec.class_name for spec in GUARANTEES.values() if subject in spec.about)
            for subject in self.keeping
        }
        return tuple(name for key in self.keeping for name in about[key] or named[key])

    def options(self) -> dict[str, Parameter]:
        """Return the parameters that a command or a file may set; the first of a publisher is its guarantee."""
        parameters = super().options()
        if self.role in RELEASING:
            parameters.pop(next(iter(self.parameters())), None)
        return parameters

    def make(self, guarantee: Any, **parameters: Any) -> Any:
        """Make the method's object for a guarantee."""
        return self.load()(guarantee, **self.fixed, **parameters)

    def publish(self, publisher: Any, data: Any) -> Any:
        """Return the release that an object of the method makes of data."""
        return publisher.hide(data) if self.role == "hider" else publisher.release(data)

    def makes_of(self, takes: str) -> Data:
        """Return the kind of release that is made of a kind of data."""
        return dict(zip(self.takes, self.makes, strict=True))[takes]  # type: ignore[index]

    def keeps(self, guarantees: Iterable[str]) -> bool:
        """Return whether the method can keep guarantees, named by their classes, all at once."""
        names = list(guarantees)
        return (len(names) == 1 or self.joins) and all(name in self.guarantees for name in names)


@dataclass(frozen=True)
class GuaranteeSpec(Spec):
    """A guarantee as commands and job files name it.

    The option of its first parameter (or of the first of ``flags``) chooses it; by default that option is called as the
    guarantee is.

    Parameters
    ----------
    about
        What it judges, such as the classes of a table.
    variant
        Where several guarantees share their first option, another option and its word that choose this one; the first
        that is registered is the default.
    """

    about: tuple[str, ...] = field(default=(), kw_only=True)
    variant: tuple[str, str] | None = field(default=None, kw_only=True)

    @property
    def leading(self) -> str:
        """The parameter whose option chooses the guarantee."""
        return next(iter(self.flags or self.options()))

    @property
    def takes_population(self) -> bool:
        """Whether it compares with the table of a population, which is handed over apart."""
        return "population" in self.parameters()

    def flag(self, parameter: str) -> str:
        """Return the option of a parameter."""
        if not self.flags and parameter == self.leading:
            return f"--{self.name}"
        return super().flag(parameter)
