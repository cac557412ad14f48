"""Linked tables: joined views by brute force, in memory and in written files; pseudonyms, shifts, who is left out."""

from __future__ import annotations

import csv
import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import linked as oracle
from tests.publishing import KINDS, made_as

from discreet import LinkedTables, Release, Table, intervals, other, person, quasi, sensitive
from discreet.errors import DiscreetError, InfeasibleError, InputError, ParameterError, SchemaError
from discreet.guarantees import AlphaKAnonymity, DistinctDiversity, KAnonymity, KMap, TCloseness
from discreet.job.release_checking import judge_release
from discreet.publish import LinkedGeneralization

ROLES = {
    "people": {"who": "person", "age": "quasi"},
    "visits": {"who": "person", "ward": "quasi", "illness": "sensitive"},
    "drugs": {"who": "person", "month": "quasi", "drug": "sensitive"},
}
MADE = {"person": person, "quasi": quasi, "sensitive": sensitive, "other": other}


def linked(
    rows: dict[str, list[dict[str, Any]]], *, row_counts: Any = "known", kind: str = "arrow"
) -> LinkedTables:
    tables = {}
    for name, roles in ROLES.items():
        frame = pa.table({column: [row[column] for row in rows[name]] for column in roles})
        columns = {column: MADE[role]() for column, role in roles.items()}
        if "age" in columns:
            columns["age"] = quasi(intervals(10, 40))
        tables[name] = Table(made_as(kind, frame), columns)
    return LinkedTables(tables, row_counts)


def hospital(n: int = 60, seed: int = 2) -> dict[str, list[dict[str, Any]]]:
    rng = np.random.default_rng(seed)
    ids = [f"SECRET-{number}" for number in rng.permutation(n)]
    visits = [who for who in ids for _ in range(int(rng.integers(1, 3)))]
    drugs = [who for who in ids if rng.random() < 0.7]
    return {
        "people": [{"who": who, "age": int(rng.integers(20, 60))} for who in ids],
        "visits": [
            {"who": who, "ward": "ab"[int(rng.integers(2))], "illness": "xyz"[int(rng.integers(3))]}
            for who in visits
        ],
        "drugs": [
            {"who": who, "month": int(rng.integers(1, 3)), "drug": "pqr"[int(rng.integers(3))]}
            for who in drugs
        ],
    }


PEOPLE = st.integers(0, 4)
SMALL = st.fixed_dictionaries({
    "people": st.lists(
        st.fixed_dictionaries({"who": PEOPLE, "age": st.sampled_from([20, 25, 60, None])}), min_size=1, max_size=6
    ),
    "visits": st.lists(
        st.fixed_dictionaries({"who": PEOPLE, "ward": st.sampled_from("ab"), "illness": st.sampled_from("xy")}),
        min_size=1, max_size=7,
    ),
    "drugs": st.lists(
        st.fixed_dictionaries(
            {"who": PEOPLE, "month": st.sampled_from([1, 2]), "drug": st.sampled_from(["p", "q", None])}
        ),
        min_size=1, max_size=7,
    ),
})  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(rows=SMALL, known=st.booleans())
def test_guarantees_are_judged_on_the_joined_view(rows: Any, known: bool) -> None:
    data = linked(rows, row_counts="known" if known else "unknown")
    sizes = sorted(len(people) for people in oracle.classes(rows, ROLES, known=known))
    assert sorted(data.counted.sizes.tolist()) == sizes
    assert KAnonymity(2).check(data).worst == oracle.least_people(rows, ROLES, known=known)
    for column in ("illness", "drug"):
        verdict = DistinctDiversity(2, of=column).check(data)
        enough = oracle.least_people(rows, ROLES, known=known) >= 2
        assert verdict.ok == (enough and oracle.least_values(rows, ROLES, column, known=known) >= 2)
        shares = AlphaKAnonymity(0.5, 1, of=column).check(data)
        assert shares.worst == pytest.approx(oracle.largest_share(rows, ROLES, column, known=known))


@settings(max_examples=60, deadline=None)
@given(rows=SMALL, known=st.booleans(), share=st.sampled_from([0.0, 0.5, 0.9]))
def test_a_release_keeps_the_guarantee_by_brute_force(rows: Any, known: bool, share: float) -> None:
    publisher = LinkedGeneralization(
        KAnonymity(2) & DistinctDiversity(2, of="illness"),
        max_suppressed=share,
        row_counts="known" if known else "unknown",
        random_state=3,
    )
    try:
        release = publisher.release(linked(rows))
    except DiscreetError as error:
        assert isinstance(error, InfeasibleError | InputError), error  # noqa: PT017  # most tables can be released
        return
    released = {name: table.frame.to_pylist() for name, table in release.data.tables.items()}
    assert oracle.least_people(released, ROLES, known=known) >= 2
    if released["visits"]:
        assert oracle.least_values(released, ROLES, "illness", known=known) >= 2
    n_people = len({row["who"] for of_table in rows.values() for row in of_table})
    n_released = len({row["who"] for of_table in released.values() for row in of_table})
    assert n_people - n_released == release.evidence.suppressed <= share * n_people
    assert release.verdict.ok
    assert release.verdict.verified


