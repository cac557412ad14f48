"""Tampering with every field of every file of a written release, of every kind in the registry.

With its owner's folder, `check` notices every change. Without it, whatever the files show is recomputed, and nothing is
called verified that was not. Releases are written once; each test changes copies of them.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet import Recipe, Table, intervals, masked, person, quasi, sensitive, tree
from discreet.core.adapters import KINDS
from discreet.core.errors import DiscreetError, OutputError
from discreet.guarantees import DistinctDiversity, KAnonymity, SampledPrivacy, TCloseness
from discreet.job.descriptions import roles_of
from discreet.job.release_checking import ReleaseJudgment, judge_release
from discreet.publish import Mondrian, Mst, SafePub
from tests.test_common_releases import found

PLANTED = "planted"


def of_people() -> Any:
    """Release visits: whose they are is not published, so only rows can be counted again."""
    rows = pa.table(
        {"who": [at // 2 for at in range(80)], "age": np.arange(80) % 9, "ill": list("abcd") * 20}
    )
    table = Table(rows, {"who": person(), "age": quasi(), "ill": sensitive()})
    return Mondrian(KAnonymity(3) & DistinctDiversity(2)).release(table)


def by_tree() -> Any:
    """Release a table whose guarantee is judged by a hierarchy that stays with the owner."""
    rows = pa.table({"zip": [f"1{at % 7}" for at in range(80)], "ill": list("abcd") * 20})
    ill = sensitive(tree({"x": ["a", "b"], "y": ["c", "d"]}))
    promise = KAnonymity(3) & TCloseness(0.9, "hierarchical")
    return Mondrian(promise).release(Table(rows, {"zip": quasi(masked()), "ill": ill}))


def of_noise() -> Any:
    """Release synthetic rows, whose budget only the owner can account for."""
    rows = pa.table({"age": np.arange(80) % 9, "ill": list("abcd") * 20})
    table = Table(rows, {"age": quasi(), "ill": sensitive()})
    return Mst(2.0, domains={"age": "0:10:1", "ill": list("abcd")}, n_steps=30).release(table)


def of_sample() -> Any:
    """Release a random sample, of which others can recompute the sizes of classes alone."""
    rows = pa.table({"age": [1, 11, 21, 2] * 400})
    return SafePub(SampledPrivacy(2, 1e-6), levels={"age": 1}).release(
        Table(rows, {"age": quasi(intervals(10))})
    )


def makers() -> dict[str, Any]:
    """Return how a release of each kind, and by each first guarantee, is made: by the first method that does."""
    made: dict[str, Any] = {}
    for one in (param.values[0] for param in found()):
        name = f"{one.method.makes_of(one.takes)} {one.method.guarantees[0]}"
        made.setdefault(name, lambda one=one: one.release(one.case.guarantee(2)))
    made["synthetic-data DifferentialPrivacy"] = of_noise
    made["sampled-table SampledPrivacy"] = of_sample
    return made | {"table of people": of_people, "table by a tree": by_tree}


SLOW = ("table", "grouped-table", "pseudo-data")
"""Kinds with many fields that take longer to judge: not all of their changes are tried in one run."""
MAKERS = makers()
every_release = pytest.mark.parametrize("name", MAKERS)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write a release of each kind; the first also has its reports."""
    place = tmp_path_factory.mktemp("releases")
    return {
        name: make().write(place / name.replace(" ", "-"), report=not number)
        for number, (name, make) in enumerate(MAKERS.items())
    }


@pytest.fixture
def take(releases: dict[str, Path], tmp_path: Path) -> Any:
    """Return a function that copies a release, with or without its owner's folder."""

    def copied(name: str, *, owner: bool, to: str = "out") -> Path:
        source, folder = releases[name], tmp_path / to
        for suffix in ("", ".private"):
            shutil.rmtree(f"{folder}{suffix}", ignore_errors=True)
        shutil.copytree(source, folder)
        if owner:
            shutil.copytree(f"{source}.private", f"{folder}.private")
        return folder

    return copied


def judged(folder: Path) -> ReleaseJudgment | None:
    """Return what `check` finds; None where it refuses the folder in words."""
    try:
        return judge_release(folder)
    except DiscreetError:
        return None


def is_noticed(folder: Path) -> bool:
    judgment = judged(folder)
    return judgment is None or judgment.word == "broken"


