"""`discreet party`: keys, a doctor and runs of protocols between organizations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._command import CommandGroup
from discreet.cli._runs import command_job, perform_verb

if TYPE_CHECKING:
    from discreet.job import Made, VerbJob

_GROUP = """\b
Examples:
  discreet party keys --name hospital-a --address a.example.org:7001
  discreet party explain session.toml
  discreet party doctor session.toml --as hospital-a
  discreet party run session.toml --as hospital-a --data mine.csv --out result

\b
Each takes --json and --quiet."""
_KEYS = """\b
Example:
  discreet party keys --name hospital-a --address a.example.org:7001

\b
Writes NAME.pem, which stays with you, and NAME.toml, which all parties put into their session file."""
_EXPLAIN = """\b
Example:
  discreet party explain session.toml

\b
Nobody is met and no data is read. Compare the line 'session' with the other parties: it is equal if, and only if, all
of you hold the same session."""
_DOCTOR = """\b
Examples:
  discreet party doctor session.toml
  discreet party doctor session.toml --as hospital-a --wait 60

\b
What the session reveals is printed first.

\b
With --as the others are met as in a run: each of them runs the doctor at the same time, or waits in a run."""
_RUN = """\b
Example:
  discreet party run session.toml --as hospital-a --data mine.csv --out result

