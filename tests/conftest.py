"""What every test can ask for: the folder of public data sets, and steady Hypothesis settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("discreet", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("discreet")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets; tests that want it are skipped where it is absent."""
    folder = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the public data sets are not here; set DISCREET_DATA to their folder")
    return folder
