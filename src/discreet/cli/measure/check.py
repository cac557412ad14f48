"""`discreet check`: check any table, baskets or release against guarantees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _baskets as baskets
from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli import _rules as rules
from discreet.cli._command import command
from discreet.cli._options import guarantees_of
from discreet.cli.measure._safe_harbor import check_safe_harbor, is_safe_harbor, safe_harbor_options

if TYPE_CHECKING:
    from discreet.core.tables.table import Table
    from discreet.job.release_checking import ReleaseJudgment
    from discreet.kinds.judging import Judgment, Measure

_EPILOG = """\b
Examples:
  discreet check published.csv --quasi age,zip --sensitive disease
  discreet check published.csv --quasi age,zip --sensitive disease -k 3 -l 2 --diversity entropy -t 0.3
  discreet check published.csv --quasi age,zip --population voters.csv --k-map 5
  discreet check release/
  discreet check release/ --signed-by hospital-a.toml
  discreet check release-january/ release-february/
  discreet check sent.csv --roles release/ -k 5
  discreet check release/ -p 10
  discreet check release/ --rule "diapers => beer" --min-support 0.01
  discreet check baskets.dat --km 5,2
  discreet check published.csv --safe-harbor --zip3-populations zip3.csv

\b
Exit codes: 0 verified: every guarantee was recomputed from the data and holds; 1 broken: one does not hold, or the
release is not as it was written; 3 claimed: release.json says that it holds, and the files cannot show it; 2 user
error."""
CLAIMED = 3
"""The exit code of a guarantee that is stated, and not recomputed: neither a success nor a failure."""


@command(
    short_help="Check any table against privacy guarantees.",
    epilog=_EPILOG,
    essentials=(
        "--quasi", "--sensitive", "--roles", "-k", "-l", "-t", "--signed-by", "-p", "--km", "--rule", "--min-support",
        "--safe-harbor",
    ),
)  # fmt: skip
@click.argument("data", type=options.DATA, nargs=-1, required=True)
@options.roles(rest="other")
@options.guarantees
@click.option(
    "--suppressed",
    type=click.Choice(["judged", "exempt"]),
    default="judged",
    help="Whether fully suppressed rows count as a class or are exempt; judged by default.",
)
@click.option(
    "--signed-by",
    type=options.DATA,
    metavar="FILE",
    help="Releases: who must have signed it, by their public entry (.toml), certificate or public key.",
)
@baskets.judging
@rules.naming(required=False)
@click.option(
    "--all",
    "measured",
    is_flag=True,
    help="Measure the data by all other guarantees as well, which takes longer.",
)
@safe_harbor_options
@options.reading
@options.printing
def check(data: tuple[Path, ...], as_json: bool, quiet: bool, **values: Any) -> None:
    """Check DATA against guarantees; where none is named or known, measure it by all.

    DATA is a table, baskets, a job file, whose input data is checked, or the folder of a release of any kind, whose
    files are checked against the guarantee of the release. The folders of several releases of tables, in the order of
    their publication, are checked together: what is left of their guarantees for people who are in several of them.
    """
    if len(data) > 1:
        click.get_current_context().exit(_check_repeated(data, values, as_json=as_json, quiet=quiet))
    _check_one(data[0], as_json=as_json, quiet=quiet, **values)


def _check_repeated(folders: tuple[Path, ...], values: dict[str, Any], *, as_json: bool, quiet: bool) -> int:
    """Check several releases together; return the exit code."""
    from discreet.cli._output import print_json, print_lines
    from discreet.cli._progress import stages
    from discreet.job.descriptions import is_release, release_folder
    from discreet.job.evidence.repeated_checking import judge_repeated
    from discreet.job.evidence.repeated_wording import repeated_lines

    for folder in folders:
        _refuse_without_record(folder)
    if not all(map(is_release, folders)) or guarantees_of(values) or values["signed_by"]:
        raise parse.mistake(
            "Several are checked together only where all are folders of releases, by their own guarantees.",
            "discreet check release-1 release-2",
        )
    with stages(1, quiet=quiet or as_json) as progress:
        progress("Judging")
        judgment = judge_repeated([release_folder(folder) for folder in folders])
    if as_json:
        print_json({"command": "check", "ok": judgment.ok, **judgment.to_dict()})
    elif not quiet:
        print_lines(repeated_lines(judgment))
    return {"verified": 0, "claimed": CLAIMED}.get(judgment.word, 1)


def _check_one(data: Path, suppressed: Any, as_json: bool, quiet: bool, **values: Any) -> None:
    """Check a table, baskets, the data of a job, or one release; leave with the exit code."""
    from discreet.cli._described import described_table, promised
    from discreet.job.descriptions import is_release

    _refuse_without_record(data)
    if is_safe_harbor(values):
        click.get_current_context().exit(check_safe_harbor(data, values, as_json=as_json, quiet=quiet))
    if is_release(data):
        click.get_current_context().exit(_check_release(data, values, as_json=as_json, quiet=quiet))
    if values["signed_by"] is not None:
        raise parse.mistake("--signed-by is for the folder of a release.", "discreet check release/")
    if baskets.is_baskets(data, values):
        holds = baskets.check(data, values, as_json=as_json, quiet=quiet)
        click.get_current_context().exit(0 if holds else 1)
    from discreet.cli._progress import stages
    from discreet.guarantees import RulesHidden
    from discreet.job.parse import guarantee_from
    from discreet.kinds.judging import judge_table
    from discreet.kinds.tables import with_reading

    chosen = _guarantees(values)
    of_job = promised(data, values)
    with stages(2, quiet=quiet or as_json) as progress:
        progress("Reading")
        table = described_table(data, values)
        population = population_of(table, values)
        required = guarantee_from(chosen, table.schema, Path()) if chosen else of_job
        if isinstance(required, RulesHidden):
            required = with_reading(required, table)
        progress("Judging")
        judgment = judge_table(
            table, required, suppressed=suppressed, population=population, measured=values["measured"] or None
        )
    _print(judgment, as_json=as_json, quiet=quiet)
    click.get_current_context().exit(0 if judgment.ok else 1)


def _guarantees(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the guarantees that the options name; hidden rules cannot be combined with others."""
    chosen = guarantees_of(values)
    if not rules.is_set(values):
        return chosen
    if chosen:
        raise parse.mistake("Hidden rules cannot be combined with other guarantees; check them separately.")
    return [rules.rules_guarantee(values)]


