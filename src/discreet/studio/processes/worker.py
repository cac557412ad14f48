"""The worker of a run: reads what to do from its folder, does it, and reports line by line what a page may show."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from discreet.core.boundary import safe_error
from discreet.core.errors import DiscreetError, InputError
from discreet.core.release import Release
from discreet.engines.writing import json_ready
from discreet.job import Made, run
from discreet.job.running import STAGES, finish
from discreet.job.verbs import Progress, verb_job
from discreet.kinds.blocks import Section
from discreet.studio.documents import job_of
from discreet.studio.processes.running import JOB, OUT, PAGE, RESULT
from discreet.studio.results import (
    compared_page,
    explored,
    explored_page,
    fragment,
    judged,
    made_page,
    measured_page,
    released_page,
    summary,
)

_COMPARED_SECONDS = 10.0
"""The time of each method that searches, while methods are compared."""
_UNKNOWN = "The run ended by an error of ours ({}). Nothing was written."


class _Reporter:
    """Reports stages to the server, one line of JSON each."""

    def __init__(self, n_stages: int) -> None:
        self._n_stages, self._begun = n_stages + 1, -1
        # Libraries may print; only reports go to the server.
        self._stream = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def __call__(self, stage: str) -> None:
        """Begin a stage; after a colon it says how far the same stage is."""
        self._begun += ":" not in stage
        self.line(stage=stage, share=min(self._begun / self._n_stages, 1.0))

    def line(self, **report: Any) -> None:
        """Report anything."""
        self._stream.write(json.dumps(json_ready(report)) + "\n")
        self._stream.flush()


def perform_run(folder: Path, progress: Progress) -> None:
    """Do what the folder of a run says, and leave its result there."""
    record = json.loads((folder / JOB).read_text(encoding="utf-8"))
    result, page = _TASKS[record["what"]](record, folder, progress)
    progress("Drawing the pages")
    (folder / PAGE).write_text(page(), encoding="utf-8")
    (folder / RESULT).write_text(
        json.dumps(json_ready(result()), ensure_ascii=False, allow_nan=False), encoding="utf-8"
    )


Outcome = tuple[Callable[[], dict[str, Any]], Callable[[], str]]
"""What a run says of its result, and its page."""


def _release(record: Mapping[str, Any], folder: Path, progress: Progress) -> Outcome:
    job = job_of(record["document"], record["path"], folder / OUT)
    release = run(job, progress)
    return lambda: summary(release), lambda: released_page(release)


def _apply(record: Mapping[str, Any], folder: Path, progress: Progress) -> Outcome:
    """Protect new rows as an earlier release did."""
    from discreet.engines.files import read
    from discreet.engines.folders import RECORD
    from discreet.publish.recipes.recipe import Recipe

    progress("Reading")
    recipe = Recipe.read(Path(record["release"]) / RECORD)
    earlier = [entry["name"] for entry in recipe.data["columns"] if entry.get("type") == "string"]
    frame = read(record["path"], **{"text": earlier, **record["document"]["reading"]})
    progress("Protecting")
    release: Release = recipe.apply(frame)
    finish(release, progress, folder / OUT)
    return lambda: summary(release), lambda: released_page(release)


def _explore(record: Mapping[str, Any], folder: Path, progress: Progress) -> Outcome:
    """Compare the ways of all methods to keep the guarantee."""
    from discreet.job.exploration import explore

    job = job_of(record["document"], record["path"], None)
    progress("Reading")
    table = job.kind.read(job.input)
    assert job.promise is not None
    progress("Comparing methods")
    exploration = explore(table, [job.promise], shares=record["shares"], time_limit=record["seconds"])
    return lambda: explored(exploration), lambda: explored_page(exploration, table)


def _compare(record: Mapping[str, Any], folder: Path, progress: Progress) -> Outcome:
    """Hide the rules by every method, and measure what each loses."""
    from discreet.output.hiding import compare_methods

    job = job_of(record["document"], record["path"], None)
    progress("Reading")
    guarantee: Any = job.promise
    results = compare_methods(
        job.kind.read(job.input), guarantee, time_limit=_COMPARED_SECONDS, progress=progress
    )
    if all(result.quality is None or not result.quality.dissimilarity for result in results):
        raise InputError("The rules are hidden already at these thresholds, or no method hides them.")
    solved = [result.method for result in results if result.quality is not None and result.solved]
    return lambda: {"choices": [{"method": name} for name in solved]}, lambda: compared_page(results)


def _verb(record: Mapping[str, Any], folder: Path, progress: Progress) -> Outcome:
    """Do anything that makes no release."""
    document = dict(record["document"])
    document["input"] = {**document["input"], "path": record["path"]}
    document["output"] = {name: str(folder / f"{OUT}{record['ending']}") for name in document["output"]}
    job = verb_job(document)
    assert job is not None
    result: Made = run(job, progress)
    return lambda: {"figures": result.figures, "file": job.out and job.out.name}, lambda: made_page(result)


def _check(record: Mapping[str, Any], folder: Path, progress: Progress) -> Outcome:
    """Judge a release by its files alone."""
    from discreet.job.release_checking import judge_release

    progress("Judging")
    judgment = judge_release(Path(record["path"]))
    return lambda: {"word": judgment.word}, lambda: judged(judgment)


def _judge(record: Mapping[str, Any], folder: Path, progress: Progress) -> Outcome:
    """Judge a table as it is, whoever made it, and measure it by all guarantees."""
    from discreet.core.tables.table import Table
    from discreet.kinds.judging import judge_table

    job = job_of(record["document"], record["path"], None)
    progress("Reading")
    table = job.kind.read(job.input)
    assert isinstance(table, Table)
    assert job.promise is not None
    promise = job.promise
    progress("Judging")
    judgment = judge_table(table, promise, measured=True)
    word = "verified" if judgment.ok else "broken"
    return lambda: {"word": word}, lambda: measured_page(table, promise, judgment)


def _attack(record: Mapping[str, Any], folder: Path, progress: Progress) -> Outcome:
    """Attack a release by its files and the original."""
    from discreet.job.evidence.attacking import attack_lines, attack_release
    from discreet.studio.earlier import labeled_table

    progress("Attacking")
    reading = record["document"]["reading"]
    control = Path(record["control"]) if "control" in record else None
    attacks = attack_release(Path(record["release"]), Path(record["path"]), control=control, reading=reading)
    lines = labeled_table(attack_lines(attacks))
    text = "How often each attack is right, with the interval that holds it with 95 %."
    return dict, lambda: fragment([Section("attacks", "What attacks achieve", text, [lines])])


def _evidence(record: Mapping[str, Any], folder: Path, progress: Progress) -> Outcome:
    """Write the identifiability statement of a release."""
    from discreet.job.evidence.statement import evidence_statement

    progress("Judging")
    context = {name: record[name] for name in ("recipient", "environment")}
    statement = evidence_statement(Path(record["release"]), **context)
    progress("Writing")
    statement.write(folder / OUT)
    return lambda: {"word": statement.judgment.word}, lambda: judged(statement.judgment)


def _earlier(record: Mapping[str, Any], folder: Path, progress: Progress) -> Outcome:
    """Show a vault, a session or an experiment."""
    from discreet.studio.earlier import earlier_blocks

    progress("Reading")
    blocks = earlier_blocks(Path(record["path"]))
    return dict, lambda: fragment(blocks)


_TASKS: Mapping[str, Callable[[Mapping[str, Any], Path, Progress], Outcome]] = {
    "release": _release,
    "apply": _apply,
    "explore": _explore,
    "compare": _compare,
    "verb": _verb,
    "check": _check,
    "judge": _judge,
    "attack": _attack,
    "evidence": _evidence,
    "earlier": _earlier,
}


def work(folder: Path) -> int:
    """Do a run; report its end, or what went wrong without any data value."""
    warnings.simplefilter("ignore")
    report = _Reporter(len(STAGES))
    try:
        perform_run(folder, report)
    except MemoryError:
        report.line(error="There is not enough memory for this. Fewer columns would need less.")
    except Exception as error:  # noqa: BLE001  # a bug's message may hold data
        safe = safe_error(error, "The run")
        is_ours = isinstance(safe, DiscreetError)
        # What the file is called in the private folder says nothing to anybody.
        path = str(json.loads((folder / JOB).read_text(encoding="utf-8")).get("path") or "\0")
        report.line(
            error=str(safe).replace(path, "The file") if is_ours else _UNKNOWN.format(type(error).__name__),
            fix=safe.fix if isinstance(safe, DiscreetError) else {},
        )
    else:
        report.line(done=True, stage="Done", share=1.0)
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(work(Path(sys.argv[1])))
