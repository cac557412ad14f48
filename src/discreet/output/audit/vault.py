"""Vault: data behind a gate and an auditor, with a log that is written before anything is answered."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.engine import arrow_table
from discreet.core.errors import OutputError, ParameterError, SchemaError
from discreet.core.params import InstanceOf, require
from discreet.core.verdict import Verdict
from discreet.engines.atomic import atomic_folder, try_lock
from discreet.engines.folders import FolderKind
from discreet.guarantees.constructed import ConstructedGuarantee
from discreet.output.audit.auditor import Answer, Auditor, DataChangedError, Denied, LogError, VaultInUseError
from discreet.output.audit.config import CONFIG, Config, auditor_from_dict
from discreet.output.audit.gate.columns import Nulls
from discreet.output.audit.holdings import (
    Holdings,
    Layout,
    first_version,
    loaded,
    next_version,
    require_unique,
)
from discreet.output.audit.log import Entry, Log, now
from discreet.output.audit.session import Session, is_judged
from discreet.output.audit.source import data_fingerprint, fetch

_LOG, _LOCK = "log.sqlite", "lock"
_KIND = FolderKind("vault", CONFIG, private=True)


@dataclass(frozen=True)
class Asked:
    """One question of the log, without any answer."""

    number: int
    time: str
    user: str
    sql: str
    answered: bool
    reason: str | None
    epsilon: float | None


@public
class Vault:
    """Data that answers aggregate queries until an answer could disclose a value.

    ``create`` makes a vault for a file, a folder of Parquet files or a table of a DuckDB file; ``open`` opens it;
    ``in_memory`` takes a frame and keeps the log in memory alone.

    Examples
    --------
    >>> from discreet.output.audit import SumAuditor
    >>> names = ["ann", "bob", "eve", "joe", "kim", "lea"]
    >>> staff = pa.table({"name": names, "salary": [10, 20, 30, 40, 50, 60]})
    >>> auditor = SumAuditor(low=0)
    >>> with Vault.in_memory(staff, sensitive=["salary"], public=["name"], auditor=auditor) as vault:
    ...     vault.ask("SELECT sum(salary) FROM data").value
    ...     vault.ask("SELECT sum(salary) FROM data WHERE name <> 'eve'")
    210
    Denied(reason='the answer, together with earlier ones, could disclose a value')
    """

    def __init__(self, config: Config, auditor: Auditor, log: Log, folder: Path | None) -> None:
        self.config, self.auditor, self.folder = config, auditor, folder
        self._log, self._lock = log, threading.RLock()
        self._descriptor: int | None = None
        self._session: Session | None = None
        self._data: tuple[Path, Holdings] | None = None

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        data: str | os.PathLike[str],
        *,
        sensitive: Sequence[str],
        public: Sequence[str],
        auditor: Auditor,
        nulls: Nulls = "refuse",
        pooled: bool = True,
        key: str | None = None,
        table: str | None = None,
    ) -> Vault:
        """Make a vault in a new folder, and open it.

        Parameters
        ----------
        path : path
            The folder to make.
        data : path
            The data: a file, a folder of Parquet files, or a DuckDB file. It stays where it is, and must not change.
        sensitive : sequence of str
            The columns that may be added up, averaged, counted or compared, never selected: numbers.
        public : sequence of str
            The columns for WHERE and GROUP BY. They count as known to everyone.
        auditor : Auditor
            What decides, such as ``SumAuditor(low=0)``.
        nulls : {"refuse", "public"}
            Whether sensitive columns may have missing values. "public" says that it is no secret whose are missing.
        pooled : bool
            Whether all users share one history, since they may collude; otherwise each has their own.
        key : str, optional
            A column that names each person once; needed to update the data later.
        table : str, optional
            The table of a DuckDB file.
        """
        require("Vault", "auditor", auditor, InstanceOf((Auditor,), "an auditor such as SumAuditor()"))
        config = Config.of(sensitive, public, auditor, nulls, pooled, key, table)
        source, folder = Path(data).resolve(), Path(path)
        _require_new(folder)
        # Before the data is read, so that a change in between is noticed when the vault is opened.
        digest = data_fingerprint(source)
        fetched = fetch(source, config.columns, table=table)
        holdings = _first(fetched, config, auditor)
        with atomic_folder(folder, _KIND) as temporary:
            config.write(temporary)
            first = cls(config, auditor, Log.create(temporary / _LOG), temporary)
            first._write_data(source, holdings, digest)
            first.close()
        # Opened again in its place: until here a crash leaves no folder of this name.
        vault = cls(config, auditor, Log.open(folder / _LOG), folder)
        try:
            vault._take_lock(0)
            vault._log.verify()
            vault._start(source, holdings)
        except BaseException:
            vault.close()
            raise
        return vault

    @classmethod
    def in_memory(
        cls,
        frame: Any,
        *,
        sensitive: Sequence[str],
        public: Sequence[str],
        auditor: Auditor | None = None,
        nulls: Nulls = "refuse",
        pooled: bool = True,
    ) -> Vault:
        """Return a vault over a frame whose log ends with the process; for notebooks and trials."""
        from discreet.output.audit.sums import SumAuditor

        chosen = auditor or SumAuditor()
        config = Config.of(sensitive, public, chosen, nulls, pooled)
        fetched = arrow_table(frame)
        missing = [name for name in config.columns if name not in fetched.column_names]
        if missing:
            raise SchemaError(f"The frame has no column {', '.join(map(repr, missing))}.")
        vault = cls(config, chosen, Log.create(None), None)
        vault._begin(Path(), _first(fetched, config, chosen), "")
        return vault

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, wait: float = 0.0) -> Vault:
        """Open a vault: check its data and its log, and bring the auditor to where it was.

        Parameters
        ----------
        path : path
            The vault's folder.
        wait : float
            How many seconds to wait while another process has it open.
        """
        folder = Path(path)
        config = Config.read(folder)
        vault = cls(config, auditor_from_dict(config.auditor), Log.open(folder / _LOG), folder)
        try:
            vault._take_lock(wait)
            vault._replay()
        except BaseException:
            vault.close()
            raise
        return vault

    def ask(self, sql: str, *, user: str = "", epsilon: float | None = None) -> Answer | Denied:
        """Answer a query, or deny it.

        Parameters
        ----------
        sql : str
            ``SELECT`` of ``COUNT``, ``SUM``, ``AVG``, ``MIN``, ``MAX`` from ``data``, with ``WHERE`` and ``GROUP BY``
            over public columns. Other statements raise QueryError.
        user : str
            The name of the user.
        epsilon : float, optional
            With ``PrivateAnswers``, how much of the privacy budget to spend.
        """
        require("ask", "user", user, InstanceOf((str,), "a name"))
        statement = self._running().read(sql)
        if not is_judged(statement):
            # Statements that only count wait for the log and the
            # engine, not for a question that is being judged.
            with self._running().gate:
                return self._running().count(sql, statement, user=user)
        with self._lock:
            return self._running().ask(sql, statement, user=user, epsilon=epsilon)

    def judges(self, sql: str) -> bool:
        """Whether a statement waits until those before it are judged; those that only count do not."""
        return is_judged(self._running().read(sql))

    def history(self) -> list[Asked]:
        """Return every question of the log, checking its chain."""
        with self._lock, self._running().gate:
            return [asked_of(entry) for entry in self._log.entries() if entry.kind == "query"]

    @property
    def verdict(self) -> Verdict:
        """Whether the log keeps the auditor's guarantee, recomputed from the answered query sets or their costs."""
        answered: Any = self  # a query log, which guarantees of vaults judge in place of classes
        return self.guarantee.check(answered)

    @property
    def guarantee(self) -> ConstructedGuarantee:
        """What the auditor guarantees of all answers together."""
        return self.auditor.guarantee(self.config.sensitive)

    @property
    def condition(self) -> str | None:
        """What is assumed of the users where each has a history apart; None where all share one."""
        return None if self.config.pooled else "users do not pool their answers"

    @property
    def promise(self) -> str:
        """The guarantee in plain sentences, with what it assumes."""
        apart = "This holds for the answers to each user alone; users who pool theirs may learn more."
        return self.guarantee.describe() + ("" if self.config.pooled else f" {apart}")

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the owner should know: of the parameters, and of users who pool their answers, if each has a history."""
        if self.config.pooled:
            return self.auditor.cautions
        if self.epsilon_left is not None:
            joint = f"together they have cost an epsilon of {self.joint_privacy_loss()[0]:.6g} so far."
            return (*self.auditor.cautions, f"The costs of users who pool their answers add up: {joint}")
        counts = [
            f"{settled:,} of {n:,} values of {name}"
            for name, (settled, n) in self.joint_disclosures().items()
            if settled
        ]
        joint = f"up to {' and '.join(counts)}" if counts else "no value"
        return (
            *self.auditor.cautions,
            f"Users who pool their answers may learn values: all answers together determine {joint} so far.",
        )

    @property
    def epsilon_left(self) -> float | None:
        """The privacy budget that remains, where the auditor has one; with histories apart, to who has least left."""
        return self._running().least_epsilon_left()

    def epsilon_left_to(self, user: str) -> float | None:
        """Return the privacy budget that remains to a user, where the auditor has one."""
        return self._running().epsilon_left(user)

    def disclosures(self) -> dict[str, tuple[int, int]]:
        """Return for each sensitive column how many values the log settles, and how many there are.

        With histories apart, the user for whom most are settled counts.
        """
        with self._lock:
            return self._running().disclosures()

    def joint_disclosures(self) -> dict[str, tuple[int, int]]:
        """Return the same for the answers to all users together, whatever the histories.

        Where neither a disclosure nor its absence is proved, the values count as settled.
        """
        with self._lock:
            session = self._running()
            with session.gate:
                entries = list(self._log.entries())
            return session.joint_disclosures(entries)

    def privacy_loss(self) -> tuple[float, float]:
        """Return the epsilon and the delta that the answers have cost; refused where answers are exact.

        With histories apart, the user who spent most counts.
        """
        with self._lock:
            return self._running().privacy_loss()

    def joint_privacy_loss(self) -> tuple[float, float]:
        """Return the same for the answers to all users together, whatever the histories."""
        with self._lock:
            return self._running().joint_privacy_loss()

    @property
    def source(self) -> Path | None:
        """The file or folder with the data; None where the vault is in memory or closed."""
        return None if self._data is None or self.folder is None else self._data[0]

    @property
    def steps(self) -> dict[str, Fraction | None]:
        """The step of each sensitive column that decisions rest on and users may know; None where there is none."""
        return {
            name: None if column.floating or not self.auditor.exact else column.unit
            for name, column in self.holdings.secret.items()
        }

    @property
    def holdings(self) -> Holdings:
        """The data in memory."""
        if self._data is None:
            raise ParameterError("The vault is closed.")
        return self._data[1]

    def update(self, data: str | os.PathLike[str]) -> None:
        """Move to changed data, so that old answers keep counting; the old data must still be there.

        Records whose key and value are the same stay the same; a changed value is a new one, and the old one stays
        protected. Which values changed counts as known.
        """
        if self.config.key is None or not self.auditor.follows_updates or self.folder is None:
            raise ParameterError(
                "This vault cannot follow updates; that needs a key column and the sum auditor. "
                "Make a new vault only if no one has the answers of this one."
            )
        with self._lock:
            path, holdings = self._data or (Path(), self.holdings)
            needed, table = self.config.columns, self.config.table
            source = Path(data).resolve()
            digest = data_fingerprint(source)
            after = next_version(
                holdings,
                fetch(path, needed, table=table),
                fetch(source, needed, table=table),
                self.config.public,
                self.config.sensitive,
                key=self.config.key,
                nulls=self.config.nulls,
                step=self.config.step,
            )
            _require_fit(after, self.auditor)
            session = self._running()
            with session.gate:
                # In the log before it is in use, so that after a crash
                # no answer is from a version that the log lacks.
                self._write_data(source, after, digest)
                session.carry(after)
                self._data = (source, after)

    def trial(self, auditor: Auditor | None = None) -> Vault:
        """Return a vault over the same data with an empty history in memory, to be attacked without consequences."""
        chosen = auditor or self.auditor
        vault = Vault(self.config, chosen, Log.create(None), None)
        vault._begin(Path(), self.holdings, "")
        return vault

    def close(self) -> None:
        """Close the vault."""
        with self._lock, contextlib.nullcontext() if self._session is None else self._session.gate:
            if self._session is not None:
                self._session.close()
            self._session = self._data = None
            self._log.close()
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def __enter__(self) -> Vault:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Vault({str(self.folder) if self.folder else 'in memory'}, {self.auditor})"

    def _running(self) -> Session:
        if self._session is None:
            raise ParameterError("The vault is closed.")
        return self._session

    def _begin(self, source: Path, holdings: Holdings, digest: str) -> None:
        self._write_data(source, holdings, digest)
        self._start(source, holdings)

    def _start(self, source: Path, holdings: Holdings) -> Session:
        self._data = (source, holdings)
        self._session = Session(
            holdings, self.auditor, self._log, pooled=self.config.pooled, timeout=self.config.timeout
        )
        return self._session

    def _write_data(self, source: Path, holdings: Holdings, digest: str) -> None:
        body = {
            "data": str(source),
            "fingerprint": digest,
            "config": self.config.digest,
            "records": holdings.n_records,
            "elements": holdings.n_elements,
            "time": now(),
        }
        self._log.append("data", body, holdings.layout.pack())

    def _replay(self) -> None:
        """Rebuild the state from the log, and finish what a crash left between a decision and its answer."""
        entries = list(self._log.entries())
        versions = [entry for entry in entries if entry.kind == "data"]
        if not entries:
            raise LogError(
                f"{self.folder} was not made to the end: its log holds no entry. "
                "Remove the folder, and make the vault again."
            )
        if entries[0].kind != "data":
            raise LogError("The log does not begin with the data it is about.")
        if any(entry.body.get("config") != self.config.digest for entry in versions):
            raise LogError(f"{CONFIG} is not the one the log was begun with.")
        latest = versions[-1].body
        source = Path(latest["data"])
        # The answers of the log are about this data. Those about other data could be subtracted from them.
        if data_fingerprint(source) != latest["fingerprint"]:
            raise DataChangedError(
                f"{source} changed since the vault was made. Restore it, or move the vault to the new data "
                "with an update while the old file is there."
            )
        fetched = fetch(source, self.config.columns, table=self.config.table)
        holdings = loaded(
            fetched,
            Layout.unpack(versions[-1].sets),
            self.config.public,
            self.config.sensitive,
            nulls=self.config.nulls,
            step=self.config.step,
        )
        with _as_log_error():
            self._start(source, holdings).replay(entries)

    def _take_lock(self, wait: float) -> None:
        """Take the vault for this process alone."""
        if self.folder is None:
            return
        lock = self.folder / _LOCK
        lock.touch(0o600)
        limit = time.monotonic() + wait
        while (descriptor := try_lock(lock)) is None:
            if time.monotonic() >= limit:
                raise VaultInUseError(f"{self.folder} is open in another process.")
            time.sleep(0.02)
        self._descriptor = descriptor


def asked_of(entry: Entry) -> Asked:
    """Return the question of a query entry of the log."""
    body = entry.body
    return Asked(
        entry.number,
        body["time"],
        body["user"],
        body["sql"],
        body["reason"] is None,
        body["reason"],
        body.get("epsilon"),
    )


def _require_new(folder: Path) -> None:
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise OutputError(f"{folder} is there already; a vault is made in a new folder.")


def _first(fetched: pa.Table, config: Config, auditor: Auditor) -> Holdings:
    if config.key is not None:
        require_unique(fetched, config.key)
    holdings = first_version(fetched, config.public, config.sensitive, nulls=config.nulls, step=config.step)
    _require_fit(holdings, auditor)
    return holdings


def _require_fit(holdings: Holdings, auditor: Auditor) -> None:
    for name, column in holdings.secret.items():
        auditor.require_fit(name, column, holdings.public)


@contextlib.contextmanager
def _as_log_error() -> Iterator[None]:
    try:
        yield
    except (KeyError, ValueError, TypeError, IndexError):
        raise LogError("The log holds an entry that cannot be replayed; the vault answers nothing.") from None
