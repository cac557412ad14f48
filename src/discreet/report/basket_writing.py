"""Writing published baskets: the data, the recipe and the report in one folder, judged as they lie on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet import __version__
from discreet.core.basket_release import BasketRelease
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import InputError, OutputError, PromiseBrokenError
from discreet.core.params import OneOf, require
from discreet.core.rng import without_seed
from discreet.engines.baskets.published import FORMATS, read_published, write_published
from discreet.engines.writing import atomic_folder
from discreet.report.folder import REPORT, refuse_folder, write_record, write_text


def write_basket_release(
    release: BasketRelease,
    folder: Path,
    *,
    format: str = "csv",  # noqa: A002
    report: bool = True,
    overwrite: bool = False,
) -> Path:
    """Write ``baskets.<format>``, ``sensitive.<format>``, ``release.json`` and ``report.html``, all or nothing.

    What holds data is read back and judged before the folder gets its name. Where it does not keep the promise, nothing
    is left and what stood there before is untouched.
    """
    require("write", "format", format, OneOf(FORMATS))
    refuse_folder(folder, overwrite=overwrite)
    with atomic_folder(folder, overwrite=overwrite) as place:
        written = write_published(release.data, place, format)
        write_record(place, without_seed(release.recipe))
        _judge_again(release, place, format)
        if report:
            from discreet.report.baskets import render_baskets

            written.append(write_text(place / REPORT, render_baskets(release)))
        write_record(place, _record(release), written)
    return folder


def _judge_again(release: BasketRelease, place: Path, kind: str) -> None:
    """Judge what was written, from the files alone, and see that it is what was to be published."""
    try:
        found = read_published(place)
        verdict = release.guarantee.check(found)
    except InputError:
        found = None
    if found is None or not _same(found, release.data):
        raise OutputError(
            f"The published baskets cannot be read back from {kind} files as they were, so nothing was written; "
            "write another format, such as parquet."
        )
    if not verdict.ok:
        raise PromiseBrokenError(
            f"The files that were written do not keep the promise, so they were removed. {verdict}"
        )


def _same(found: GroupedBaskets | Baskets, data: GroupedBaskets | Baskets) -> bool:
    """Return whether baskets were read as they were written; items that nobody holds are not in the files."""
    if isinstance(found, GroupedBaskets) and isinstance(data, GroupedBaskets):
        return (
            _same(found.baskets, data.baskets)
            and bool((found.group == data.group).all())
            and _totals(found) == _totals(data)
        )
    if isinstance(found, Baskets) and isinstance(data, Baskets):
        if len(found) != len(data) or (found.lengths != data.lengths).any():
            return False
        names = data.names.take(data.items)
        return bool(found.names.take(found.items).cast(names.type).equals(names))
    return False


def _totals(data: GroupedBaskets) -> tuple[list[int], list[Any], list[int]]:
    held = data.sensitive
    return held.indptr.tolist(), data.sensitive_names.take(held.values).to_pylist(), held.counts.tolist()


def _record(release: BasketRelease) -> dict[str, Any]:
    """Return the recipe, and what came of it; no basket, no item and no seed is in it."""
    evidence = release.evidence
    return {
        **without_seed(release.recipe),
        "discreet": __version__,
        "baskets": {"in": evidence.n_rows, "out": len(release.data), "suppressed": evidence.suppressed},
        "verdict": release.verdict.to_dict(),
    }
