"""The one writer of releases: data, ``release.json`` and report in one folder, judged as they lie on disk.

Two folders appear together. ``<folder>`` is handed on: all of it is a function of the released data, of the parameters,
and of the number of records left out. ``<folder>.private`` compares with the original and stays with the owner.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet import __version__
from discreet.core.boundary import is_on_cluster
from discreet.core.engine import engine_of
from discreet.core.errors import DiscreetError, OutputError, ParameterError, PromiseBrokenError
from discreet.core.params import OneOf, require
from discreet.core.release import Release
from discreet.core.rng import without_seed
from discreet.core.verdict import Basis, Verdict
from discreet.engines.atomic import atomic_folders, require_replaceable
from discreet.engines.destinations import file_of, is_view, new_destination, without_password
from discreet.engines.folders import (
    DIGESTS,
    RECORD,
    SIGNATURE,
    FolderKind,
    altered,
    described_file,
    digests,
    is_readable,
)
from discreet.engines.writing import json_text
from discreet.kinds.codebook import bounds_columns, codebook_csv, owners_codebook
from discreet.kinds.kind import Kind, kind_of
from discreet.kinds.metadata import Described, croissant, data_package, health_dcat
from discreet.kinds.wording import About, plain_json, today
from discreet.kinds.written import text_layout
from discreet.publish.recipes.earlier_rows import EarlierRows
from discreet.report.pdf import browser, print_page
from discreet.report.signature import signing_key, write_signature

REPORT, PDF, CODEBOOK = "report.html", "report.pdf", "codebook.csv"
PRIVATE_RECORD, PRIVATE_REPORT = "recipe.private.json", "report-internal.html"
PRIVATE_CODEBOOK, PRIVATE_ROWS = "codebook-internal.csv", "rows.private.bin"
INCLUDED = ("bounds", "healthdcat")
"""What a release holds on request: the ends of intervals as columns, and a description in HealthDCAT-AP."""
RELEASE = FolderKind("release", RECORD, lists_files=True, beside=(SIGNATURE,))
PRIVATE = FolderKind(
    "private part of a release",
    PRIVATE_RECORD,
    private=True,
    beside=(PRIVATE_REPORT, PRIVATE_CODEBOOK, PRIVATE_ROWS, DIGESTS),
)
FORMAT = 1


def write_release(
    release: Release,
    folder: Path,
    *,
    format: str | None = None,  # noqa: A002
    report: bool = True,
    overwrite: bool = False,
    strict: bool = False,
    name: str | None = None,
    source: str | None = None,
    pdf: bool = False,
    sign: str | Path | None = None,
    to: str | None = None,
    include: Sequence[str] = (),
    allow: Sequence[str] = (),
) -> Path:
    """Write a release into a folder, and what stays with the owner into another, all or nothing; return the first.

    The data is read back and judged before the folder gets its name, so that what lies on disk keeps the guarantee, and
    not only what was in memory. Where it does not, nothing is left, and what stood there before is untouched. The
    digest of release.json, in which are those of all public files, stays with the owner and ties the two folders.
    """
    kind = kind_of(release)
    if not is_on_cluster(release.data):
        release.refuse_unless_published(strict=strict, allow=allow)
    require("write", "format", format, OneOf((None, *kind.formats)))
    for extra in include:
        require("write", "include", extra, OneOf(INCLUDED))
    if pdf:
        browser()
    key = None if sign is None else signing_key(sign)
    about = About(name, today(), folder.resolve().name, source)
    private = private_folder(folder)
    refuse_folder(folder, overwrite=overwrite)
    if to is not None and (file := file_of(to)) is not None and folder.resolve() in file.resolve().parents:
        raise OutputError(f"{to} lies in {folder}, which is written as a whole; name a file elsewhere.")
    with (
        destination(to, release, format) as rows,
        atomic_folders({folder: RELEASE, private: PRIVATE}, overwrite=overwrite) as (public, owners),
    ):
        chosen, lazy, written = format or kind.usual_format(release), release, []
        if is_on_cluster(release.data):
            written = kind.write(
                kind.with_bounds(release) if "bounds" in include else release, public, chosen
            )
            release = _on_disk(release, written[0])
            release.refuse_unless_published(strict=strict, allow=allow)
        _write_private(release, owners, about, report=report)
        allowed = sorted({each.column for each in release.figures.identifiers} & set(allow))
        _write_public(
            release, kind, public, chosen, about, allowed, written, report=report, pdf=pdf, include=include
        )
        if key is not None:
            write_signature(public / RECORD, key)
        write_text(owners / DIGESTS, record_text(digests(public / RECORD, owners))).chmod(0o600)
        if rows is not None:
            _judge_again(release, lambda: kind.of_table(release, rows.rows), str(to and without_password(to)))
            rows.commit()
    # What was judged and counted of the files need not be counted again of the rows that they were written from.
    vars(lazy).update(verdict=release.verdict, figures=release.figures)
    return folder


def _on_disk(release: Release, path: Path) -> Release:
    """Return a release on a cluster with its rows as they lie on disk, all of them there.

    Rows on a cluster are worked out again for every query. So they are written first, and judged and
    described by what was written.
    """
    engine = engine_of(release.frame)
    settled = replace(release, data=engine.written(path, release.frame))
    n_rows = release.evidence.n_rows - release.evidence.suppressed
    if engine.schema(settled.frame) != engine.schema(release.frame) or settled.table.n_rows != n_rows:
        raise _unlike("parquet files")
    return settled


def _unlike(place: str) -> OutputError:
    """Return the error for written data that is not what was to be written."""
    return OutputError(
        f"The released data cannot be read back from {place} as it was, so nothing was written; write "
        "another format, such as parquet."
    )


@contextmanager
def destination(to: str | None, release: Release, format: str | None) -> Iterator[Any]:  # noqa: A002
    """Return the released rows at their destination, nobody else's until they are committed; None without one."""
    if to is None:
        yield None
        return
    if release.kind != "table":
        raise ParameterError("Only the rows of a table are written elsewhere; leave the address out.")
    rows_written = release.frame
    if is_view(to):
        from discreet.publish.recipes.live_rows import live_rows

        rows_written = live_rows(release)
    with new_destination(to, rows_written, format) as rows:
        yield rows


