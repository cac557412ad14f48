"""The job of one party: its half of a protocol, from its data file to its result folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.boundary import public
from discreet.core.params import BOOL, NONE, Constraints
from discreet.job.verbs import PATH, TEXT, Made, Progress, VerbJob

if TYPE_CHECKING:
    from discreet.parties.network.running import Outcome
    from discreet.parties.network.session import PartySession


@public
@dataclass(frozen=True, kw_only=True)
class PartyJob(VerbJob):
    """Run one party's half of the protocol of a session, and write the common result.

    Parameters
    ----------
    session
        The session file, which all parties hold.
    name
        The party's own name in it.
    key
        Its private file; by default NAME.pem beside the session file or in the current folder.
    listen
        HOST:PORT to listen on instead of the session's address.
    two_parties_see_each_other
        Whether the party agrees that each of two can compute the other's data from the result.

    Examples
    --------
    >>> PartyJob("mine.csv", session="session.toml", name="hospital-a").verb
    'party'
    """

    session: Path
    name: str
    key: Path | None = None
    listen: str | None = None
    two_parties_see_each_other: bool = False

    verb = "party"
    stages = ("Meeting the others", "Writing")
    target_key = "folder"
    path_keys = ("session", "key")
    constraints: ClassVar[Constraints] = {
        "session": PATH,
        "name": TEXT,
        "key": (PATH, NONE),
        "listen": (TEXT, NONE),
        "two_parties_see_each_other": BOOL,
    }

    @classmethod
    def refuse_no_data(cls) -> None:
        """Accept a job without data: some parties bring none, and the protocol refuses those that must."""

    def refuse_targets(self) -> None:
        """Do nothing: `make` looks at the folder once the key is known, which must not lie in it."""

    def make(self, begin: Progress) -> Made:
        """Return what the party holds after the run."""
        from discreet.parties.network import running
        from discreet.parties.network.session import PartySession, parse_address

        session = PartySession.read(
            Path(self.session), two_parties_see_each_other=self.two_parties_see_each_other
        )
        key = Path(self.key or running.find_key(self.session, session.member(self.name).name))
        if self.out is not None:
            running.check_folder(self.out, self.data, key, self.session, overwrite=self.overwrite)
        address = None if self.listen is None else parse_address(self.listen, "of --listen")
        begin("Meeting the others")
        outcome = running.run_party(session, self.name, key, self.data, listen=address)
        verdict = session.protocol.verdict(session.names)
        figures = self._figures(session, outcome)
        return Made(
            "transcript", outcome, figures, self.written(lambda path: self._write(outcome, path)), verdict
        )

    def _figures(self, session: PartySession, outcome: Outcome) -> dict[str, Any]:
        from discreet.core.figures import Caution
        from discreet.measure.spelling import published_cautions
        from discreet.parties.network.running import written_frames

        cautions = [Caution("run", text, public=False) for text in outcome.cautions]
        return {
            "protocol": session.protocol.name,
            "out": None if self.out is None else str(self.out),
            "leaks": list(session.protocol.leaks),
            "covers": list(outcome.covers),
            "cautions": [
                caution.to_dict() for caution in (*cautions, *published_cautions(*written_frames(outcome)))
            ],
            "meter": outcome.meter.to_dict(),
        }

    def _write(self, outcome: Outcome, folder: Path) -> None:
        from discreet.parties.network.running import write_outcome
        from discreet.report.party_run import party_page

        pages: Mapping[str, str] = {"report.html": party_page(outcome)}
        write_outcome(outcome, folder, overwrite=self.overwrite, pages=pages)
