"""`discreet audit`: a vault in front of data, which answers until an answer could disclose a value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._command import CommandGroup
from discreet.cli._runs import command_job, perform_verb, verb_options
from discreet.cli._spec_options import options_of
from discreet.core.registry import AUDITORS

if TYPE_CHECKING:
    from discreet.job import Made, VerbJob
    from discreet.output.audit import Answer, Denied

_GROUP = """\b
Examples:
  discreet audit init staff.parquet --sensitive salary --public age,department --auditor sum --low 0
  discreet audit ask staff.vault "SELECT avg(salary) FROM data WHERE department = 'x'"
  discreet audit log staff.vault --verify
  discreet audit attack staff.vault
  discreet audit token staff.vault ann
  discreet audit serve staff.vault --port 8000

\b
Each takes --json and --quiet."""
_INIT = """\b
Examples:
  discreet audit init staff.parquet --sensitive salary --public age,department --auditor sum --low 0
  discreet audit init staff.duckdb --table staff --sensitive salary --public age --auditor extrema --low 0
  discreet audit init people.csv --sensitive ill --public age --auditor boolean --order age
  discreet audit init staff.csv --sensitive salary --public age --auditor interval --low 0 --high 200000 --width 5000
  discreet audit init staff.csv --sensitive salary --public age --auditor private --low 0 --high 200000 --epsilon 1"""

_COARSER = (
    "its values are multiples of a larger step; if others may know that, make the vault with that --step"
)


@click.group(
    cls=CommandGroup, short_help="Answer queries until an answer would disclose a value.", epilog=_GROUP
)
def audit() -> None:
    """Put an auditor in front of data: aggregate queries are answered or denied, and never forgotten."""


@audit.command(short_help="Make a vault for data.", epilog=_INIT)
@click.argument("data", type=options.DATA)
@verb_options("audit", only=("sensitive", "public", "auditor", "key"))
@click.option(
    "--vault", type=options.DATA, metavar="DIR", help="The folder to make; DATA's name with .vault."
)
@options_of(AUDITORS.values, group="Auditor")
@click.option("--null-public", is_flag=True, help="It is no secret whose sensitive values are missing.")
@click.option("--per-user", is_flag=True, help="One history for each user; users who collude defeat it.")
@click.option("--table", metavar="NAME", help="The table of a DuckDB file.")
@options.printing
def init(data: Path, vault: Path | None, as_json: bool, quiet: bool, **values: Any) -> None:
    """Make a vault for DATA: a file, a folder of Parquet files, or a DuckDB file. It stays where it is."""
    auditor = {name: values[name] for spec in AUDITORS.values() for name in spec.options()}
    history = {"nulls": "public" if values["null_public"] else "refuse", "pooled": not values["per_user"]}
    reading = {} if values["table"] is None else {"table": values["table"]}
    folder = vault or data.with_suffix(".vault")
    job = command_job("audit", values, data=data, out=folder, reading=reading, **auditor, **history)
    perform_verb("audit init", job, as_json=as_json, quiet=quiet)


def show(job: VerbJob, result: Made) -> None:
    """Print where the vault is, what it answers by, and how to ask it."""
    from discreet.cli._output import print_lines
    from discreet.output.audit.config import auditor_from_dict

    figures = result.figures
    print_lines(
        [
            ("vault", str(job.out)),
            ("records", f"{figures['records']:,}"),
            ("auditor", str(auditor_from_dict(figures["auditor"]))),
            ("guarantee", figures["guarantee"]),
            *(("caution", caution) for caution in figures["cautions"]),
            *((name, _COARSER) for name in figures["coarser"]),
            ("next", f'discreet audit ask {job.out} "SELECT count(*) FROM data"'),  # noqa: S608
        ]
    )


@audit.command(
    short_help="Ask a vault.",
    epilog="\b\nExample:\n  discreet audit ask staff.vault \"SELECT avg(salary) FROM data WHERE department = 'x'\"",
)
@click.argument("vault", type=options.DATA)
@click.argument("sql")
@click.option("--user", default="", metavar="NAME", help="Who is asking.")
@click.option("--epsilon", type=float, help="With private answers: what to spend on the question.")
@click.option("--wait", type=float, default=10.0, help="Seconds to wait for another process; 10 by default.")
@options.printing
def ask(
    vault: Path, sql: str, user: str, epsilon: float | None, wait: float, as_json: bool, quiet: bool
) -> int:
    """Answer SQL over the table data, or deny it (exit code 1)."""
    from discreet.cli._output import print_json, print_lines
    from discreet.output.audit import Denied, Vault
    from discreet.output.audit.log import plain_result

    with Vault.open(vault, wait=wait) as opened:
        answer = opened.ask(sql, user=user, epsilon=epsilon)
    if as_json:
        print_json({"command": "audit ask", **plain_result(answer)})
    elif isinstance(answer, Denied):
        if not quiet:
            print_lines([("denied", answer.reason)])
    else:
        _print_rows(answer)
    return 1 if isinstance(answer, Denied) else 0


@audit.command(
    short_help="Show what was asked.", epilog="\b\nExample:\n  discreet audit log staff.vault --verify"
)
@click.argument("vault", type=options.DATA)
@click.option("--verify", is_flag=True, help="Check the chain of entries, and compute the query sets again.")
@click.option("--last", type=click.IntRange(min=1), default=20, help="How many statements; 20 by default.")
@click.option("--report", type=options.DATA, metavar="FILE", help="Write a page about the vault.")
@options.OVERWRITE_FILE
@options.printing
def log(
    vault: Path, verify: bool, last: int, report: Path | None, overwrite: bool, as_json: bool, quiet: bool
) -> int:
    """Show the statements that VAULT was asked, and what became of them; never an answer."""
    from discreet.cli._output import plain_verdict, print_result, verdict_lines
    from discreet.engines.atomic import require_free_file
    from discreet.output.audit import Vault

    with Vault.open(vault, wait=10) as opened:
        require_free_file(report, vault, opened.source, overwrite=overwrite)
        history = opened.history()
        verdict, cautions = (opened.verdict, opened.cautions) if verify else (None, ())
        left, pooled = opened.epsilon_left, opened.config.pooled
        if report is not None:
            from discreet.engines.writing import write_file
            from discreet.report.vault import render_vault

            write_file(render_vault(opened), report)
    answered = sum(entry.answered for entry in history)
    ok = verdict is None or verdict.ok
    figures = {
        "asked": len(history),
        "answered": answered,
        "epsilon_left": left,
        **plain_verdict(verdict),
        "cautions": [{"text": caution} for caution in cautions],
        "entries": [vars(entry) for entry in history[-last:]],
        "report": None if report is None else str(report),
    }
    lines = [
        ("asked", f"{len(history):,} statements, {answered:,} answered, {len(history) - answered:,} denied"),
        *(
            []
            if left is None
            else [("epsilon", f"{left:g} left{'' if pooled else ' to the user who spent most'}")]
        ),
        *((str(entry.number), _entry(entry)) for entry in history[-last:]),
        *([] if verdict is None else [("chain", "every entry matches"), *verdict_lines(verdict)]),
        *([] if report is None else [("report", str(report))]),
    ]
    print_result("audit log", figures, lines, ok=ok, as_json=as_json, quiet=quiet)
    return 0 if ok else 1


@audit.command(
    short_help="Try the published attacks on your vault.",
    epilog="\b\nExample:\n  discreet audit attack staff.vault --picture attacks.html",
)
@click.argument("vault", type=options.DATA)
@click.option("--column", metavar="COLUMN", help="The sensitive column to attack; the first by default.")
@click.option("--picture", type=options.DATA, metavar="FILE", help="Draw it: .html, .svg or .png.")
@options.OVERWRITE_FILE
@click.option("--seed", type=click.IntRange(min=0), help="Make the attackers' draws repeatable.")
@options.printing
def attack(
    vault: Path,
    column: str | None,
    picture: Path | None,
    overwrite: bool,
    seed: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run the published attacks on copies of VAULT, with its auditor and with the gate alone; its log is untouched."""
    from discreet.cli._output import print_result
    from discreet.engines.atomic import require_free_file
    from discreet.output.audit import Vault
    from discreet.output.audit.attacking import attack as attacked

    with Vault.open(vault, wait=10) as opened:
        require_free_file(picture, vault, opened.source, overwrite=overwrite)
        attacks = attacked(opened, column=column, random_state=seed)
    if picture is not None:
        from discreet.report.pictures import write_picture
        from discreet.report.vault import attack_picture

        write_picture(attack_picture(attacks), picture)
    pinned = max((tried.pinned for tried in attacks), default=0)
    lines = [
        ("attack", f"{'asked':>7} {'answered':>9} {'pinned':>8} {'gate alone':>11} {'targets':>8}"),
        *((tried.attack, _attacked(tried)) for tried in attacks),
        *([] if picture is None else [("picture", str(picture))]),
    ]
    figures = {"attacks": [tried.to_dict() for tried in attacks]}
    print_result("audit attack", figures, lines, ok=not pinned, as_json=as_json, quiet=quiet)
    return 1 if pinned else 0


