"""Spark: rows are counted, released, written and judged on the cluster, and none of them comes to the driver."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.engines.mixed import mixed_rows, released
from tests.engines.postgres.test_postgres import stored
from tests.servers import remote, spark
from tests.written import METADATA

from discreet import Table, identifier, other, person, quasi, read, sensitive
from discreet.cli._app import app
from discreet.core.boundary import is_on_cluster
from discreet.core.engine import arrow_table, engine_of
from discreet.core.errors import InputError, OutputError, SchemaError
from discreet.engines.spark.session import require_java
from discreet.guarantees import DistinctDiversity, KAnonymity
from discreet.publish import (
    Condensation,
    GlobalRecoding,
    Incognito,
    LocalRecoding,
    Mondrian,
    OptimalLattice,
    Samarati,
    UncertainRecords,
)

METHODS = [
    Mondrian(KAnonymity(5) & DistinctDiversity(2, of="disease")),
    OptimalLattice(KAnonymity(5), max_suppressed=0.2),
    Samarati(KAnonymity(5)),
    Incognito(KAnonymity(5)),
    LocalRecoding(KAnonymity(5)),
    GlobalRecoding(KAnonymity(5)),
]


def lent(rows: pa.Table) -> Any:
    """Return rows as a frame on the cluster."""
    return spark().createDataFrame(rows)


def lines(frame: Any) -> list[str]:
    """Return the rows of a small released frame, sorted."""
    rows = frame if isinstance(frame, pa.Table) else frame.toArrow()
    return sorted(map(repr, rows.to_pylist()))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_the_release_is_that_of_rows_in_memory(method: Any) -> None:
    here, there = (released(frame, method) for frame in (mixed_rows(), lent(mixed_rows())))
    assert type(there.frame) is type(lent(mixed_rows()))
    assert there.verdict.ok
    assert there.verdict == here.verdict
    assert lines(there.frame) == lines(here.frame)


def test_releases_of_every_engine_are_equal() -> None:
    rows = mixed_rows().drop_columns(["age"])  # DuckDB gives a name that differs in case alone another ending
    frames = {
        "memory": rows,
        "duckdb": duckdb.connect().from_arrow(rows),
        "postgres": read(stored(rows)),
        "spark": lent(rows),
    }
    releases = {name: released(frame, Mondrian(KAnonymity(7))) for name, frame in frames.items()}
    cells = {name: lines(_fetched(release.frame)) for name, release in releases.items()}
    assert all(release.verdict == releases["memory"].verdict for release in releases.values())
    assert cells == dict.fromkeys(cells, cells["memory"])


def _fetched(frame: Any) -> pa.Table:
    rows = frame.toArrow() if is_on_cluster(frame) else arrow_table(frame)
    # DuckDB calls the same time zone Etc/UTC.
    at = rows.column_names.index("seen")
    return rows.set_column(at, "seen", rows["seen"].cast(pa.timestamp("us", "UTC")))


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=3)),
            st.one_of(st.none(), st.floats(allow_infinity=False, width=32)),
            st.one_of(st.none(), st.decimals("-99", "99", places=2, allow_nan=False)),
        ),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=10)
def test_tuples_are_those_of_rows_in_memory(rows: list[tuple[Any, ...]]) -> None:
    columns = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    types = (pa.string(), pa.float32(), pa.decimal128(4, 2))
    table = pa.table({name: pa.array(columns[name], type_) for name, type_ in zip("abc", types, strict=True)})
    here, there = (Table(frame, dict.fromkeys("abc", quasi())) for frame in (table, lent(table)))
    assert there.tuples.codes.tolist() == here.tuples.codes.tolist()
    assert there.tuples.counts.tolist() == here.tuples.counts.tolist()
    values = [[book.values.to_pylist() for book in table_.encoded.values()] for table_ in (here, there)]
    assert values[0] == values[1]


def test_a_release_is_a_folder_that_was_read_back_and_judged(tmp_path: Path) -> None:
    rows = mixed_rows().drop_columns(["age"])
    release = released(lent(rows), Mondrian(KAnonymity(5)))
    release.write(tmp_path / "out", format="parquet")
    parts = sorted((tmp_path / "out" / "data.parquet").iterdir())
    assert [part.name for part in parts] == [f"part-{number:05d}.parquet" for number in range(len(parts))]
    back = parquet.read_table(tmp_path / "out" / "data.parquet")
    expected = released(rows, Mondrian(KAnonymity(5))).frame
    assert lines(back) == lines(expected)
    assert {field.name: field.type for field in back.schema} == {
        field.name: field.type for field in expected.schema
    }
    record = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    assert record["rows"]["out"] == 240
    assert set(record["files"]) == {"data.parquet", "report.html", *METADATA}
    names = [f"data.parquet/{part.name}" for part in parts]
    package = json.loads((tmp_path / "out" / "datapackage.json").read_text(encoding="utf-8"))
    assert package["resources"][0]["path"] == names
    described = json.loads((tmp_path / "out" / "croissant.json").read_text(encoding="utf-8"))
    *objects, file_set = described["distribution"]
    assert [file["contentUrl"] for file in objects] == names
    assert objects[0]["sha256"] == hashlib.sha256(parts[0].read_bytes()).hexdigest()
    assert {field["source"]["fileSet"]["@id"] for field in described["recordSet"][0]["field"]} == {
        file_set["@id"]
    }
    assert record["verdict"]["ok"]


def patients(n: int = 3000) -> pa.Table:
    """Return rows of which none but its identifier is unlike all others."""
    return pa.table(
        {
            "ssn": [f"planted-{number:05d}" for number in range(n)],
            "age": [20 + number * 7 % 30 for number in range(n)],
            "zip": [f"0213{number % 4}" for number in range(n)],
            "disease": [["flu", "cold", "asthma"][number * 11 % 3] for number in range(n)],
        }
    )


PATIENTS = {"ssn": identifier(), "age": quasi(), "zip": quasi(), "disease": sensitive()}
FETCHES = (
    "collect", "toPandas", "toLocalIterator", "first", "head", "take", "tail", "show", "foreach",
    "__arrow_c_stream__", "pandas_api", "toJSON",
)  # fmt: skip


def test_no_row_comes_to_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = lent(patients())
    kind, sizes = type(frame), []
    fetch = kind.toArrow

    def counted(self: Any) -> pa.Table:
        table = fetch(self)
        assert "planted" not in str(table.to_pydict())
        sizes.append(table.num_rows)
        return table

    def refused(self: Any, *arguments: Any, **named: Any) -> None:
        raise AssertionError("rows were fetched")

    for name in FETCHES:
        monkeypatch.setattr(kind, name, refused)
    monkeypatch.setattr(kind, "toArrow", counted)
    release = Mondrian(KAnonymity(80)).release(Table(frame, PATIENTS))
    release.write(tmp_path / "out")
    assert release.figures.private.loss.total > 0
    assert sizes
    assert max(sizes) <= 30 * 4 * 3


@pytest.mark.parametrize("method", [Condensation(5), UncertainRecords(5)], ids=["condensation", "uncertain"])
def test_methods_that_look_at_every_row_are_refused(method: Any) -> None:
    rows = patients(60).append_column("weight", pa.array([number * 0.5 for number in range(60)]))
    roles = {"ssn": identifier(), "age": quasi(), "zip": identifier(), "disease": other(), "weight": quasi()}
    with pytest.raises(InputError, match=r"rows on a cluster are not fetched[^\n]*$"):
        method.release(Table(lent(rows), roles))
    for fetch in (arrow_table, lambda frame: list(engine_of(frame).batches(frame))):
        with pytest.raises(InputError, match="not fetched"):
            fetch(lent(rows))


def test_people_are_counted_where_their_rows_lie(tmp_path: Path) -> None:
    rows = patients(600).append_column("who", pa.array([f"planted {number // 3}" for number in range(600)]))
    roles = {**PATIENTS, "who": person()}
    here, there = (Mondrian(KAnonymity(5)).release(Table(frame, roles)) for frame in (rows, lent(rows)))
    assert there.verdict == here.verdict
    assert there.judged_table.counted.sizes.sum() == 200 or there.verdict.ok
    assert lines(there.frame) == lines(here.frame)
    there.write(tmp_path / "out")
    assert "planted" not in (tmp_path / "out" / "release.json").read_text(encoding="utf-8")


def test_types_that_are_not_kept_are_refused_by_name() -> None:
    sql = """SELECT 1 AS age, array(1) AS list, map('a', 1) AS map, named_struct('Ann', 1) AS struct,
        cast('x' AS binary) AS bytes, interval 1 day AS span, 1.5 AS pay, cast(null AS void) AS none,
        timestamp_ntz '2030-01-01 00:00:00' AS local FROM range(4)"""
    frame = spark().sql(sql)
    refused = {
        "list": "array",
        "map": "map",
        "struct": "struct",
        "bytes": "binary",
        "span": "daytimeinterval",
    }
    for name, type_ in refused.items():
        roles = {column: quasi() if column == name else identifier() for column in frame.columns}
        with pytest.raises(SchemaError, match=f"'{name}' has the type {type_} of Spark") as error:
            Table(frame, roles).groups()
        assert "Ann" not in str(error.value)
    roles = {name: identifier() if name in refused else other() for name in frame.columns}
    release = Mondrian(KAnonymity(2)).release(Table(frame, {**roles, "age": quasi()}))
    assert release.frame.columns == ["age", "pay", "none", "local"]
    assert release.frame.toArrow()["local"].to_pylist() == [dt.datetime(2030, 1, 1)] * 4
    with pytest.raises(SchemaError, match="two columns named 'age'"):
        Table(spark().sql("SELECT 1 AS age, 2 AS age"), {"age": quasi()})


def test_the_order_follows_from_the_secret_alone() -> None:
    frame = lent(patients(400))
    orders = [
        Mondrian(KAnonymity(5), random_state=seed).release(Table(frame, PATIENTS)).frame.toArrow().to_pylist()
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]
    backwards = lent(patients(400).take(list(range(399, -1, -1))))
    again = Mondrian(KAnonymity(5), random_state=1).release(Table(backwards, PATIENTS))
    assert again.frame.toArrow().to_pylist() == orders[0]


def test_pseudonyms_are_those_of_other_engines() -> None:
    roles = {**PATIENTS, "ssn": identifier(pseudonym=b"sixteen bytes of key")}
    here, there = (
        Mondrian(KAnonymity(5)).release(Table(frame, roles)).frame
        for frame in (patients(60), lent(patients(60)))
    )
    assert lines(there) == lines(here)


def test_metadata_of_columns_is_not_released(tmp_path: Path) -> None:
    frame = lent(patients(60))
    named = frame.withColumn("disease", frame["disease"].alias("disease", metadata={"comment": "planted"}))
    Mondrian(KAnonymity(5)).release(Table(named, PATIENTS)).write(tmp_path / "out", report=False)
    for part in (tmp_path / "out" / "data.parquet").iterdir():
        assert b"planted" not in part.read_bytes()


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = Mondrian(KAnonymity(5)).release(Table(lent(patients(60)), PATIENTS))
    with pytest.raises(OutputError, match=r"written as parquet[^\n]*$"):
        release.write(tmp_path / "out", format="csv")
    alike = released(lent(mixed_rows()), Mondrian(KAnonymity(5)))
    with pytest.raises(OutputError, match="'Age' and 'age' differ only in upper and lower case"):
        alike.write(tmp_path / "out")
    with monkeypatch.context() as patch:
        patch.setattr("discreet.engines.atomic._swap", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            release.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def _interrupt(*arguments: Any) -> None:
    raise KeyboardInterrupt


def job_file(folder: Path, **output: str) -> Path:
    """Write a job file for a folder of Parquet files beside it."""
    (folder / "visits").mkdir()
    rows = patients(300)
    parquet.write_table(rows.slice(0, 100), folder / "visits" / "a.parquet")
    parquet.write_table(rows.slice(100), folder / "visits" / "b.parquet")
    settings_ = "\n".join(f'{name} = "{value}"' for name, value in {"folder": "out", **output}.items())
    (folder / "job.toml").write_text(
        f"""[input]\npath = "visits"\n[columns]\nssn = {{role = "identifier"}}\nage = {{role = "quasi"}}
