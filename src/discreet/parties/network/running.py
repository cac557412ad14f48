"""Running: one party's half of a session, from its data file to its result folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet import __version__
from discreet.core.errors import DiscreetError, InputError, ParameterError
from discreet.core.release import Release
from discreet.engines.atomic import require_replaceable
from discreet.engines.folders import FolderKind, require_outside
from discreet.engines.writing import write_folder
from discreet.parties.errors import SessionError
from discreet.parties.network.session import PartySession
from discreet.parties.network.transport import open_session
from discreet.parties.transcript import FrameShape, Meter, Transcript

RESULT = FolderKind("result of a party", "transcript.json", lists_files=True)
"""The folder that a run writes."""
_REMEDIES = {
    "header": "a file with the names of the columns in its first line",
    "encoding": "the same file saved as UTF-8",
}
"""What mends a data file, by the parameter that would mend it elsewhere."""


@dataclass(frozen=True)
class Outcome:
    """What one party holds after a run: its output, what the run cost it, and the shapes of its frames."""

    session: PartySession
    name: str
    output: Any
    meter: Meter
    frames: tuple[FrameShape, ...]
    revealed: dict[str, Any] = field(default_factory=dict)
    cautions: tuple[str, ...] = ()

    @property
    def covers(self) -> tuple[str, ...]:
        """The parties whose inputs are in the output."""
        return self.session.protocol.covers(self.output, self.session.names)

    def to_dict(self) -> dict[str, Any]:
        """Return the record of the run as plain data: shapes and costs, no input and no output."""
        protocol = self.session.protocol
        return {
            "discreet": __version__,
            "protocol": protocol.name,
            "party": self.name,
            "parties": list(self.session.names),
            "covers": list(self.covers),
            "cautions": list(self.cautions),
            "session": self.session.digest().hex(),
            "verdict": protocol.verdict(self.session.names).to_dict(),
            "leaks": list(protocol.leaks),
            "revealed": {fact: len(x) if isinstance(x, list) else x for fact, x in self.revealed.items()},
            "meter": self.meter.to_dict(),
            "frames": [[frame.sender, frame.receiver, frame.kind, frame.size] for frame in self.frames],
        }


def find_key(session_file: str | os.PathLike[str], name: str) -> Path:
    """Return the private file of a party: NAME.pem beside the session file, or in the current folder."""
    for folder in (Path(session_file).parent, Path()):
        if (folder / f"{name}.pem").exists():
            return folder / f"{name}.pem"
    raise SessionError(
        f"The private key of party '{name}' was not found: {name}.pem is neither beside the session file "
        "nor in the current folder."
    )


def run_party(
    session: PartySession,
    name: str,
    key: Path,
    data: str | os.PathLike[str] | None,
    *,
    listen: tuple[str, int] | None = None,
) -> Outcome:
    """Read a party's data, run its half of the protocol, and return what it holds then.

    The data is read before any connection is made, so that a mistake in it reaches nobody else.
    """
    session.member(name)
    private = None if data is None else _read_input(session, data)
    try:
        session.protocol.check_input(private, session.names, name)
    except (InputError, ParameterError):
        if data is not None:
            raise
        raise SessionError(
            f"The protocol '{session.protocol.name}' needs the data of party '{name}'; name its file with --data."
        ) from None
    transcript = Transcript(keep_payloads=False, keep_received=True)
    with open_session(session, name, key, listen=listen, transcript=transcript) as party:
        output = session.protocol.run(party, private)
    cautions = session.protocol.cautions_of_run(output, party)
    return Outcome(session, name, output, party.meter, transcript.shapes(), party.revealed, cautions)


def _read_input(session: PartySession, data: str | os.PathLike[str]) -> Any:
    """Return a party's data from its file; a mistake in it has a remedy that a run admits.

    Other commands have options for a file without column names or of another encoding. A run has none: what all parties
    agree on is in the session, and a file is brought into that form.
    """
    try:
        return session.protocol.read_input(data)
    except DiscreetError as error:
        remedies = [remedy for fix, remedy in _REMEDIES.items() if fix in error.fix]
        error.remedy = error.remedy or ", ".join(remedies) or None
        raise


def check_folder(
    folder: str | os.PathLike[str], *inputs: str | os.PathLike[str] | None, overwrite: bool = False
) -> None:
    """Raise an OutputError before the run if its result could not be written afterwards, or not beside its inputs."""
    require_outside(folder, *inputs)
    require_replaceable(folder, RESULT, overwrite=overwrite)


def write_outcome(
    outcome: Outcome,
    folder: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    pages: Mapping[str, str] | None = None,
) -> Path:
    """Write a party's result folder, all or nothing: the files of its output, further pages and transcript.json."""
    results = outcome.session.protocol.result_files(outcome.output)
    contents = {
        name: content.write if isinstance(content, Release) else content for name, content in results.items()
    }
    return write_folder(folder, RESULT, contents | dict(pages or {}), outcome.to_dict(), overwrite=overwrite)


def written_frames(outcome: Outcome) -> Iterator[Any]:
    """Return what a party's result folder holds as tables: releases, and the frames of files of text."""
    for name, content in outcome.session.protocol.result_files(outcome.output).items():
        if not name.endswith(".json"):
            yield _tabular(content)


def _tabular(content: Any) -> Any:
    """Return columns as an Arrow table; tables and releases stay."""
    import pyarrow as pa

    return pa.table(content) if isinstance(content, Mapping) else content
