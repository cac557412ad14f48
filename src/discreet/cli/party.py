"""`discreet party`: keys, a doctor and runs of protocols between organizations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather

_GROUP = """\b
Examples:
  discreet party keys --name hospital-a --address a.example.org:7001
  discreet party doctor session.toml --as hospital-a
  discreet party run session.toml --as hospital-a --data mine.csv --out result

\b
Each takes --json and --quiet."""
_KEYS = """\b
Example:
  discreet party keys --name hospital-a --address a.example.org:7001

\b
Writes NAME.pem, which stays with you, and NAME.toml, which all parties put into their session file."""
_DOCTOR = """\b
Examples:
  discreet party doctor session.toml
  discreet party doctor session.toml --as hospital-a --wait 60

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
_LISTEN = click.option("--listen", metavar="HOST:PORT", help="Listen here instead of the session's address.")


@click.group(short_help="Compute with other organizations; nobody sees the others' data.", epilog=_GROUP)
def party() -> None:
    """Run a protocol between organizations: each learns the common result, not the others' records."""


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
    plain = {"private": str(private), "public": str(public), "fingerprint": fingerprint}
    lines = [
        ("private", f"{private}: keep it here"),
        ("public", f"{public}: send it to the other parties"),
        ("fingerprint", f"{fingerprint}: compare it with them by telephone"),
    ]
    print_result("party keys", plain, lines, as_json=as_json, quiet=quiet)


@party.command(short_help="Check whether a session could run.", epilog=_DOCTOR)
@_SESSION
@click.option("--as", "name", metavar="NAME", help="The own name: meet the others as in a run.")
@_KEY
@_LISTEN
@click.option("--wait", type=float, default=10.0, help="The seconds to wait for the others; 10 by default.")
@options.printing
def doctor(
    session: Path,
    name: str | None,
    key: Path | None,
    listen: str | None,
    wait: float,
    as_json: bool,
    quiet: bool,
) -> int:
    """Check names, ports, clocks, certificates, versions and the SESSION file itself; no data is read."""
    from discreet.cli._output import print_json, print_lines
    from discreet.parties.network.doctor import examine
    from discreet.parties.network.running import find_key
    from discreet.parties.network.session import Session

    if name is None and (key or listen):
        raise gather.mistake("--key and --listen say nothing without --as.", "--as NAME")
    known = Session.read(session)
    own = None if name is None else key or find_key(session, known.member(name).name)
    checks = examine(known, name, own, wait=wait, listen=_address(listen))
    ok = all(check.ok for check in checks)
    if as_json:
        plain = [{"what": x.what, "party": x.party, "ok": x.ok, "detail": x.detail} for x in checks]
        print_json({"command": "party doctor", "ok": ok, "checks": plain})
    elif not quiet or not ok:
        print_lines(
            ("well" if x.ok else "broken", f"{x.what} of {x.party}: {x.detail}")
            for x in checks
            if not quiet or not x.ok
        )
    return 0 if ok else 2


@party.command(short_help="Run one party's half of a session.", epilog=_RUN)
@_SESSION
@click.option("--as", "name", required=True, metavar="NAME", help="The own name in the session.")
@click.option("--data", type=options.DATA, metavar="FILE", help="The own data, which stays here.")
@click.option("--out", required=True, type=options.DATA, metavar="DIR", help="The folder to write.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier result.")
@_KEY
@_LISTEN
@options.printing
def run(session: Path, name: str, out: Path, as_json: bool, quiet: bool, **given: Any) -> None:
    """Run the protocol of the SESSION with the other parties and write the common result."""
    from discreet.cli._output import plain_cautions, print_result
    from discreet.parties.network.running import (
        check_folder,
        find_key,
        run_party,
        write_outcome,
        written_frames,
    )
    from discreet.parties.network.session import Session
    from discreet.report.party_run import party_page

    known = Session.read(session)
    key = given["key"] or find_key(session, known.member(name).name)
    check_folder(out, given["data"], key, session, overwrite=given["overwrite"])
    outcome = run_party(known, name, key, given["data"], listen=_address(given["listen"]))
    pages = {"report.html": party_page(outcome)}
    write_outcome(outcome, out, overwrite=given["overwrite"], pages=pages)
    meter = outcome.meter
    plain = {
        "protocol": known.protocol.name,
        "out": str(out),
        "leaks": list(known.protocol.leaks),
        "covers": list(outcome.covers),
        "cautions": plain_cautions(*written_frames(outcome)),
        "meter": meter.to_dict(),
    }
    seconds = sum(step.seconds for step in meter.steps)
    traffic = f"{meter.bytes_sent:,} bytes sent, {meter.bytes_received:,} received"
    lines = [
        ("protocol", f"{known.protocol.name} among {', '.join(known.names)}"),
        ("covers", ", ".join(outcome.covers)),
        ("cost", f"{meter.rounds} rounds, {traffic}, {seconds:.2f} s"),
        ("promise", str(known.protocol.verdict(known.names))),
        *(("reveals" if at == 0 else "", leak) for at, leak in enumerate(known.protocol.leaks)),
        ("written", str(out)),
    ]
    print_result("party run", plain, lines, as_json=as_json, quiet=quiet)


def _address(text: str | None) -> tuple[str, int] | None:
    from discreet.parties.network.session import parse_address

    return None if text is None else parse_address(text, "of --listen")
