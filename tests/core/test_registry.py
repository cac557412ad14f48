"""The registry: what it says of a method is true, and the documentation says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from discreet.core.registry import METHODS, Method, methods
from discreet.guarantees.registry import guarantee_classes

DOCS = Path(__file__).parents[2] / "docs" / "methods.md"


def table(role: str) -> str:
    """Write the methods of a role as a table of the documentation."""
    lines = ["| name | class | takes | keeps | what it does |", "|---|---|---|---|---|"]
    for method in methods(role=role):  # type: ignore[arg-type]
        takes = " or ".join(method.takes)
        lines.append(
            f"| `{method.name}` | `{method.class_name}` | {takes} | {_kept(method)} | {method.summary} |"
        )
    return "\n".join(lines)


def _kept(method: Method) -> str:
    if method.keeping == ("classes",):
        return "any guarantee about classes"
    return (", " if not method.joins else " & ").join(f"`{name}`" for name in method.guarantees) or "—"


@pytest.mark.parametrize("role", ["publisher", "collector", "miner", "hider"])
def test_the_documentation_lists_every_method_as_the_registry_does(role: str) -> None:
    found = re.search(f"<!-- {role}s -->\n(.*?)\n<!-- end -->", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    assert found[1].strip() == table(role)


def test_the_documentation_of_the_command_line_has_every_option_of_a_method() -> None:
    page = DOCS.with_name("command-line.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \|[^|]*\| (.*--.*) \|$", page, re.MULTILINE)
    assert len(rows) == 11
    for name, cell in rows:
        method = METHODS[name]
        shown = set(re.findall(r"--[a-z-]+", cell))
        known = {f"--{alias.replace('_', '-')}" for alias in method.aliases} | {"--item-hierarchy"}
        for parameter, entry in method.options().items():
            flag = method.flag(parameter)
            pair = {*flag.split("/"), f"--no-{flag[2:]}"} if entry.shape == "bool" else {flag}
            known |= pair
            assert shown & pair or parameter == "weights", f"{name} {flag}"
        assert shown <= known


def test_guarantees_are_named_as_their_classes() -> None:
    for method in METHODS.values():
        assert set(method.guarantees) <= set(guarantee_classes())


def test_options_leave_out_what_is_supplied() -> None:
    assert list(METHODS["mondrian"].options()) == ["strict", "summary", "weights"]
    assert list(METHODS["cahd"].options()) == ["keep_empty", "alpha", "order", "randomize_groups"]
    assert list(METHODS["apriori"].options()) == ["fan_out"]
    assert list(METHODS["k-variance-sketch"].options()) == ["partition"]
    strict = METHODS["mondrian"].options()["strict"]
    assert (strict.default, strict.required, [str(one) for one in strict.constraints]) == (
        True,
        False,
        ["a bool"],
    )
    assert METHODS["generalization"].options()["levels"].required


def test_what_a_method_keeps() -> None:
    assert METHODS["mondrian"].keeps(["KAnonymity", "TCloseness"])
    assert not METHODS["mondrian"].keeps(["KmAnonymity"])
    assert METHODS["cahd"].keeps(["PrivacyDegree"])
    assert not METHODS["cahd"].keeps(["PrivacyDegree", "PrivacyDegree"])
    assert METHODS["anatomy"].makes_of("table") == "grouped-table"
    assert METHODS["anatomy"].makes_of("baskets") == "baskets"


def test_a_name_may_stand_for_values_of_parameters() -> None:
    assert list(METHODS["exact"].options()) == ["levels", "cells", "objective", "time_limit", "progress"]
    assert list(METHODS["swa"].options()) == ["levels", "cells", "psi", "window"]
    assert list(METHODS["1.a"].options()) == []
    made = METHODS["inline"].make(["a"], min_support=1, time_limit=2)
    assert (made.formulation, made.time_limit) == ("inline", 2)
    assert METHODS["bba"].makes_of("table") == "table"