def _refuse_without_record(data: Path) -> None:
    """Refuse a folder that looks like a release without its release.json: nothing says what it guarantees."""
    from discreet.core.errors import InputError
    from discreet.engines.folders import RECORD
    from discreet.publish.recipes.recipe import private_place

    if not data.is_dir() or (data / RECORD).is_file():
        return
    names = {path.stem for path in data.iterdir()}
    if names & {"data", "baskets", "sketches", "report"} or private_place(data.resolve()).parent.is_dir():
        raise InputError(
            f"{data} holds no {RECORD}: it is no release, or a release that was tampered with. Bring the file back, or "
            "name the file of data to be checked by itself."
        )


def _check_release(data: Path, values: dict[str, Any], *, as_json: bool, quiet: bool) -> int:
    """Check the files of a release against its guarantee, or against those of the options; return the exit code."""
    from discreet.cli._progress import stages
    from discreet.job.descriptions import read_record, release_folder
    from discreet.job.parse import guarantee_from, population
    from discreet.job.release_checking import judge_release
    from discreet.kinds.written import released_columns

    folder = release_folder(data)
    chosen = _guarantees(values)
    if values["p"] is not None or values["km"]:
        chosen = [baskets.guarantee_of(values)]
    with stages(2, quiet=quiet or as_json) as progress:
        progress("Reading")
        record = read_record(folder)
        columns = released_columns(folder, record) if chosen and record.get("columns") else {}
        required = guarantee_from(chosen, columns, Path()) if chosen else None
        people = None
        if values["population"] is not None:
            roles = released_columns(folder, record)
            names = [name for name, column in roles.items() if column.role.value == "quasi"]
            people = population(values["population"], names)
        progress("Judging")
        reading = parse.reading(values)
        judgment = judge_release(
            folder,
            required,
            population=people,
            signed_by=values["signed_by"],
            measured=values["measured"],
            reading=reading if "engine" in reading else None,
        )
    _print_release(judgment, record, as_json=as_json, quiet=quiet)
    return {"verified": 0, "claimed": CLAIMED}.get(judgment.word, 1)