def fields(plain: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return every part of plain data; of a long list the first two."""
    inner = (
        plain.items() if isinstance(plain, dict) else enumerate(plain[:2]) if isinstance(plain, list) else ()
    )
    for key, value in inner:
        yield (*at, key)
        yield from fields(value, (*at, key))


def changed(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return ("0" if value[:1] != "0" else "1") + value[1:]
    if isinstance(value, dict):
        return value | {PLANTED: 1}
    return [*value, PLANTED] if isinstance(value, list) else 1


def mutated(plain: Any) -> Iterator[tuple[str, Any]]:
    """Return the data with each part changed, or left out, and with something added to each; lists count as values."""
    yield PLANTED, {**plain, PLANTED: 1}
    for path in fields(plain):
        for remove in (False, True):
            made = copy.deepcopy(plain)
            inner = made
            for key in path[:-1]:
                inner = inner[key]
            if remove:
                del inner[path[-1]]
            else:
                inner[path[-1]] = changed(inner[path[-1]])
            yield ".".join(map(str, path)), made


def sampled(plain: Any, n: int) -> list[tuple[str, Any]]:
    """Return about n of the changes, spread over the data."""
    cases = list(mutated(plain))
    return cases[:: max(len(cases) // n, 1)]


def test_every_kind_is_among_the_releases() -> None:
    assert {name.split()[0] for name in MAKERS} == set(KINDS)


@every_release
def test_a_release_as_it_was_written_is_not_broken(take: Any, name: str) -> None:
    for owner in (True, False):
        judgment = judge_release(take(name, owner=owner))
        assert judgment.word in ("verified", "claimed")
        assert judgment.vouched is owner
        assert not judgment.record.wrong
        assert judgment.ok is (judgment.word == "verified")
        assert (judgment.why == "") is judgment.ok


@every_release
def test_every_field_of_release_json_is_covered_by_the_owners_folder(take: Any, name: str) -> None:
    folder = take(name, owner=True)
    record = json.loads((folder / "release.json").read_text())
    for field, wrong in sampled(record, 12):
        (folder / "release.json").write_text(json.dumps(wrong))
        assert is_noticed(folder), field


@every_release
def test_no_field_is_called_verified_that_was_not_recomputed(take: Any, name: str) -> None:
    """A change that is not noticed without the owner's folder is in a field that is only claimed."""
    folder = take(name, owner=False)
    record = json.loads((folder / "release.json").read_text())
    verified = judge_release(folder).record.verified
    assert "files" in verified
    for field, wrong in mutated(record) if judge_release(folder).kind not in SLOW else sampled(record, 80):
        (folder / "release.json").write_text(json.dumps(wrong))
        judgment = judged(folder)
        if judgment is None or judgment.word == "broken":
            continue
        assert not judgment.vouched
        assert not [one for one in verified if field == one or field.startswith(f"{one}.")], field


@every_release
def test_every_file_is_covered(take: Any, name: str) -> None:
    """Bytes changed, cut off, a link or a folder in its place, removed, added: of every file, public or private."""
    for owner in (True, False):
        folder = take(name, owner=owner)
        places = [folder, folder.with_name("out.private")] if owner else [folder]
        paths = [path for place in places for path in sorted(place.iterdir())]
        for path in paths:
            content = path.read_bytes()
            for damage in (edited, cut, removed, linked, as_folder):
                if path.name == "release.json" and not owner and damage in (edited, cut):
                    continue  # its fields are changed one by one in another test
                damage(path, content)
                assert is_noticed(folder), (path.name, damage.__name__, owner)
                restore(path, content)
            (path.parent / "added.bin").write_bytes(content)
            assert is_noticed(folder), path.parent.name
            (path.parent / "added.bin").unlink()
        assert not is_noticed(folder)


def edited(path: Path, content: bytes) -> None:
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])


def cut(path: Path, content: bytes) -> None:
    path.write_bytes(content[:-3])


def removed(path: Path, content: bytes) -> None:
    del content
    path.unlink()


def linked(path: Path, content: bytes) -> None:
    target = path.parent.parent / "elsewhere"
    target.write_bytes(content)
    path.unlink()
    path.symlink_to(target)


def as_folder(path: Path, content: bytes) -> None:
    del content
    path.unlink()
    path.mkdir()


def restore(path: Path, content: bytes) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    path.write_bytes(content)


@every_release
def test_parts_of_another_release_do_not_fit(take: Any, name: str, tmp_path: Path) -> None:
    """A file, release.json or the whole owner's folder of another release of the same data."""
    other = MAKERS[name]().write(tmp_path / "other", report=False)
    folder = take(name, owner=True)
    for path in sorted(folder.iterdir()):
        if not (other / path.name).is_file() or (other / path.name).read_bytes() == path.read_bytes():
            continue
        content = path.read_bytes()
        shutil.copy(other / path.name, path)
        assert is_noticed(folder), path.name
        restore(path, content)
    record = (folder / "release.json").read_bytes()
    if record == (other / "release.json").read_bytes():
        return
    shutil.rmtree(tmp_path / "out.private")
    shutil.copytree(tmp_path / "other.private", tmp_path / "out.private")
    judgment = judge_release(folder)
    assert judgment.word == "broken"
    assert "release.json" in judgment.changed
    with pytest.raises(OutputError, match="belongs to another release"):
        MAKERS[name]().write(folder, report=False, overwrite=True)
    assert (folder / "release.json").read_bytes() == record


@every_release
def test_every_field_of_the_owners_folder_is_covered(take: Any, name: str) -> None:
    folder = take(name, owner=True)
    for path in sorted(folder.with_name("out.private").glob("*.json")):
        plain, content = json.loads(path.read_text()), path.read_bytes()
        for field, wrong in sampled(plain, 8):
            path.write_text(json.dumps(wrong))
            assert is_noticed(folder), (path.name, field)
        path.write_bytes(content)
    assert not is_noticed(folder)


def test_the_owners_folder_of_another_release_is_not_used(take: Any, tmp_path: Path) -> None:
    folder = take("table by a tree", owner=True)
    assert roles_of(folder)["ill"].hierarchy is not None
    Recipe.read(folder / "release.json")
    by_tree().write(tmp_path / "other", report=False)
    shutil.rmtree(tmp_path / "out.private")
    shutil.copytree(tmp_path / "other.private", tmp_path / "out.private")
    with pytest.raises(DiscreetError, match="belongs to another release"):
        roles_of(folder)
    with pytest.raises(DiscreetError, match="belongs to another release"):
        Recipe.read(folder / "release.json")
