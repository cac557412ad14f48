"""Common check over every auditor: whatever a client sends to the service, it gets JSON, and never a failure of ours.

Bodies are valid questions with hostile parts, and valid bodies with bytes changed; all draws are seeded.
"""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import json
import random
from collections import Counter
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.core.registry import AUDITORS
from discreet.output.audit import Vault
from discreet.output.audit.service.serving import application
from discreet.output.audit.service.tokens import Tokens
from tests.output.audit.hostile import HOSTILE

PLANTED = "planted-cell"
N_BODIES = 150
SAMPLE_PARAMETERS = {"low": 0.0, "high": 1000.0, "width": 50.0, "epsilon": 1e6, "order": "age"}
NUMBERS = [
    "1", "-1", "0", "30", "1e999999999", "-1e999999999", "1e-999999999", "0e999999999", "1e999999999999999999999",
    "9" * 5000, "0." + "9" * 5000, "9223372036854775807", "9223372036854775808", "1e308", "1e18", "5e-324", "1_0",
    "0x10", "NaN", "Infinity", "inf", "- - 1", "+1", "1e", ".", "1.", "NULL", "TRUE", "1/0", "(1)",
]  # fmt: skip
TEXTS = [
    "''",
    "'a'",
    "'\ud800'",
    "'\udfff\ud800'",
    "'\x00'",
    "'\U0001f600'",
    "''''",
    "'" + "x" * 5000 + "'",
    '"',
    "'",
]
DATES = [
    "'2020-02-29'",
    "'2021-02-29'",
    "'9999-12-31'",
    "'0001-01-01'",
    "'10000-01-01'",
    "'infinity'",
    "'-1'",
    "'now'",
]
CONSTANTS = {"age": NUMBERS, "dept": TEXTS, "hired": DATES, "active": ["TRUE", "FALSE", "'t'", "1", "NULL"]}
NAMES = ["\ud800", "\udc00x", "", " ", "x" * 201, "\x00", "e\u0301", "\u202e", "count(*)", '"']
EPSILONS = [
    None, 1, 0, -1, 1e-320, 1e308, 10**300, 10**5000, True, "1", "\ud800", [], {}, [[[]]], float("nan"), float("inf"),
]  # fmt: skip


def people(n: int = 40) -> pa.Table:
    rng = np.random.default_rng(11)
    ages = [float(age) for age in rng.integers(20, 60, n)]
    ages[:4] = [float("inf"), float("-inf"), float("nan"), 1e308]
    depts = [("a", "b", "\U0001f600", PLANTED)[k] for k in rng.integers(0, 4, n)]
    hired = [dt.date(9999, 12, 31), dt.date(1, 1, 1), None, *(dt.date(2020, 2, 29) for _ in range(n - 3))]
    active = [None if k == 2 else bool(k) for k in rng.integers(0, 3, n)]
    return pa.table(
        {"age": ages, "dept": depts, "hired": hired, "active": active, "pay": rng.integers(0, 1000, n)}
        | {"ill": rng.integers(0, 2, n)}
    )


def vault_of(name: str, folder: Path) -> tuple[Path, str]:
    """Make a vault with an auditor of the registry, and return its folder and its sensitive column."""
    kind = AUDITORS[name].load()
    # Bounds are declared wherever an auditor takes them: it refuses a column that has none below zero otherwise.
    parameters = {
        field.name: SAMPLE_PARAMETERS[field.name]
        for field in dataclasses.fields(kind)
        if field.default is dataclasses.MISSING or field.name in ("low", "high")
    }
    table, column = people(), "ill" if name == "boolean" else "pay"
    if name == "boolean":  # the column that orders the records has a value in each of them
        table = table.set_column(0, "age", pa.array([float(k) for k in range(table.num_rows)]))
    pq.write_table(table, folder / "data.parquet")
    Vault.create(
        folder / "vault",
        folder / "data.parquet",
        sensitive=[column],
        public=["age", "dept", "hired", "active"],
        auditor=kind(**parameters),
    ).close()
    return folder / "vault", column