\b
Writes the result (result.csv, or the rules or the model), transcript.json with the frames, bytes, rounds and seconds
of the run and what it reveals, and report.html with a picture of what travelled."""
_SESSION = click.argument("session", type=options.DATA)
_KEY = click.option(
    "--key",
    type=options.DATA,
    metavar="FILE",
    help="The private file; NAME.pem beside the session by default.",
)
_CONSENT = click.option(
    "--two-parties-see-each-other",
    is_flag=True,
    help="Agree that each of two parties can compute the other's data from the result; both must.",
)
_LISTEN = click.option("--listen", metavar="HOST:PORT", help="Listen here instead of the session's address.")


@click.group(
    cls=CommandGroup, short_help="Compute with other organizations without pooling the data.", epilog=_GROUP
)
def party() -> None:
    """Run a protocol between organizations: each learns the common result and what the protocol declares.

    'discreet party explain' says what that is, before anything is sent.
    """


@party.command(short_help="Make a key and a certificate.", epilog=_KEYS)
@click.option("--name", required=True, help="The party's name in session files.")
@click.option(
    "--address", default="HOST:PORT", metavar="HOST:PORT", help="Where the other parties reach this one."
)
@click.option("--days", type=int, default=365, help="How long the certificate is valid; 365 by default.")
@click.option(
    "--folder", type=options.DATA, default=Path(), metavar="DIR", help="Where to write; here by default."
)
@options.printing
def keys(name: str, address: str, days: int, folder: Path, as_json: bool, quiet: bool) -> None:
    """Write a private key with its self-signed certificate, and the public entry for session files."""
    from discreet.cli._output import print_result
    from discreet.parties.network.keys import make_keys
    from discreet.parties.network.session import parse_address

    if address != "HOST:PORT":
        parse_address(address, "of --address")
    private, public, fingerprint = make_keys(name, folder, address=address, days=days)
    figures = {"private": str(private), "public": str(public), "fingerprint": fingerprint}
    lines = [
        ("private", f"{private}: keep it here"),
        ("public", f"{public}: send it to the other parties"),
        ("fingerprint", f"{fingerprint}: compare it with them by telephone"),
    ]
    print_result("party keys", figures, lines, as_json=as_json, quiet=quiet)


@party.command(name="explain", short_help="Say what a session computes and reveals.", epilog=_EXPLAIN)
@_SESSION
@_CONSENT
@options.printing
def explain_session(session: Path, two_parties_see_each_other: bool, as_json: bool, quiet: bool) -> None:
    """Print what the SESSION computes, what each party learns, who collects, and whom it trusts; nothing is sent."""
    from discreet.cli._output import print_result
    from discreet.parties.network.explanation import explain
    from discreet.parties.network.session import PartySession
    from discreet.report.party_run import explanation_lines

    agreed = PartySession.read(session, two_parties_see_each_other=two_parties_see_each_other)
    explanation = explain(agreed)
    print_result("party explain", explanation, explanation_lines(explanation), as_json=as_json, quiet=quiet)


@party.command(short_help="Check whether a session could run.", epilog=_DOCTOR)
@_SESSION
@click.option("--as", "name", metavar="NAME", help="Your name in the session: meet the others as in a run.")
@_KEY
@_LISTEN
@_CONSENT
@click.option("--wait", type=float, default=10.0, help="The seconds to wait for the others; 10 by default.")
@options.printing
def doctor(
    session: Path,
    name: str | None,
    key: Path | None,
    listen: str | None,
    two_parties_see_each_other: bool,
    wait: float,
    as_json: bool,
    quiet: bool,
) -> int:
    """Print what the SESSION reveals, and check names, ports, clocks, certificates and versions; no data is read."""
    from discreet.cli._output import print_json, print_lines
    from discreet.parties.network.doctor import examine
    from discreet.parties.network.explanation import explain
    from discreet.parties.network.running import find_key
    from discreet.parties.network.session import PartySession
    from discreet.report.party_run import explanation_lines

    if name is None and (key or listen):
        raise gather.mistake("--key and --listen say nothing without --as.", "--as NAME")
    agreed = PartySession.read(session, two_parties_see_each_other=two_parties_see_each_other)
    private_file = None if name is None else key or find_key(session, agreed.member(name).name)
    explanation = explain(agreed)
    if not as_json and not quiet:
        print_lines(explanation_lines(explanation))
    checks = examine(agreed, name, private_file, wait=wait, listen=_address(listen))
    ok = all(check.ok for check in checks)
    if as_json:
        listed = [{"what": x.what, "party": x.party, "ok": x.ok, "detail": x.detail} for x in checks]
        print_json({"command": "party doctor", "ok": ok, "explanation": explanation, "checks": listed})
    elif not quiet or not ok:
        print_lines(
            ("ok" if x.ok else "broken", f"{x.what} of {x.party}: {x.detail}")
            for x in checks
            if not quiet or not x.ok
        )
    return 0 if ok else 2


@party.command(short_help="Run one party's half of a session.", epilog=_RUN)
@_SESSION
@click.option("--as", "name", required=True, metavar="NAME", help="Your name in the session.")
@click.option("--data", type=options.DATA, metavar="FILE", help="Your data, which stays here.")
@click.option("--out", required=True, type=options.DATA, metavar="DIR", help="The folder to write.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier result.")
@_KEY
@_LISTEN
@_CONSENT
@options.printing
def run(session: Path, name: str, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Run the protocol of the SESSION with the other parties and write the common result."""
    keys = {key: values[key] for key in ("key", "listen", "two_parties_see_each_other", "overwrite")}
    job = command_job("party", {}, data=values["data"], out=out, session=session, name=name, **keys)
    perform_verb("party run", job, as_json=as_json, quiet=quiet)


def show(job: VerbJob, result: Made) -> None:
    """Print what the run computed, cost and revealed."""
    from discreet.cli._output import print_figures

    figures, meter, names = result.figures, result.data.meter, result.data.session.names
    seconds = sum(step.seconds for step in meter.steps)
    traffic = f"{meter.bytes_sent:,} bytes sent, {meter.bytes_received:,} received"
    print_figures(
        figures,
        [
            ("protocol", f"{figures['protocol']} among {', '.join(names)}"),
            ("covers", ", ".join(figures["covers"])),
            ("cost", f"{meter.rounds} rounds, {traffic}, {seconds:.2f} s"),
            ("guarantee", str(result.verdict)),
            *(("reveals" if at == 0 else "", leak) for at, leak in enumerate(figures["leaks"])),
            ("written", str(job.out)),
        ],
    )


def _address(text: str | None) -> tuple[str, int] | None:
    from discreet.parties.network.session import parse_address

    return None if text is None else parse_address(text, "of --listen")
