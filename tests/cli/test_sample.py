"""The samples that README and docs read."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from discreet.core.errors import ParameterError
from discreet.datasets.samples import SAMPLES, write_sample


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_said_next_works(invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    plain = json.loads(invoke("sample", name, "--json").stdout)
    first = Path(plain["file"]).read_bytes()
    refused = invoke("sample", name)
    assert refused.exit_code == 7
    assert "--overwrite" in refused.stderr
    assert invoke("sample", name, "--overwrite").exit_code == 0
    assert Path(plain["file"]).read_bytes() == first
    result = invoke(*shlex.split(plain["next"])[1:])
    assert result.exit_code == 0, result.output


def test_an_unknown_sample_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="'patients', 'people', 'staff', 'baskets'"):
        write_sample("towns", tmp_path)