@pytest.mark.parametrize("kind", KINDS)
def test_the_written_files_keep_it_and_agree_in_every_kind_of_frame(tmp_path: Path, kind: str) -> None:
    publisher = LinkedGeneralization(KAnonymity(3), max_suppressed=0.2, row_counts="known", random_state=1)
    release = publisher.release(linked(hospital(), kind=kind))
    release.write(tmp_path / "out", report=kind == "arrow")
    read = {
        name: list(csv.DictReader((tmp_path / "out" / f"{name}.csv").read_text().splitlines()))
        for name in ROLES
    }
    assert oracle.least_people(read, ROLES, known=True) >= 3
    for path in (tmp_path / "out").iterdir():
        assert b"SECRET" not in path.read_bytes()
    for path in (tmp_path / "out.private").iterdir():
        assert b"SECRET" not in path.read_bytes()
    judgment = judge_release(tmp_path / "out")
    assert judgment.word == "verified"
    assert not judgment.record.wrong
    record = json.loads((tmp_path / "out" / "release.json").read_text())
    assert record["people"]["out"] == len({row["who"] for of_table in read.values() for row in of_table})
    assert "pseudonym_key" not in record


def test_a_changed_cell_of_one_table_breaks_the_release(tmp_path: Path) -> None:
    release = LinkedGeneralization(KAnonymity(3), max_suppressed=0.2, random_state=1).release(
        linked(hospital())
    )
    release.write(tmp_path / "out", report=False)
    path = tmp_path / "out" / "drugs.csv"
    head, _first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([head, *rest]) + "\n")
    assert judge_release(tmp_path / "out").word == "broken"


def test_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.kinds import written

    release = LinkedGeneralization(KAnonymity(3), max_suppressed=0.2).release(linked(hospital()))
    real = written.write_table

    def fails(part: Any, frame: Any, path: Path, form: str) -> Path:
        if path.stem == "drugs":
            raise OSError("disk full")
        return real(part, frame, path, form)

    monkeypatch.setattr(written, "write_table", fails)
    with pytest.raises((OSError, DiscreetError)):
        release.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def dates() -> LinkedTables:
    rng = np.random.default_rng(5)
    day = [dt.date(2024, 1, 1) + dt.timedelta(int(number)) for number in rng.integers(0, 300, 40)]
    visits = pa.table({"who": [number % 20 for number in range(40)], "ward": ["a"] * 40, "day": day})
    bought = pa.table({
        "who": list(range(20)), "month": [1] * 20,
        "moment": [dt.datetime(2024, 6, 1, 12, 30) + dt.timedelta(days=number) for number in range(20)],
    })  # fmt: skip
    return LinkedTables({
        "visits": Table(visits, {"who": person(), "ward": quasi(), "day": other()}),
        "drugs": Table(bought, {"who": person(), "month": quasi(), "moment": other()}),
    })  # fmt: skip


def shifted(**more: Any) -> Release:
    publisher = LinkedGeneralization(
        KAnonymity(2), shift={"visits": ["day"], "drugs": ["moment"]}, max_shift=30, **more
    )
    return publisher.release(dates())


def test_every_person_has_one_shift_in_all_tables() -> None:
    data = dates()
    release = shifted()
    key = bytes.fromhex(release.private["pseudonym_key"])
    from discreet.core.pseudonym import pseudonym

    shifts: dict[str, set[int]] = {}
    for name, column in (("visits", "day"), ("drugs", "moment")):
        before: dict[str, list[Any]] = {}
        for row in data.tables[name].frame.to_pylist():
            before.setdefault(pseudonym(str(row["who"]), key), []).append(row[column])
        after: dict[str, list[Any]] = {}
        for row in release.data.tables[name].frame.to_pylist():
            after.setdefault(row["who"], []).append(row[column])
        assert before.keys() == after.keys()
        for who, values in before.items():
            moves = {new - old for old, new in zip(sorted(values), sorted(after[who]), strict=True)}
            assert len(moves) == 1
            shifts.setdefault(who, set()).update(move.days for move in moves)
            assert all(move.seconds == 0 for move in moves)
    assert all(len(days) == 1 for days in shifts.values())
    drawn = {next(iter(days)) for days in shifts.values()}
    assert len(drawn) > 5
    assert all(-30 <= day <= 30 for day in drawn)


def test_the_gaps_that_shifts_leave_are_counted() -> None:
    release = shifted()
    rows = {who: [] for who in {row["who"] for row in release.data.tables["visits"].frame.to_pylist()}}
    for name, column in (("visits", "day"), ("drugs", "moment")):
        for row in release.data.tables[name].frame.to_pylist():
            value = row[column]
            rows[row["who"]].append((name, value.date() if isinstance(value, dt.datetime) else value))
    gaps = {
        who: tuple(sorted((name, (day - min(each for _, each in days)).days) for name, day in days))
        for who, days in rows.items()
    }
    alone = sum(list(gaps.values()).count(pattern) == 1 for pattern in gaps.values())
    (caution,) = [each for each in release.cautions if each.code == "date-gaps"]
    assert f"{alone:,} of 20 people" in caution.text
    assert caution.public


