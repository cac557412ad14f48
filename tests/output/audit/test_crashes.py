"""Killed anywhere: what was answered is in the log, and what comes back has the same state."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.oracles import audit as oracles_audit
from tests.output.audit.crashing import POINTS, armed

from discreet.core.errors import InputError, OutputError
from discreet.output.audit import LogError, PrivateAnswers, SumAuditor, Vault
from discreet.output.audit.auditor import Auditor
from discreet.output.audit.config import Config
from discreet.output.audit.log import Log

pytestmark = pytest.mark.skipif(
    not hasattr(__import__("os"), "fork"), reason="processes are forked as POSIX has it"
)

N = 12
NAMES = [f"n{place}" for place in range(N)]
PAYS = [100 * place + 7 for place in range(N)]
_RNG = np.random.default_rng(4)
SQLS = [
    f"SELECT sum(pay) FROM data WHERE name IN ({', '.join(repr(NAMES[at]) for at in sorted(chosen))})"
    for chosen in (_RNG.choice(N, int(_RNG.integers(2, N)), replace=False) for _ in range(40))
]


def made(tmp_path: Path, auditor: Auditor) -> Path:
    pq.write_table(pa.table({"name": NAMES, "pay": PAYS}), tmp_path / "data.parquet")
    Vault.create(
        tmp_path / "vault", tmp_path / "data.parquet", sensitive=["pay"], public=["name"], auditor=auditor
    ).close()
    return tmp_path / "vault"


def crash(
    folder: Path, runs: list[dict[str, object]], delay: tuple[float, float] = (0, 0)
) -> list[list[object]]:
    plan = {"vault": str(folder), "sqls": SQLS, "runs": runs, "delay": delay, "seed": 9}
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "crashing.py")],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return json.loads(ran.stdout.splitlines()[-1])


def members(sql: str) -> list[int]:
    return [int(f"'{name}'" in sql) for name in NAMES]


def judge(folder: Path, answers: list[list[object]]) -> None:
    """Every answer is known to the log; the log discloses nobody; the state is that of the logged questions."""
    with Vault.open(folder) as vault:
        history = vault.history()
        logged = {one.sql for one in history if one.answered}
        for sql, answer in answers:
            assert any(one.sql == sql for one in history)
            if answer is not None:
                assert sql in logged
                assert answer == sum(pay for pay, inside in zip(PAYS, members(sql), strict=True) if inside)
        assert not oracles_audit.determined([members(sql) for sql in logged] or [[0] * N])
        rank = vault._session._audit("", "pay").state.space.rank
        assert rank == len(oracles_audit.echelon([members(sql) for sql in logged] or [[0] * N]))
        assert vault.verdict.ok


def test_killed_at_every_point(tmp_path: Path) -> None:
    folder = made(tmp_path, SumAuditor(group=2, minimum_set_size=0, low=0))
    points = [point for point in POINTS if "noise" not in point]
    runs = [{"point": point, "calls": calls} for point in points for calls in (0, 3)]
    results = crash(folder, runs)
    assert all(killed for killed, _ in results)
    assert sum(len(answers) for _, answers in results) > 20
    judge(folder, [one for _, answers in results for one in answers])


def test_a_private_answer_is_charged_once_and_never_forgotten(tmp_path: Path) -> None:
    folder = made(tmp_path, PrivateAnswers(epsilon=100, low=0, high=2000, per_question=1))
    points = [
        "before the commit",
        "after the commit",
        "before drawing noise",
        "after drawing noise",
        "after answering",
    ]
    results = crash(folder, [{"point": point, "calls": 2} for point in points])
    assert all(killed for killed, _ in results)
    told = dict(one for _, answers in results for one in answers)
    with Vault.open(folder) as vault:
        asked = {one.sql for one in vault.history()}
        assert vault.epsilon_left == 100 - len(asked)
        for sql, answer in told.items():
            assert vault.ask(sql).value == answer
        assert vault.epsilon_left == 100 - len(asked)


def test_killed_at_any_time(tmp_path: Path) -> None:
    folder = made(tmp_path, SumAuditor(group=2, minimum_set_size=0, low=0))
    results = crash(folder, [{"point": None, "calls": run % 4} for run in range(100)], (0.0, 0.06))
    answers = [one for _, some in results for one in some]
    assert sum(killed for killed, _ in results) >= 50
    assert answers
    judge(folder, answers)


@pytest.mark.parametrize("point", ["before", "after"])
@pytest.mark.parametrize("what", [(Config, "write"), (Log, "create"), (Log, "append")])
def test_killed_while_it_is_made(tmp_path: Path, what: tuple[type, str], point: str) -> None:
    """Nothing is there under the vault's name, and the next attempt clears up and succeeds."""
    pid = os.fork()
    if not pid:
        owner, name = what
        setattr(owner, name, armed(getattr(owner, name), point == "before", [0]))
        made(tmp_path, SumAuditor(low=0))
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(pid, 0)[1])
    assert not (tmp_path / "vault").exists()
    with Vault.open(made(tmp_path, SumAuditor(low=0))) as vault:
        assert vault.ask("SELECT sum(pay) FROM data")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.parquet", "vault"]


def test_a_vault_that_was_never_finished_says_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    with pytest.raises(InputError, match="not a vault"):
        Vault.open(folder)
    Config.of(["pay"], ["name"], SumAuditor(low=0), "refuse", True).write(folder)
    with pytest.raises(LogError, match="is not there"):
        Vault.open(folder)
    Log.create(folder / "log.sqlite").close()
    with pytest.raises(LogError, match="Remove the folder, and make the vault again"):
        Vault.open(folder)
    with pytest.raises(OutputError, match="is there already"):
        made(tmp_path, SumAuditor(low=0))
