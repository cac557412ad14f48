"""Turns between users: whoever has many questions waiting does not hold up the others."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from tests.output.audit.services import EVERYONE, served, token_header, vault_folder

from discreet.output.audit.service.turns import Turns
from discreet.output.audit.sums import SumAudit
from discreet.output.audit.vault import Vault

PATIENCE = 120.0  # only a failing test waits this long


async def _in_turn(users: list[str], cancelled: tuple[int, ...] = ()) -> list[int]:
    """Return the order in which questions had their turns that came while the first was answered."""
    turns, order, first = Turns(), [], asyncio.Event()

    async def question(number: int, user: str) -> None:
        async with turns.of(user):
            order.append(number)
            await (first.wait() if number == 0 else asyncio.sleep(0))

    tasks = []
    for number, user in enumerate(users):
        tasks.append(asyncio.create_task(question(number, user)))
        await asyncio.sleep(0)
    for number in cancelled:
        tasks[number].cancel()
    first.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert turns._user is None
    assert not turns._waiting
    return order


def test_users_take_turns() -> None:
    assert asyncio.run(_in_turn(["ann"] * 4)) == [0, 1, 2, 3]
    assert asyncio.run(_in_turn(["ann", "ann", "ann", "ann", "bob", "bob"])) == [0, 4, 1, 5, 2, 3]
    assert asyncio.run(_in_turn(["ann", "ann", "bob", "eve", "ann", "eve"])) == [0, 2, 3, 1, 5, 4]


def test_a_question_that_is_given_up_holds_nobody_up() -> None:
    users = ["ann", "ann", "bob", "ann"]
    for number in range(4):
        order = asyncio.run(_in_turn(users, (number,)))
        assert [one for one in order if one] == [one for one in (2, 1, 3) if one != number]


def test_a_turn_that_came_to_a_question_given_up_is_passed_on() -> None:
    async def run() -> list[str]:
        turns, order = Turns(), []

        async def question(user: str) -> None:
            async with turns.of(user):
                order.append(user)

        async with turns.of("ann"):
            given_up = asyncio.create_task(question("bob"))
            other = asyncio.create_task(question("eve"))
            await asyncio.sleep(0)
        given_up.cancel()  # bob's turn has come, and the task has not gone on yet
        await asyncio.gather(given_up, other, return_exceptions=True)
        return order

    assert asyncio.run(run()) == ["eve"]


@contextlib.contextmanager
def judging(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Make judgments wait; yield what is set when the first begins, and what lets all of them end."""
    decide, begun, end = SumAudit.decide, threading.Event(), threading.Event()

    def waiting(self: SumAudit, question: object) -> object:
        begun.set()
        assert end.wait(PATIENCE)
        return decide(self, question)

    monkeypatch.setattr(SumAudit, "decide", waiting)
    try:
        yield begun, end
    finally:
        end.set()


def _post(url: str, head: dict[str, str], sql: str) -> httpx.Response:
    return httpx.post(f"{url}/ask", json={"sql": sql}, headers=head, timeout=PATIENCE)


def test_counts_and_the_description_do_not_wait_for_a_judgment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = vault_folder(tmp_path)
    ann, bob = token_header(folder), token_header(folder, "bob")
    with served(folder) as url, ThreadPoolExecutor(1) as pool, judging(monkeypatch) as (begun, end):
        long = pool.submit(_post, url, ann, EVERYONE)
        assert begun.wait(PATIENCE)
        count = httpx.post(
            f"{url}/ask", json={"sql": "SELECT count(*) FROM data"}, headers=bob, timeout=PATIENCE / 4
        )
        assert count.json()["rows"] == [[30]]
        about = httpx.get(f"{url}/vault", headers=bob, timeout=PATIENCE / 4)
        assert about.json()["steps"] == {"pay": 1.0}
        refused = httpx.post(
            f"{url}/ask", json={"sql": "SELECT pay FROM data"}, headers=bob, timeout=PATIENCE / 4
        )
        assert refused.status_code == 400
        assert not long.done()
        end.set()
        assert long.result().json()["rows"] == [[435]]
    with Vault.open(folder) as vault:
        assert [asked.user for asked in vault.history()] == ["bob", "ann"], "the log has both, and is whole"


def test_a_queue_of_one_user_does_not_hold_up_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = vault_folder(tmp_path)
    heads = {user: token_header(folder, user) for user in ("ann", "bob")}
    arrived, wait = threading.Semaphore(0), Turns._wait

    async def noticed(self: Turns, user: str) -> None:
        arrived.release()
        await wait(self, user)

    monkeypatch.setattr(Turns, "_wait", noticed)
    with served(folder) as url, ThreadPoolExecutor(8) as pool, judging(monkeypatch) as (begun, end):
        replies: list[Future[httpx.Response]] = [pool.submit(_post, url, heads["ann"], EVERYONE)]
        assert begun.wait(PATIENCE)
        for user in ["ann"] * 5 + ["bob"]:
            replies.append(pool.submit(_post, url, heads[user], EVERYONE))
            assert arrived.acquire(timeout=PATIENCE)
        end.set()
        assert all(reply.result().status_code == 200 for reply in replies)
    with Vault.open(folder) as vault:
        assert [asked.user for asked in vault.history()] == ["ann", "bob", *["ann"] * 5]
