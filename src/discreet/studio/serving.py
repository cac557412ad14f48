"""The studio's server: bound to this machine, with a private folder that is removed at the end."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

from discreet.core.errors import InputError
from discreet.engines.atomic import scratch_folder
from discreet.output.audit.service.connections import Admission, Limits, listen
from discreet.studio.guard import OPENING, Guard, Secrets
from discreet.studio.projects import Projects

LOOPBACK = ("127.0.0.1", "localhost")
"""The names by which a browser on this machine reaches the studio."""
_LIMITS = Limits(seconds=600.0, per_address=256, connections=256)
"""A large file takes a while to arrive, and each open page holds a stream."""


class StudioServer:
    """The studio, bound to a port of this machine.

    Parameters
    ----------
    port : int
        The port; 0 takes a free one.
    files : path, optional
        The folder whose files are offered; none are by default.
    keep : path, optional
        The folder for what the studio writes, which stays there; a private one that is removed by default.
    """

    def __init__(self, *, port: int = 0, files: Path | None = None, keep: Path | None = None) -> None:
        import uvicorn

        from discreet.output.audit.service.protocol import TimedProtocol
        from discreet.studio.app import studio_application

        if files is not None and not files.is_dir():
            raise InputError(f"{files} is no folder.")
        self._kept = keep is not None
        self.folder = _private_folder(keep)
        self.secrets = Secrets()
        self.projects = Projects(self.folder, files)
        admission = Admission(_LIMITS)
        self._listeners = listen(LOOPBACK[0], port, admission)
        guarded = Guard(
            studio_application(self.projects, self.secrets.change),
            port=self.port,
            names=LOOPBACK,
            studio_secrets=self.secrets,
        )
        config = uvicorn.Config(
            guarded,
            http=functools.partial(TimedProtocol, admission),  # type: ignore[arg-type]
            ws="none",
            loop="asyncio",
            lifespan="off",
            proxy_headers=False,
            log_level="critical",
            access_log=False,
            server_header=False,
            h11_max_incomplete_event_size=32 * 1024,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self._listeners[0].getsockname()[1])

    @property
    def origin(self) -> str:
        """Where the studio is, without its token."""
        return f"http://{LOOPBACK[0]}:{self.port}"

    @property
    def home(self) -> str:
        """The address of the first page, by which nobody gets in without the cookie; it ends with a slash."""
        return f"{self.origin}{self.secrets.root}/"

    @property
    def address(self) -> str:
        """The opening address, with its token."""
        return f"{self.origin}{OPENING}?token={self.secrets.token}"

    @property
    def address_once(self) -> str:
        """An opening address that works once."""
        return f"{self.origin}{OPENING}?token={self.secrets.once}"

    @property
    def started(self) -> bool:
        """Whether requests are answered."""
        return bool(self._server.started)

    def open_sample(self) -> None:
        """Open the embedded sample once the server runs, so that the first page is about it."""
        self.projects.demo = True

    def run(self) -> None:
        """Serve until the process is stopped, or ``stop`` is called from another thread; then clean up."""
        try:
            self._server.run(sockets=list(self._listeners))
        finally:
            self.projects.close()
            if not self._kept:
                shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self) -> None:
        """Make ``run`` return."""
        self._server.should_exit = True


def _private_folder(keep: Path | None) -> Path:
    """Return a folder that only its owner can open; an existing one must be empty."""
    if keep is None:
        # What a killed studio left there is swept when the next one starts.
        return scratch_folder()
    if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise InputError(f"{keep} is there already; name a new folder, or an empty one.")
    keep.mkdir(parents=True, exist_ok=True)
    keep.chmod(0o700)
    return keep.resolve()