zip = {{role = "quasi"}}\ndisease = {{role = "sensitive"}}\n[[guarantee]]\nkind = "k-anonymity"\nk = 5
[output]\n{settings_}\n""",
        encoding="utf-8",
    )
    return folder / "job.toml"


def invoke(*arguments: object) -> Any:
    """Run a command on the cluster."""
    return CliRunner().invoke(app, [*map(str, arguments), "--engine", "spark", "--remote", remote()])


def test_the_job_file_of_a_laptop_runs_on_a_cluster(tmp_path: Path) -> None:
    job = job_file(tmp_path)
    assert invoke("run", job, "--quiet").exit_code == 0
    assert (
        CliRunner().invoke(app, ["run", str(job), "--out", str(tmp_path / "here"), "--quiet"]).exit_code == 0
    )
    here, there = (parquet.read_table(tmp_path / folder / "data.parquet") for folder in ("here", "out"))
    assert there.schema.equals(here.schema)
    assert lines(there) == lines(here)
    judged = CliRunner().invoke(app, ["check", str(tmp_path / "out")])
    assert judged.exit_code == 0
    assert "unchanged since they were written" in judged.output
    again = invoke("run", job)
    assert "is there already" in again.output
    assert invoke("run", job, "--overwrite", "--quiet").exit_code == 0
    (tmp_path / "out" / "data.parquet" / "mine.txt").write_text("x")
    assert "holds no earlier release" in invoke("run", job, "--overwrite").output
    assert CliRunner().invoke(app, ["check", str(tmp_path / "out")]).exit_code != 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--engine", "spark", "--remote", "sc://127.0.0.1:1/;token=geheim"],
            "sc://127.0.0.1:1 cannot be reached",
        ),
        (["--engine", "spark", "--remote", "127.0.0.1"], "named as sc://host:15002"),
        (["--engine", "spark", "--remote", "sc://h", "--master", "local"], "not both"),
        (["--master", "local"], "name its engine"),
    ],
)
def test_clusters_that_are_not_there_are_one_line(options: list[str], words: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["run", str(job_file(tmp_path)), *options])
    assert result.exit_code != 0
    assert words in result.output
    assert "geheim" not in result.output
    assert not (tmp_path / "out").exists()


def test_only_parquet_is_read_and_written(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("age\n1\n")
    with pytest.raises(InputError, match="is no Parquet"):
        read(tmp_path / "visits.csv", engine="spark", remote=remote())
    with pytest.raises(InputError, match="no file"):
        read(tmp_path / "absent", engine="spark", remote=remote())
    (tmp_path / "text.parquet").write_text("age")
    with pytest.raises(InputError, match=r"cannot be read: [^\n]*\.$"):
        read(tmp_path / "text.parquet", engine="spark", remote=remote())
    result = invoke("run", job_file(tmp_path, format="csv"))
    assert "The 'format' parameter of Job" in result.output


def test_java_is_asked_for_before_it_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="needs Java, and there is none in JAVA_HOME"):
        require_java()
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_412\"' >&2\n")
    program.chmod(0o755)
    with pytest.raises(InputError, match="this is Java 8: install Java 17"):
        require_java()
