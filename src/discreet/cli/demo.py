"""`discreet demo`: protect the embedded sample, or find rules between three shops."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli._command import command

if TYPE_CHECKING:
    from discreet.parties.network.local_run import LocalRun

_EPILOG = """\b
Examples:
  discreet demo --out release-demo
  discreet demo --parties --out parties-demo"""
_SUPPORT, _CONFIDENCE = 0.04, 0.6


@command(short_help="Protect the embedded sample, or mine between parties.", epilog=_EPILOG)
@click.option("--parties", is_flag=True, help="Find rules between three shops, each a process of its own.")
@click.option(
    "--out",
    type=options.DATA,
    metavar="DIR",
    help="The folder to write; release-demo by default, or parties-demo.",
)
@options.printing
def demo(parties: bool, out: Path | None, as_json: bool, quiet: bool) -> None:
    """Protect a generated hospital table of 20,000 patients; nobody in it exists.

    With --parties, three generated shops find association rules together, and none sees the others' baskets.
    """
    if parties:
        _between_parties(out or Path("parties-demo"), as_json=as_json, quiet=quiet)
        return
    from discreet.cli._progress import perform
    from discreet.datasets import hospital, hospital_columns
    from discreet.guarantees import EntropyDiversity, KAnonymity
    from discreet.job import Job

    folder = out or Path("release-demo")
    guarantee = KAnonymity(5) & EntropyDiversity(2, of="diagnosis")
    columns = hospital_columns()
    job = Job(hospital(), columns, guarantee, out=folder, overwrite=_is_demo(folder, list(columns)))
    perform("demo", job, as_json=as_json, quiet=quiet)


def _is_demo(out: Path, columns: list[str]) -> bool:
    """Return whether a folder holds an earlier demo, which may be replaced."""
    try:
        recipe = json.loads((out / "release.json").read_text(encoding="utf-8"))
        return [column["name"] for column in recipe["columns"]] == columns
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _between_parties(out: Path, *, as_json: bool, quiet: bool) -> None:
    from discreet.cli._output import print_json
    from discreet.cli._progress import stages
    from discreet.datasets import shops
    from discreet.engines.baskets.files import write_baskets
    from discreet.parties.network.local_run import run_locally, write_session
    from discreet.parties.network.running import check_folder

    baskets_of = shops()
    parameters = {"min_support": _SUPPORT, "min_threshold": _CONFIDENCE, "max_items": 100, "format": "lines"}
    if _is_parties_demo(out, baskets_of):
        shutil.rmtree(out)
    check_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    with stages(2, quiet=quiet or as_json) as progress:
        progress("Writing the baskets of three shops")
        data = {name: out / f"{name}.csv" for name in baskets_of}
        for name, baskets in baskets_of.items():
            write_baskets(baskets, data[name], format="lines", lossy=True)
        session = write_session(out, "rules", parameters, tuple(baskets_of))
        progress("Mining together, three processes over TLS")
        run = run_locally(session, data)
    sizes = {name: len(baskets) for name, baskets in baskets_of.items()}
    alone = {name: _alone(baskets) for name, baskets in baskets_of.items()}
    rules = _rules_of(run)
    if as_json:
        fields = {"out": str(out), "baskets": sizes, "seconds": round(run.seconds, 3)}
        print_json(
            {"command": "demo", "ok": True, **fields, "rules": rules, "transcript": run.transcript("north")}
        )
    elif not quiet:
        _print_run(out, run, sizes, alone, rules)


def _is_parties_demo(out: Path, names: Iterable[str]) -> bool:
    """Return whether a folder holds an earlier demo between parties and nothing else, so that it may be replaced."""
    expected = {"session.toml"}
    for name in names:
        expected |= {f"{name}.csv", f"{name}.pem", f"{name}.toml", f"result-{name}"}
    return (out / "session.toml").is_file() and {path.name for path in out.iterdir()} <= expected


def _alone(baskets: Any) -> set[str]:
    """Return the rules that a shop finds in its own baskets."""
    from discreet.mine import Itemsets, rules

    table = rules(Itemsets(_SUPPORT).mine(baskets), min_threshold=_CONFIDENCE)
    return {_rule(row["antecedents"], row["consequents"]) for row in table.to_pylist()}


def _rules_of(run: LocalRun) -> list[dict[str, Any]]:
    import csv

    with (run.folders["north"] / "rules.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    rules = [
        {
            "rule": _rule(json.loads(row["antecedents"]), json.loads(row["consequents"])),
            "support": round(float(row["support"]), 4),
            "confidence": round(float(row["confidence"]), 4),
        }
        for row in rows
    ]
    return sorted(rules, key=lambda rule: -rule["confidence"])


def _rule(before: list[str], after: list[str]) -> str:
    return f"{', '.join(before)} → {', '.join(after)}"


def _print_run(
    out: Path, run: LocalRun, sizes: dict[str, int], alone: dict[str, set[str]], mined: list[dict[str, Any]]
) -> None:
    from discreet.cli._output import print_lines

    record = run.transcript("north")
    meter = record["meter"]
    traffic = f"{meter['bytes_sent'] + meter['bytes_received']:,} bytes at north"
    lines = [("shops", ", ".join(f"{name} with {size:,} baskets" for name, size in sizes.items()))]
    rules = {rule["rule"] for rule in mined}
    shared = "; ".join(f"{name} alone finds {len(rules & local)} of them" for name, local in alone.items())
    lines.append(
        ("rules", f"{len(mined)} in all baskets together; {shared}. Some that are not found everywhere:")
    )
    for rule in sorted(mined, key=lambda rule: sum(rule["rule"] in local for local in alone.values()))[:8]:
        holders = [name for name, local in alone.items() if rule["rule"] in local]
        finders = f"{', '.join(holders)} would find it alone" if holders else "no shop would find it alone"
        lines.append(("", f"{rule['confidence']:.0%}  {rule['rule']}  ({finders})"))
    lines.append(("cost", f"{meter['rounds']} rounds, {traffic}, {run.seconds:.1f} s with three processes"))
    lines += [("reveals" if at == 0 else "", leak) for at, leak in enumerate(record["leaks"])]
    lines.append(
        ("written", f"{out}: session.toml, the baskets, and result-NAME with report.html for each shop")
    )
    print_lines(lines)
