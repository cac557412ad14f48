"""What every test can ask for: the folder of public data sets, steady Hypothesis settings, and valid charts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from discreet.report import theme

settings.register_profile("discreet", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("discreet")


_SLOW_FOLDERS = frozenset(("docs", "examples", "experiments"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what runs whole pages, scripts and experiments, and what reads the public data sets."""
    tests = Path(__file__).parent
    for item in items:
        inside = item.path.relative_to(tests).parts[:1] if item.path.is_relative_to(tests) else ()
        if _SLOW_FOLDERS.intersection(inside) or "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets; tests that want it are skipped where it is absent."""
    folder = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the public data sets are not here; set DISCREET_DATA to their folder")
    return folder


@pytest.fixture(scope="session", autouse=True)
def charts_are_valid() -> Iterator[None]:
    """Check every chart that a test draws against the schema of Vega-Lite; reports leave this out, to be fast."""
    specification = theme.specification

    def checked(chart: Any) -> dict[str, Any]:
        chart.to_dict(validate=True)
        return specification(chart)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theme, "specification", checked)
        yield