def statement(rng: random.Random, column: str, functions: list[str]) -> str:
    """Return a statement of the language with hostile parts at some of its places."""
    name = rng.choice(list(CONSTANTS))
    condition = f"{name} {rng.choice(['=', '<>', '<', '>='])} {rng.choice(CONSTANTS[name])}"
    if rng.random() < 0.2:
        before = rng.choice(["(", "NOT " * 30, "NOT " * 2000, "(" * 50, "(" * 3000, f"{name} IN (1, ", "- "])
        condition = before + condition + rng.choice(["", ")", ")" * before.count("(")])
    keys = rng.choice(["", "", "", "age", "dept", "hired", "active", "age, dept, hired, active", column])
    output = rng.choice(
        ["count(*)", f"count({column})", *(f"{function}({column})" for function in functions)]
    )
    alias = f' AS "{rng.choice(NAMES)}"' if rng.random() < 0.2 else ""
    where = rng.choice(["", f" WHERE {condition}", f" WHERE {condition} AND {condition} OR dept = 'a'"])
    group, shown = (f" GROUP BY {keys}", f"{keys}, ") if keys else ("", "")
    return f"SELECT {shown}{output}{alias} FROM data{where}{group}"


def bodies(rng: random.Random, column: str, functions: list[str]) -> list[bytes]:
    """Return bodies to send: questions, hostile statements, and such with their bytes changed."""
    bodies = []
    for number in range(N_BODIES):
        sql = rng.choice(HOSTILE) if number % 7 == 0 else statement(rng, column, functions)
        plain: dict[str, object] = {"sql": sql}
        if rng.random() < 0.2:
            plain["epsilon"] = rng.choice(EPSILONS)
        body = bytearray(written(plain))
        if number % 4 == 0:
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(body))
                body[at : at + rng.choice([0, 1, 1, 9])] = rng.randbytes(rng.choice([0, 1, 1, 3]))
        bodies.append(bytes(body))
    depth = [
        b'{"sql":' * 9000,
        b"[" * 60_000,
        b'{"sql": "x", "epsilon": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    ]
    return (
        bodies
        + depth
        + [b"", b"\x00", b"\xff", b"\xef\xbb\xbf{}", b"1", b"null", b'{"sql": null}', b"{}" * 40_000]
    )


def written(plain: dict[str, object]) -> bytes:
    """Return JSON of any number of digits, which Python itself does not write."""
    epsilon = plain.get("epsilon")
    if isinstance(epsilon, int) and epsilon > 10**4000:
        return json.dumps(plain | {"epsilon": 0})[:-2].encode() + b"1" + b"0" * 5000 + b"}"
    return json.dumps(plain).encode()


async def replies(app: object, head: dict[str, str], sent: list[bytes]) -> list[httpx.Response]:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=head) as client:
        return [await client.post("/ask", content=body) for body in sent]


@pytest.mark.parametrize("name", AUDITORS)
def test_every_body_is_answered_or_refused_in_words(name: str, tmp_path: Path) -> None:
    folder, column = vault_of(name, tmp_path)
    head = {"Authorization": f"Bearer {Tokens(folder).issue('ann')}"}
    with Vault.open(folder) as vault:
        sent = bodies(random.Random(f"service {name}"), column, sorted(vault.auditor.aggregates))
        received = asyncio.run(replies(application(vault, rate=1e9), head, sent))
        n_committed = len(vault.history())
    statuses = Counter(reply.status_code for reply in received)
    assert set(statuses) == {200, 400, 413}, statuses
    assert statuses[200] > N_BODIES / 10
    for reply in received:
        plain = json.loads(reply.content.decode("utf-8"), parse_constant=pytest.fail)
        if reply.status_code == 200:
            assert plain["denied"] in (True, False)
        else:
            assert set(plain) == {"error"}
            assert PLANTED not in plain["error"]
            assert "cannot use what it was given" not in plain["error"], (
                "no exception of a library gets that far"
            )
    assert n_committed == statuses[200], "a question in the log was answered or denied, and no other is there"
    with Vault.open(folder) as vault:
        assert len(vault.history()) == n_committed


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "X"])
def test_every_path_and_method_gets_json(method: str, tmp_path: Path) -> None:
    folder, _ = vault_of("sum", tmp_path)
    head = {"Authorization": f"Bearer {Tokens(folder).issue('ann')}", "Host": "elsewhere.example"}
    paths = [
        "/ask",
        "/ask/",
        "/vault",
        "/vault/",
        "/%2e%2e/vault",
        "/vault?a=b",
        "/tokens.json",
        "/\u00e9",
        "/*",
    ]

    async def asked(app: object) -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=head) as client:
            return [await client.request(method, path) for path in paths]

    with Vault.open(folder) as vault:
        for reply in asyncio.run(asked(application(vault))):
            assert reply.status_code in (200, 400, 404, 405)
            assert reply.headers["content-type"] == "application/json"
            assert "location" not in reply.headers
            assert method == "HEAD" or reply.json()
