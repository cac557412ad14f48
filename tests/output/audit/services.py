"""Vaults with a token, and services that are started for a test."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.output.audit import SumAuditor, Vault
from discreet.output.audit.service.connections import Limits
from discreet.output.audit.service.serving import Service
from discreet.output.audit.service.tokens import Tokens

EVERYONE = "SELECT sum(pay) FROM data"


def vault_folder(folder: Path, n: int = 30) -> Path:
    """Make a vault over people of different names, and return its folder."""
    table = pa.table({"name": [f"n{k}" for k in range(n)], "pay": list(range(n))})
    pq.write_table(table, folder / "data.parquet")
    Vault.create(
        folder / "vault",
        folder / "data.parquet",
        sensitive=["pay"],
        public=["name"],
        auditor=SumAuditor(group=2, minimum_set_size=0, low=-100),
    ).close()
    return folder / "vault"


def token_header(folder: Path, user: str = "ann") -> dict[str, str]:
    """Issue a token, and return the header that carries it."""
    return {"Authorization": f"Bearer {Tokens(folder).issue(user)}"}


@contextlib.contextmanager
def served(folder: Path, *, rate: float = 1e6, limits: Limits | None = None) -> Iterator[str]:
    """Serve a vault on a free port of this machine as the command does, and return its address."""
    with Vault.open(folder, wait=10) as vault:
        service = Service(vault, host="127.0.0.1", port=0, rate=rate, limits=limits or Limits())
        thread = threading.Thread(target=service.run)
        thread.start()
        while not service.started:
            assert thread.is_alive()
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{service.port}"
        finally:
            service.stop()
            thread.join()
