"""Turns: users take them one after the other, however many questions each of them has waiting."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator


class Turns:
    """A lock of an event loop that goes round among users.

    Whoever has many questions waiting gets one answered, and then those of the other users come. A user's own questions
    are answered in their order. With n users waiting, each has a turn after at most n others.
    """

    def __init__(self) -> None:
        self._user: str | None = None
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """The questions of each user; the user at the front has the next turn."""

    @contextlib.asynccontextmanager
    async def of(self, user: str) -> AsyncIterator[None]:
        """Wait for the user's turn, and end it when the block ends."""
        if self._user is None:
            self._user = user
        else:
            await self._wait(user)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, user: str) -> None:
        question = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(question)
        try:
            await question
        except asyncio.CancelledError:
            if question.cancelled():
                self._forget(user, question)
            else:  # its turn had come already
                self._pass_on()
            raise

    def _forget(self, user: str, question: asyncio.Future[None]) -> None:
        """Take a question that is given up out of the queue."""
        self._waiting[user].remove(question)
        if not self._waiting[user]:
            del self._waiting[user]

    def _pass_on(self) -> None:
        """Let the next user's question begin; the user whose turn it was comes last."""
        if self._user in self._waiting:
            self._waiting[self._user] = self._waiting.pop(self._user)
        self._user = next(iter(self._waiting), None)
        if self._user is None:
            return
        questions = self._waiting[self._user]
        questions.popleft().set_result(None)
        if not questions:
            del self._waiting[self._user]