def _print_release(
    judgment: ReleaseJudgment, record: Mapping[str, Any], *, as_json: bool, quiet: bool
) -> None:
    from discreet.cli._output import plain_verdict, print_json, print_lines, verdict_lines

    if as_json:
        summary = {"command": "check", "ok": judgment.ok, **plain_verdict(judgment.verdict)}
        summary |= {"verdict": judgment.word, "verified": judgment.ok, "why": judgment.why or None}
        summary |= {"kind": judgment.kind, **judgment.counts, "signature": judgment.signature}
        fields = {"vouched": judgment.vouched, **asdict(judgment.record)}
        files = {"changed_files": list(judgment.changed), "added_files": list(judgment.added)}
        measures = [measure.to_dict() for measure in judgment.measures]
        print_json(summary | {"record": fields} | files | {"measures": measures})
        return
    if quiet:
        return
    what = "groups" if "groups" in judgment.counts else "classes"
    counts = ", ".join(f"{number:,} {name}" for name, number in judgment.counts.items())
    lines = [
        *verdict_lines(judgment.verdict, groups=what),
        ("", judgment.why or "recomputed from the files of the release"),
        ("release", f"{judgment.kind}: {counts}"),
        *_file_lines(judgment),
        *_record_lines(judgment, record),
    ]
    print_lines([*lines, *_measure_lines(judgment)])


def _file_lines(judgment: ReleaseJudgment) -> Iterator[tuple[str, str]]:
    """Return lines on whether the folder holds what was written, and nothing else."""
    if judgment.changed:
        yield (
            "broken",
            f"changed, replaced or missing since the release was written: {', '.join(judgment.changed)}",
        )
    elif judgment.vouched:
        yield "files", "unchanged since they were written"
    else:
        yield "files", "as the digests in release.json have them; reports and codebooks are not judged"
    if "release.json" in judgment.changed:
        yield "", "the private folder belongs to another release, or release.json was changed"
    if judgment.added:
        yield (
            "broken",
            f"not written with the release, so take it out before you hand it on: {', '.join(judgment.added)}",
        )


def _record_lines(judgment: ReleaseJudgment, record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return lines on whether release.json is the one that was written, and what of it was recomputed."""
    fields, signature = judgment.record, judgment.signature
    if fields.wrong:
        yield "broken", f"release.json is wrong about {', '.join(fields.wrong)}"
    if signature in ("missing", "wrong"):
        words = {
            "missing": "there is no signature",
            "wrong": "the signature is not theirs, or release.json was changed",
        }
        yield "broken", f"not signed by whom --signed-by names: {words[signature]}"
    elif signature == "verified":
        yield "signed", "by whom --signed-by names"
    elif signature == "present":
        yield "signature", "there is one; verify it by --signed-by"
    if judgment.vouched:
        yield "record", "release.json is the one that was written"
        return
    yield (
        "record",
        "nothing vouches for release.json itself: its digest is in the private folder, which is not here,",
    )
    yield "", "or not its own, and no signature of it was verified"
    yield "", f"recomputed and right: {', '.join(fields.verified) or 'nothing'}"
    yield "", f"only claimed: {', '.join(fields.claimed)}"
    quasi = [entry["name"] for entry in record.get("columns", ()) if entry["role"] == "quasi"]
    if quasi:
        yield "", f"judged by the quasi-identifiers that it names: {', '.join(quasi)}"


def population_of(table: Table, values: dict[str, Any]) -> Table | None:
    """Return the population table; None without the option."""
    from discreet.job.parse import population

    return None if values["population"] is None else population(values["population"], table.schema.quasi)


def _print(judgment: Judgment, *, as_json: bool, quiet: bool) -> None:
    from discreet.cli._output import plain_judgment, print_json, print_lines, verdict_lines

    verdict = judgment.verdict
    if as_json:
        print_json(plain_judgment(judgment))
    elif not quiet:
        print_lines(
            [
                *(() if verdict is None else verdict_lines(verdict)),
                ("rows", f"{judgment.counts['rows']:,} in {judgment.counts['classes']:,} classes"),
                *_measure_lines(judgment),
            ]
        )


def _measure_lines(judgment: Judgment) -> Iterator[tuple[str, str]]:
    """Return a line for each measure that says something of the data; what any data reaches is left out."""
    from discreet.kinds.wording import counted

    lines = [
        (_measure(measure), _reached(measure)) for measure in judgment.measures if measure.is_informative
    ]
    width = max((len(name) for name, _ in lines), default=0)
    for number, (name, reached) in enumerate(lines):
        yield "" if number else "reaches", f"{name:<{width}}  {reached}"
    if len(lines) < len(judgment.measures):
        unreached = counted(len(judgment.measures) - len(lines), "other measure")
        yield "", f"nothing beyond what any data keeps by {unreached}"


def _measure(measure: Measure) -> str:
    return measure.name if measure.column is None else f"{measure.name}, of {measure.column}"


def _reached(measure: Measure) -> str:
    from discreet.cli._output import number_text

    return f"{measure.reach} {number_text(measure.worst)}"
