"""A studio for the tests of a file, and a client that has opened it; imported where the packages of the studio are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    from tests.studio.servers import running

    with running() as studio:
        yield studio


@pytest.fixture(scope="module")
def client(server: Any) -> Iterator[Any]:
    from tests.studio.servers import client_of

    with client_of(server) as opened:
        yield opened
