"""m-invariant releases: attacked by all worlds that agree with them, against the paper's example, and on disk."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import repeated as oracle

from discreet import Release, Table, identifier, intervals, other, person, quasi, sensitive
from discreet.core.pseudonym import pseudonym
from discreet.core.verdict import Basis
from discreet.errors import InfeasibleError, InputError, ParameterError, SchemaError
from discreet.guarantees import MInvariance
from discreet.job.evidence.repeated_checking import judge_repeated
from discreet.job.release_checking import judge_release
from discreet.publish import CounterfeitedGeneralization

ROLES = {"who": person(), "age": quasi(), "illness": sensitive()}
Rows = list[tuple[str, int, Any]]


def table(rows: Rows, **roles: Any) -> Table:
    columns = dict(zip(("who", "age", "illness"), map(list, zip(*rows, strict=True)), strict=True))
    return Table(pa.table(columns), {**ROLES, **roles})


def groups(release: Release) -> list[oracle.Group]:
    """The published groups, read from the frames alone."""
    held: dict[int, set[Any]] = {}
    for row in release.data.counts.to_pylist():
        assert row["count"] == 1
        held.setdefault(row["group"], set()).add(row["illness"])
    boxes: dict[int, tuple[Any, ...]] = {}
    sizes: Counter[int] = Counter()
    for row in release.frame.to_pylist():
        box = (row["age"], row["counterfeits"])
        assert boxes.setdefault(row["group"], box) == box
        sizes[row["group"]] += 1
    assert sizes == {number: len(values) for number, values in held.items()}
    return [
        ((frozenset(range(_ends(age)[0], _ends(age)[-1] + 1)),), frozenset(held[number]), fakes)
        for number, (age, fakes) in sorted(boxes.items())
    ]


def _ends(label: object) -> list[int]:
    return [int(end) for end in str(label).strip("[]").split(", ")]


def signatures(release: Release) -> dict[str, tuple[Any, ...]]:
    state = release.private["m_invariance"]
    return {who: tuple(state["signatures"][number]) for who, number in state["people"].items()}


AGE, ILLNESS = st.integers(0, 3), st.sampled_from("xyz")
PEOPLE = st.fixed_dictionaries({f"p{number}": st.tuples(AGE, ILLNESS) for number in range(6)})
PRESENT = st.sets(st.sampled_from([f"p{number}" for number in range(6)]), min_size=2, max_size=4)


@settings(max_examples=60, deadline=None)
@given(people=PEOPLE, present=st.lists(PRESENT, min_size=1, max_size=3), seed=st.integers(0, 99))
def test_no_world_makes_a_value_likelier_than_one_in_m(
    people: Any, present: list[set[str]], seed: int
) -> None:
    previous: Release | None = None
    published, known = [], []
    for names in present:
        rows = [(who, *people[who]) for who in sorted(names)]
        publisher = CounterfeitedGeneralization(2, previous=previous, random_state=seed)
        try:
            release = publisher.release(table(rows))
        except InfeasibleError:
            # Only a first release, or one value in all data, can be infeasible.
            values = [illness for _, _, illness in rows]
            assert previous is None
            assert Counter(values).most_common(1)[0][1] * 2 > len(values)
            return
        assert release.verdict.ok
        if previous is None:
            assert release.recipe["counterfeits"] == 0
        published.append(groups(release))
        known.append({who: (age,) for who, age, _ in rows})
        if previous is not None:
            now = signatures(release)
            assert all(now[who] == each for who, each in signatures(previous).items())
        previous = release
    for found in published:
        for _, values, fakes in found:
            assert len(values) >= 2
            assert 0 <= fakes < len(values)
    beliefs = oracle.beliefs(known, published)
    assert beliefs
    assert max(beliefs.values()) <= Fraction(1, 2)
    truth = {who: people[who][1] for who in beliefs}
    assert any(world == truth for world, _ in oracle.worlds(known, published))


def test_releases_made_apart_can_be_intersected_and_those_of_a_chain_cannot() -> None:
    """The attack itself works: the same people published twice without the state are disclosed."""
    first = [("a", 0, "x"), ("b", 1, "y")]
    second = [("a", 0, "x"), ("c", 1, "z")]
    alone = [groups(CounterfeitedGeneralization(2).release(table(rows))) for rows in (first, second)]
    (values_before,), (values_after,) = ([each[1] for each in found] for found in alone)
    assert values_before & values_after == {"x"}
    before = CounterfeitedGeneralization(2, random_state=1).release(table(first))
    after = CounterfeitedGeneralization(2, previous=before, random_state=1).release(table(second))
    assert frozenset({"x", "y"}) in {values for _, values, _ in groups(after)}
    assert after.recipe["counterfeits"] == 2  # y beside a, and x or y beside c


def test_counterfeits_are_as_many_as_values_that_nobody_new_has() -> None:
    rng = np.random.default_rng(3)
    rows = [(f"p{number}", int(rng.integers(0, 90)), "wxyz"[int(rng.integers(4))]) for number in range(300)]
    first = CounterfeitedGeneralization(3, random_state=1).release(table(rows[:200]))
    assert first.recipe["counterfeits"] == 0
    assert first.verdict.basis is Basis.VERIFIED
    second = CounterfeitedGeneralization(3, previous=first, random_state=1).release(table(rows[50:250]))
    assert second.verdict.basis is Basis.CONSTRUCTION
    fakes = sum(each for _, _, each in groups(second))
    assert second.recipe["counterfeits"] == fakes
    assert len(second.frame) == 200 + fakes
    third = CounterfeitedGeneralization(3, previous=second, random_state=1).release(table(rows[:300]))
    assert third.guarantee == MInvariance(3, release=3, of="illness")
    now, then = signatures(third), signatures(first)
    assert all(now[who] == each for who, each in then.items())
    # Everybody's true age lies in some group that has their values.
    key = bytes.fromhex(third.private["m_invariance"]["key"])
    for who, age, illness in rows:
        fitting = [
            values for (ages,), values, _ in groups(third)
            if age in ages and tuple(sorted(values)) == now[pseudonym(who, key)]
        ]  # fmt: skip
        assert fitting
        assert illness in fitting[0]


def test_the_same_seed_makes_the_same_release() -> None:
    rows = [(f"p{number}", number % 20, "xyz"[number % 3]) for number in range(60)]
    first, again, other_seed = (
        CounterfeitedGeneralization(2, random_state=seed).release(table(rows)) for seed in (1, 1, 2)
    )
    assert first.frame.equals(again.frame)
    assert first.data.counts.equals(again.data.counts)
    assert not first.frame.equals(other_seed.frame)


def written(folder: Path) -> tuple[Path, Path]:
    rows = [(f"SECRET-{number}", number % 25, "xyz"[number % 3]) for number in range(90)]
    january, february = folder / "january", folder / "february"
    CounterfeitedGeneralization(3).release(table(rows[:60])).write(january)
    CounterfeitedGeneralization(3, previous=january).release(table(rows[20:])).write(february)
    return january, february


def test_written_releases_are_judged_alone_and_together(tmp_path: Path) -> None:
    january, february = written(tmp_path)
    assert judge_release(january).word == "verified"
    judgment = judge_release(february)
    assert judgment.word == "claimed"
    assert not judgment.record.wrong
    together = judge_repeated([january, february])
    assert together.word == "claimed"
    assert together.composition.values["illness"] == 3
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"SECRET" not in path.read_bytes(), path
    record = json.loads((february / "release.json").read_text())
    assert "m_invariance" not in record
    assert record["rows"]["out"] == record["rows"]["in"] + record["counterfeits"]


def test_a_release_that_does_not_follow_is_intersected_without_trust(tmp_path: Path) -> None:
    january, _ = written(tmp_path)
    rows = [(f"SECRET-{number}", number % 25, "xyw"[number % 3]) for number in range(20, 80)]
    CounterfeitedGeneralization(3).release(table(rows)).write(tmp_path / "apart")
    together = judge_repeated([january, tmp_path / "apart"])
    assert not together.ok
    assert together.composition.values["illness"] < 3


def test_what_cannot_be_published_is_one_clear_line(tmp_path: Path) -> None:
    rows: Rows = [("a", 1, "x"), ("b", 2, "y"), ("c", 3, "x"), ("d", 4, "y")]
    publisher = CounterfeitedGeneralization(2)
    with pytest.raises(SchemaError, match="mark their key as person"):
        publisher.release(table(rows, who=identifier()))
    with pytest.raises(SchemaError, match="Pseudonyms would tie"):
        publisher.release(table(rows, who=person(pseudonym="k" * 16)))
    with pytest.raises(SchemaError, match="exactly one sensitive column, and 0"):
        publisher.release(table(rows, illness=quasi()))
    with pytest.raises(SchemaError, match="role other"):
        frame = pa.table({"who": [1, 2], "age": [1, 2], "illness": ["x", "y"], "note": ["a", "a"]})
        publisher.release(Table(frame, {**ROLES, "note": other()}))
    with pytest.raises(InputError, match="missing in 1 rows"):
        publisher.release(table([*rows, (None, 3, "x")]))  # type: ignore[list-item]
    with pytest.raises(InputError, match="one row of each"):
        publisher.release(table([*rows, ("a", 5, "y")]))
    with pytest.raises(InfeasibleError, match="Use m=1 at most"):
        publisher.release(table([("a", 1, "x"), ("b", 2, "x"), ("c", 3, "y")]))
    first = publisher.release(table(rows))
    with pytest.raises(InputError, match="1 people have another sensitive value"):
        CounterfeitedGeneralization(2, previous=first).release(table([("a", 1, "z"), *rows[1:]]))
    with pytest.raises(ParameterError, match="use one m"):
        CounterfeitedGeneralization(3, previous=first).release(table(rows))
    with pytest.raises(SchemaError, match="another hierarchy"):
        CounterfeitedGeneralization(2, previous=first).release(table(rows, age=quasi(intervals(10))))
    with pytest.raises(ParameterError, match="fewer than m=2"):
        CounterfeitedGeneralization(2, previous={"a": ["x"]}).release(table(rows))
    first.write(tmp_path / "out", report=False)
    for path in (tmp_path / "out.private").iterdir():
        path.unlink()
    (tmp_path / "out.private").rmdir()
    with pytest.raises(InputError, match="no private folder beside it"):
        CounterfeitedGeneralization(2, previous=tmp_path / "out").release(table(rows))
    with pytest.raises(InputError, match="no release that can be read"):
        CounterfeitedGeneralization(2, previous=tmp_path / "nowhere").release(table(rows))


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["x", "y", None])), min_size=1, max_size=8),
    m=st.integers(2, 3),
)
def test_the_guarantee_is_that_of_the_definition(rows: Any, m: int) -> None:
    frame = pa.table(
        {"age": [age for age, _ in rows], "illness": pa.array([each for _, each in rows], pa.string())}
    )
    verdict = MInvariance(m).check(Table(frame, {"age": quasi(), "illness": sensitive()}))
    held: dict[int, list[Any]] = {}
    for age, illness in rows:
        held.setdefault(age, []).append(illness)
    assert verdict.ok == all(len(set(each)) == len(each) >= m for each in held.values())


def test_no_group_is_of_counterfeits_alone() -> None:
    """Newcomers without partners join a bucket with counterfeits, which once met those of the others."""
    first = CounterfeitedGeneralization(2, random_state=0).release(table([("a", 0, "x"), ("b", 0, "y")]))
    later = [("a", 0, "x"), ("c", 1, "x"), ("d", 2, "x"), ("e", 3, "x")]
    for seed in range(20):
        release = CounterfeitedGeneralization(2, previous=first, random_state=seed).release(table(later))
        found = groups(release)
        assert [fakes for _, _, fakes in found] == [1] * 4


def test_a_fork_is_broken_a_gap_is_said_and_a_chain_is_claimed(tmp_path: Path) -> None:
    rows = [(f"p{number}", number % 10, "xyz"[number % 3]) for number in range(40)]
    folders = [tmp_path / name for name in ("first", "second", "third", "fork")]
    for folder, previous, part in zip(
        folders, (None, 0, 1, 0), (rows[:30], rows[5:35], rows[9:], rows[8:]), strict=True
    ):
        before = None if previous is None else folders[previous]
        CounterfeitedGeneralization(2, previous=before).release(table(part)).write(folder, report=False)
    first, second, third, fork = folders
    assert judge_repeated([first, second, third]).word == "claimed"
    judgment = judge_repeated([first, second, fork])
    assert (judgment.word, judgment.forks, judgment.gaps) == ("broken", (3,), ())
    judgment = judge_repeated([first, third])
    assert judgment.word != "verified"
    assert judgment.gaps == (2,)


def test_the_owner_reads_how_many_people_were_recognized() -> None:
    rows = [("A", 20, "x"), ("B", 21, "y"), ("C", 30, "x"), ("D", 31, "y")]
    first = CounterfeitedGeneralization(2).release(table(rows))
    written_otherwise = [("a", 20, "x"), ("B", 21, "y"), ("C", 30, "x")]
    later = CounterfeitedGeneralization(2, previous=first).release(table(written_otherwise))
    assert later.private["recognized"] == 2
    assert "recognized" not in later.recipe