@audit.command(
    short_help="Move a vault to changed data.",
    epilog="\b\nExample:\n  discreet audit update staff.vault staff-2.parquet",
)
@click.argument("vault", type=options.DATA)
@click.argument("data", type=options.DATA)
@options.printing
def update(vault: Path, data: Path, as_json: bool, quiet: bool) -> None:
    """Move VAULT to changed DATA; old answers keep counting. The old data must still be there."""
    from discreet.cli._output import print_result
    from discreet.output.audit import Vault

    with Vault.open(vault, wait=10) as opened:
        opened.update(data)
        records = opened.holdings.n_records
    figures = {"vault": str(vault), "records": records}
    lines = [("vault", str(vault)), ("records", f"{records:,}"), ("data", str(data))]
    print_result("audit update", figures, lines, as_json=as_json, quiet=quiet)


@audit.command(
    short_help="Make a user's token for the service.",
    epilog="\b\nExample:\n  discreet audit token staff.vault ann --expires 30d",
)
@click.argument("vault", type=options.DATA)
@click.argument("user")
@click.option(
    "--expires",
    metavar="TIME",
    help="Refuse it after this time: 12h, 30d, 8w. By default it does not expire.",
)
@click.option("--revoke", is_flag=True, help="Withdraw the user's tokens instead.")
@options.printing
def token(vault: Path, user: str, expires: str | None, revoke: bool, as_json: bool, quiet: bool) -> None:
    """Make a bearer token for USER; it is shown once, and only its hash is kept."""
    from discreet.cli._output import print_json
    from discreet.output.audit.service.tokens import Tokens, utc_now

    if revoke and expires is not None:
        raise gather.mistake("--revoke withdraws tokens at once; leave --expires out.")
    tokens = Tokens(vault)
    if revoke:
        tokens.revoke(user)
        return
    end = (
        None
        if expires is None
        else (utc_now() + gather.lifetime("--expires", expires)).replace(microsecond=0)
    )
    issued = tokens.issue(user, expires=end)
    if as_json:
        figures = {"user": user, "token": issued, "expires": None if end is None else end.isoformat()}
        print_json({"command": "audit token", "ok": True, **figures})
    elif not quiet:
        click.echo(issued)


