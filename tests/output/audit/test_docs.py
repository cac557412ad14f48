"""The worked example of the documentation runs as it stands."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.output.audit import QueryError, SumAuditor, Vault


def test_the_tracker_attack_runs_as_documented() -> None:
    page = Path(__file__).parents[3] / "docs" / "auditing.md"
    found = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 8
    assert found.failed == 0


def test_too_many_groups_are_refused() -> None:
    table = pa.table({"id": np.arange(1500), "pay": np.arange(1500)})
    with (
        Vault.in_memory(table, sensitive=["pay"], public=["id"], auditor=SumAuditor(low=0)) as vault,
        pytest.raises(QueryError, match="1,000 groups"),
    ):
        vault.ask("SELECT id, count(*), sum(pay) FROM data GROUP BY id")
