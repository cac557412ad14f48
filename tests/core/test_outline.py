"""Outlines: what is read from the source of a class is what Python says of the class itself."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
from typing import Any, get_args

import pytest

from discreet.core.outline import outline, parameter_words
from discreet.core.params import OneOf
from discreet.core.registry import AUDITORS, GUARANTEES, METHODS, PROTOCOLS, Role, specs
from discreet.core.spec import Spec

EVERYTHING: dict[str, Spec] = {
    f"{spec.role} {spec.name}": spec
    for known in (METHODS, GUARANTEES, AUDITORS, PROTOCOLS)
    for spec in known.values()
}
every_spec = pytest.mark.parametrize("spec", EVERYTHING.values(), ids=EVERYTHING)


@every_spec
def test_parameters_are_those_of_the_class(spec: Spec) -> None:
    signature = inspect.signature(spec.load()).parameters
    found = spec.parameters()
    assert list(found) == list(signature)
    for name, parameter in found.items():
        declared = signature[name]
        assert parameter.required == (declared.default is declared.empty), name
        assert parameter.default == _default(spec, name, declared.default), name


def _default(spec: Spec, name: str, default: Any) -> Any:
    """Return a default as the source has it: what a factory makes cannot be read there."""
    made_by_factory = dataclasses.is_dataclass(spec.load()) and name in {
        field.name
        for field in dataclasses.fields(spec.load())
        if field.default_factory is not dataclasses.MISSING
    }
    return None if default is inspect.Parameter.empty or made_by_factory else default


@every_spec
def test_every_parameter_has_words(spec: Spec) -> None:
    assert spec.words
    assert [name for name, parameter in spec.parameters().items() if not parameter.words] == []


@every_spec
def test_choices_are_those_of_the_constraints(spec: Spec) -> None:
    for name, parameter in spec.options().items():
        words = [word for one in parameter.constraints if isinstance(one, OneOf) for word in one.options]
        allowed = [word for word in words if isinstance(word, str)]
        if allowed:
            assert parameter.choices == tuple(allowed), name


def test_every_role_has_entries() -> None:
    for role in get_args(Role):
        assert all(spec.role == role for spec in specs(role).values())
        assert specs(role)


def test_nothing_is_imported_for_it() -> None:
    code = (
        "import sys\nfrom discreet.core.registry import METHODS, GUARANTEES\n"
        "for spec in (*METHODS.values(), *GUARANTEES.values()):\n    spec.options()\n"
        "print([name for name in ('numpy', 'numba', 'pyarrow', 'duckdb') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_class_that_is_not_there_is_named() -> None:
    with pytest.raises(LookupError, match="has no class Nothing"):
        outline("discreet.guarantees.k_anonymity", "Nothing")
    with pytest.raises(LookupError, match="no module discreet"):
        outline("discreet.guarantees.nothing", "Nothing")


def test_words_of_a_docstring_without_parameters() -> None:
    assert parameter_words("Do it.\n\nNotes\n-----\nNothing.") == {}