def test_unknown_row_counts_caution_counts_people() -> None:
    rows = hospital()
    release = LinkedGeneralization(KAnonymity(3), max_suppressed=0.2, row_counts="unknown").release(
        linked(rows)
    )
    released = {name: table.frame.to_pylist() for name, table in release.data.tables.items()}
    few = sum(len(people) for people in oracle.classes(released, ROLES, known=True) if len(people) < 3)
    texts = [each.text for each in release.cautions if each.code == "known-row-counts"]
    assert bool(texts) == bool(few)
    assert not few or f"{few:,} of" in texts[0]


def test_the_same_seed_makes_the_same_release_and_a_user_key_the_same_pseudonyms() -> None:
    first, second = (shifted(random_state=4).data.tables["visits"].frame for _ in range(2))
    assert first.equals(second)
    assert not first.equals(shifted(random_state=5).data.tables["visits"].frame)


def bad(name: str) -> LinkedTables:
    rows = hospital(30)
    if name == "null key":
        rows["drugs"][0]["who"] = None
    if name == "keys of one table only":
        rows["drugs"] = [{**row, "who": f"X{number}"} for number, row in enumerate(rows["drugs"])]
    if name == "number keys":
        rows["drugs"] = [{**row, "who": number} for number, row in enumerate(rows["drugs"])]
    return linked(rows)


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("null key", InputError, "missing in 1 rows of table 'drugs'"),
        ("keys of one table only", InputError, "No key of table 'drugs' is in another table"),
        ("number keys", SchemaError, "whole numbers in every table, or text in every table"),
    ],
)
def test_bad_keys_are_one_clear_line(name: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        LinkedGeneralization(KAnonymity(2)).release(bad(name))
    assert "SECRET" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_tables_are_refused() -> None:
    frame = pa.table({"who": [1, 2], "age": [20, 20]})
    table = Table(frame, {"who": person(), "age": quasi()})
    with pytest.raises(SchemaError, match="Table 'b' has no key"):
        LinkedTables({"a": table, "b": Table(frame, {"who": other(), "age": quasi()})})
    with pytest.raises(SchemaError, match="two or more"):
        LinkedTables({"a": table})
    with pytest.raises(SchemaError, match="both have a sensitive column 'age'"):
        both = Table(
            frame.append_column("x", [["a", "a"]]), {"who": person(), "age": sensitive(), "x": quasi()}
        )
        LinkedTables({"a": both, "b": both})
    with pytest.raises(ParameterError, match="population"):
        LinkedGeneralization(KMap(2, table)).release(LinkedTables({"a": table, "b": table}))
    keyed = Table(frame, {"who": person(pseudonym="k" * 16), "age": quasi()})
    elsewhere = Table(frame, {"who": person(pseudonym="l" * 16), "age": quasi()})
    with pytest.raises(SchemaError, match="different pseudonym keys"):
        LinkedGeneralization(KAnonymity(2)).release(LinkedTables({"a": keyed, "b": elsewhere}))
    with pytest.raises(InfeasibleError, match="1 of 3 people would have to be left out"):
        three = Table(pa.table({"who": [1, 2, 3], "age": [1, 1, 1]}), {"who": person(), "age": quasi()})
        LinkedGeneralization(KAnonymity(2)).release(LinkedTables({"a": three, "b": table}))
    for columns, words in ((["age"], "must have the role other"), (["who"], "must have the role other")):
        with pytest.raises(SchemaError, match=words):
            LinkedGeneralization(KAnonymity(2), shift={"a": columns}).release(
                LinkedTables({"a": table, "b": table})
            )
    with pytest.raises(SchemaError, match="no table"):
        LinkedGeneralization(KAnonymity(2), shift={"z": ["age"]}).release(
            LinkedTables({"a": table, "b": table})
        )


def test_closeness_is_judged_among_people_with_rows() -> None:
    rows = hospital()
    release = LinkedGeneralization(
        KAnonymity(2) & TCloseness(0.6, of="drug"), max_suppressed=0.5, row_counts="unknown"
    ).release(linked(rows))
    assert release.verdict.ok


def test_a_value_that_everybody_of_a_class_has_is_refused() -> None:
    people = Table(pa.table({"who": list(range(6)), "age": [60] * 6}), {"who": person(), "age": quasi()})
    drugs = pa.table({"who": [*range(6)] * 2, "month": [1] * 12, "drug": ["prep"] * 6 + ["a", "b", "c"] * 2})
    linked = LinkedTables(
        {"people": people, "drugs": Table(drugs, {"who": person(), "month": quasi(), "drug": sensitive()})}
    )
    with pytest.raises(InfeasibleError):
        LinkedGeneralization(KAnonymity(5) & DistinctDiversity(4)).release(linked)
