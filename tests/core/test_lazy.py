"""Public names: each is listed once, loads from where its stub says, and nothing heavy comes along."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from discreet import errors
from discreet.core import errors as homes

PACKAGES = [
    "discreet",
    "discreet.collect",
    "discreet.guarantees",
    "discreet.job",
    "discreet.measure",
    "discreet.mine",
    "discreet.publish",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_of_a_stub_can_be_loaded(package: str) -> None:
    module = import_module(package)
    lines = Path(str(module.__file__)).with_suffix(".pyi").read_text().splitlines()
    listed = [line.split()[-1] for line in lines if line.startswith("from ")]
    assert sorted(listed) == module.__all__
    assert len(set(listed)) == len(listed)
    for name in listed:
        found = getattr(module, name)
        assert not inspect.ismodule(found)
        assert name in dir(module)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        module.nothing  # noqa: B018


def test_importing_a_package_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        + "".join(f"import {package}\n" for package in PACKAGES if package != "discreet.collect")
        + "print(sorted({'numpy', 'scipy', 'sklearn', 'numba', 'pyarrow', 'duckdb', 'altair'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_every_error_can_be_imported_from_the_top() -> None:
    raised = {
        name for name, one in vars(homes).items() if inspect.isclass(one) and one.__module__ == homes.__name__
    }
    assert raised <= set(vars(errors))
    assert all(getattr(errors, name) is getattr(homes, name) for name in raised)