def private_folder(folder: Path) -> Path:
    """Return the folder that stays with the owner.

    >>> private_folder(Path("releases/may")).as_posix()
    'releases/may.private'
    """
    return folder.with_name(f"{folder.resolve().name if folder.name in ('', '..') else folder.name}.private")


def refuse_folder(folder: Path, *, overwrite: bool) -> None:
    """Refuse folders that cannot or must not be replaced: only an earlier release may be, and only when allowed."""
    private = private_folder(folder)
    require_replaceable(folder, RELEASE, overwrite=overwrite)
    require_replaceable(private, PRIVATE, overwrite=overwrite)
    is_pair = is_readable(folder / RECORD) and is_readable(private / DIGESTS)
    if is_pair and RECORD in altered(folder / RECORD, private):
        raise OutputError(
            f"{private} belongs to another release than {folder}, or {RECORD} was changed since, so neither is "
            "overwritten; move them away, or name another folder."
        )


def _write_public(
    release: Release,
    kind: Kind,
    folder: Path,
    format: str,  # noqa: A002
    about: About,
    allowed: Sequence[str],
    written: list[Path],
    *,
    report: bool,
    pdf: bool,
    include: Sequence[str],
) -> None:
    """Write what is handed on, and judge the data as it lies on disk."""
    record = public_record(release) | about.to_dict() | ({"allowed": allowed} if allowed else {})
    if "bounds" in include:
        written = written or kind.write(kind.with_bounds(release), folder, format)
        record["bounds"] = {name: list(pair) for name, pair in bounds_columns(kind.codebook(release)).items()}
    else:
        written = written or kind.write(release, folder, format)
    write_text(folder / RECORD, record_text(record))
    if not is_on_cluster(release.data):
        _judge_again(release, lambda: kind.read_back(release, folder, format), f"{format} files")
    if kind.codebook(release):
        written += _write_metadata(release, kind, folder, format, about, include, written)
    if report:
        from discreet.report.page import render_report

        written.append(write_text(folder / REPORT, render_report(release, about=about)))
        if pdf:
            written.append(print_page(folder / REPORT, folder / PDF))
    files = {path.name: described_file(path) for path in written}
    write_text(folder / RECORD, record_text(record | {"files": files}))