@audit.command(
    short_help="Serve a vault over HTTP.",
    epilog="\b\nExample:\n  discreet audit serve staff.vault --port 8000 --tls-certificate cert.pem --tls-key key.pem",
)
@click.argument("vault", type=options.DATA)
@click.option("--host", default="127.0.0.1", help="The address to listen on; 127.0.0.1 by default.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, help="The port; 8000 by default.")
@click.option("--tls-certificate", type=options.DATA, metavar="FILE", help="The certificate, for HTTPS.")
@click.option("--tls-key", type=options.DATA, metavar="FILE", help="The certificate's key.")
@click.option("--rate", type=float, default=50.0, help="Questions a second for each user; 50 by default.")
@click.option(
    "--per-address",
    type=click.IntRange(min=1),
    help="Connections at once from one address; 32 by default. Raise it behind a proxy.",
)
@click.option("--plain-http", is_flag=True, help="Allow HTTP without TLS on other addresses than loopback.")
@options.printing
def serve(vault: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Serve VAULT to users with tokens; JSON in and out, described at /openapi.json."""
    from discreet.output.audit import Vault
    from discreet.output.audit.service.connections import Limits
    from discreet.output.audit.service.serving import Service

    if (values["tls_certificate"] is None) != (values["tls_key"] is None):
        raise gather.mistake(
            "TLS needs a certificate and its key.", "--tls-certificate c.pem --tls-key k.pem"
        )
    if values["host"] not in ("127.0.0.1", "::1", "localhost") and not (
        values["tls_certificate"] or values["plain_http"]
    ):
        raise gather.mistake(
            "Beyond this machine tokens and answers need TLS.", "--tls-certificate c.pem --tls-key k.pem"
        )
    scheme = "https" if values["tls_certificate"] else "http"
    del values["plain_http"]
    per_address = values.pop("per_address")
    limits = Limits() if per_address is None else Limits(per_address=per_address)
    with Vault.open(vault) as opened:
        service = Service(opened, limits=limits, **values)
        if not (quiet or as_json):
            click.echo(f"serving {vault} on {scheme}://{values['host']}:{service.port}")
        service.run()


def _print_rows(answer: Answer | Denied) -> None:
    from discreet.output.audit import Denied

    assert not isinstance(answer, Denied)
    rows = [[str(name) for name in answer.columns]]
    rows += [["NULL" if cell is None else str(cell) for cell in row] for row in answer.rows]
    widths = [max(len(row[at]) for row in rows) for at in range(len(answer.columns))]
    from discreet.cli._errors import one_line

    for row in rows:
        click.echo(
            one_line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        )
    if answer.epsilon_left is not None:
        click.echo(f"epsilon left: {answer.epsilon_left:g}")


def _attacked(tried: Any) -> str:
    audited, pinned = tried.audited, f"{tried.pinned:>8,} {tried.pinned_unaudited:>11,}"
    return f"{audited.asked:>7,} {audited.answered:>9,} {pinned} {tried.targets:>8,}"


def _entry(entry: Any) -> str:
    outcome = "answered" if entry.answered else f"denied: {entry.reason}"
    who = f" {entry.user}" if entry.user else ""
    return f"{entry.time}{who}  {outcome}  {entry.sql}"