def _write_metadata(
    release: Release,
    kind: Kind,
    folder: Path,
    format: str,  # noqa: A002
    about: About,
    include: Sequence[str],
    data: Sequence[Path],
) -> list[Path]:
    """Write the codebook, and what catalogues want to know, all of it from the public figures."""
    layout = text_layout(release, format)
    described = Described(
        release,
        kind.verdict_for_others(release.verdict),
        about,
        kind.codebook(release),
        {path.name: described_file(path) for path in data},
        layout.delimiter,
        layout.decimal if format == "csv" else ".",
        {
            f"{path.name}/{part.name}": described_file(part)
            for path in data
            if path.is_dir()
            for part in sorted(path.iterdir())
        },
    )
    written = [
        write_text(folder / CODEBOOK, codebook_csv(described.columns)),
        write_text(folder / "datapackage.json", json_text(data_package(described, "bounds" in include))),
        write_text(folder / "croissant.json", json_text(croissant(described))),
    ]
    if "healthdcat" in include:
        written.append(write_text(folder / "healthdcat.jsonld", json_text(health_dcat(described))))
    return written


def _write_private(release: Release, folder: Path, about: About, *, report: bool) -> None:
    """Write what stays with the owner; nobody else may read it."""
    figures = release.figures
    record = {
        "format": FORMAT,
        "discreet": __version__,
        "kind": release.kind,
        **about.to_dict(),
        **({} if about.source is None else {"source": about.source}),
        "seed": release.recipe.get("seed"),
        **release.private,
        "verdict": release.verdict.to_dict(),
        "cautions": [caution.to_dict() for caution in release.cautions],
        "measures": {} if figures.comparison is None else figures.comparison.to_dict(),
    }
    written = [write_text(folder / PRIVATE_RECORD, record_text(record))]
    if kind_of(release).codebook(release):
        written.append(write_text(folder / PRIVATE_CODEBOOK, owners_codebook(release)))
    if report:
        from discreet.report.page import render_report

        written.append(
            write_text(folder / PRIVATE_REPORT, render_report(release, internal=True, about=about))
        )
    # Digests are of distinct tuples, which are not fetched where they exceed memory.
    if release.kind == "table" and release.original is not None and not release.original.exceeds_memory:
        rows = folder / PRIVATE_ROWS
        rows.write_bytes(EarlierRows.of(release.original).to_bytes())
        written.append(rows)
    for path in written:
        path.chmod(0o600)


def public_record(release: Release) -> dict[str, Any]:
    """Return ``release.json``: the recipe, the verdict and facts about the released data; no record is in it."""
    return {
        "format": FORMAT,
        "discreet": __version__,
        "kind": release.kind,
        **without_seed(release.recipe),
        "verdict": public_verdict(kind_of(release), release.verdict),
        "cautions": [caution.to_dict() for caution in release.cautions if caution.public],
        **release.figures.public.to_dict(),
    }


def public_verdict(kind: Kind, verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as it may be published: figures that rest on what only the owner has stay with the owner."""
    return _without_private_figures(kind.verdict_for_others(verdict))


def _without_private_figures(verdict: Verdict) -> dict[str, Any]:
    published = verdict.to_dict()
    if verdict.basis is not Basis.VERIFIED:
        published = {name: published[name] for name in ("ok", "guarantee", "basis")}
    if verdict.parts:
        published["parts"] = [_without_private_figures(part) for part in verdict.parts]
    return published


def _judge_again(release: Release, read_back: Callable[[], Any], place: str) -> None:
    """Judge what was written, from the files or the table alone, and see that all of it is there."""
    try:
        subject = read_back()
        verdict = release.verdict
        if subject is not None:
            verdict = release.guarantee.check(subject)
            # Cells that a file cannot tell apart, such as nulls and empty texts in CSV, make other classes of it.
            if verdict.ok and not verdict.agrees_with(release.verdict):
                subject = None
    except DiscreetError:
        subject = None
    if subject is None:
        raise _unlike(place)
    if not verdict.ok:
        raise PromiseBrokenError(
            f"What was written into {place} does not keep the guarantee, so it was removed. {verdict}"
        )


def write_text(path: Path, text: str) -> Path:
    """Write text, the same bytes on every system; return the path."""
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def record_text(record: dict[str, Any]) -> str:
    """Write one entry a line: readable at the top, compact below."""
    lines = (f"  {json.dumps(key)}: {_json_value(value)}" for key, value in record.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _json_value(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(plain_json(value), ensure_ascii=False, allow_nan=False)
