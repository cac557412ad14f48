"""Vaults: made, opened, asked, closed, and opened again."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.core.errors import DiscreetError, InputError, OutputError, ParameterError, SchemaError
from discreet.guarantees import NoValueDisclosed
from discreet.output.audit import (
    DataChangedError,
    Denied,
    LogError,
    QueryError,
    SumAuditor,
    Vault,
    VaultInUseError,
)

TABLE = pa.table(
    {
        "name": ["ann", "bob", "cid", "dan", "eve", "fay"],
        "dept": ["x", "x", "x", "y", "y", "y"],
        "salary": [10, 20, 30, 40, 50, 60],
        "bonus": [1.5, None, 2.5, 0.1, 0.2, 0.3],
    }
)

AUDITOR = SumAuditor(group=2, minimum_set_size=0, low=0, step=0.1)


def write(path: Path, table: pa.Table = TABLE) -> Path:
    pq.write_table(table, path)
    return path


@pytest.fixture
def vault(tmp_path: Path):
    data = write(tmp_path / "staff.parquet")
    made = Vault.create(
        tmp_path / "vault",
        data,
        sensitive=["salary", "bonus"],
        public=["name", "dept"],
        auditor=AUDITOR,
        nulls="public",
        key="name",
    )
    yield made
    made.close()


def test_answers_and_denials(vault: Vault) -> None:
    assert vault.ask("SELECT sum(salary), count(*), avg(salary) FROM data").rows == ((210, 6, 35.0),)
    answer = vault.ask("SELECT dept, count(*), avg(salary) AS mean FROM data GROUP BY dept")
    assert answer.columns == ("dept", "count(*)", "mean")
    assert answer.rows == (("x", 3, 20.0), ("y", 3, 50.0))
    denied = vault.ask("SELECT sum(salary) FROM data WHERE name = 'ann'")
    assert not denied
    assert isinstance(denied, Denied)
    assert not vault.ask("SELECT sum(salary) FROM data WHERE name <> 'ann'")
    assert vault.ask("SELECT sum(salary) FROM data WHERE name = 'nobody'").value is None
    assert vault.ask("SELECT count(*) FROM data WHERE name = 'ann'").value == 1


def test_missing_values(vault: Vault) -> None:
    """Of department x two have a bonus: the sum over all three is over two, and one of them alone is denied."""
    answer = vault.ask("SELECT sum(bonus), count(bonus), avg(bonus) FROM data WHERE dept = 'x'")
    assert answer.rows == ((4, 2, 2.0),)
    assert not vault.ask("SELECT sum(bonus) FROM data WHERE name IN ('ann', 'bob')")
    assert vault.ask("SELECT sum(bonus) FROM data WHERE name = 'bob'").value is None


def test_columns_are_audited_apart_and_denied_together(vault: Vault) -> None:
    assert vault.ask("SELECT sum(salary) FROM data WHERE name IN ('ann', 'bob')")
    both = "SELECT sum(salary), sum(bonus) FROM data WHERE name IN ('ann', 'bob')"
    assert not vault.ask(both), "of the two only ann has a bonus"
    assert [one.answered for one in vault.history()] == [True, False]


def test_the_state_after_opening_is_the_one_before(vault: Vault) -> None:
    for sql in ("SELECT sum(salary) FROM data", "SELECT dept, sum(bonus) FROM data GROUP BY dept"):
        assert vault.ask(sql)
    before = vault.history()
    space = vault._session._audit("", "salary").state.space
    vault.close()
    with Vault.open(vault.folder) as again:
        assert again.history() == before
        held = again._session._audit("", "salary").state.space
        assert held.rank == space.rank
        assert held.labels.tolist() == space.labels.tolist()
        assert not again.ask("SELECT sum(salary) FROM data WHERE name <> 'ann'")
        assert again.verdict.ok


def test_closed_vaults_refuse(vault: Vault) -> None:
    vault.close()
    with pytest.raises(ParameterError, match="closed"):
        vault.ask("SELECT sum(salary) FROM data")


def test_per_user_histories(tmp_path: Path) -> None:
    data = write(tmp_path / "staff.parquet")
    arguments = {"sensitive": ["salary"], "public": ["name"], "auditor": AUDITOR}
    apart = Vault.create(tmp_path / "apart", data, pooled=False, **arguments)
    everyone, most = "SELECT sum(salary) FROM data", "SELECT sum(salary) FROM data WHERE name <> 'ann'"
    assert apart.ask(everyone, user="one")
    assert apart.ask(most, user="two")
    assert not apart.ask(most, user="one")
    apart.close()
    with Vault.open(tmp_path / "apart") as again:
        assert not again.ask(everyone, user="two")
        assert again.ask(everyone, user="three")
        assert again.disclosures() == {"salary": (0, 6)}
    with Vault.create(tmp_path / "pooled", data, **arguments) as pooled:
        assert pooled.ask(everyone, user="one")
        assert not pooled.ask(most, user="two")


def test_files_are_private(vault: Vault) -> None:
    vault.ask("SELECT sum(salary) FROM data")
    assert stat.S_IMODE(vault.folder.stat().st_mode) == 0o700
    for file in vault.folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file.name


def test_no_value_is_in_the_folder(tmp_path: Path) -> None:
    secret = 918273645
    table = TABLE.set_column(2, "salary", pa.array([secret, 20, 30, 40, 50, 60]))
    vault = Vault.create(
        tmp_path / "vault",
        write(tmp_path / "staff.parquet", table),
        sensitive=["salary"],
        public=["name"],
        auditor=AUDITOR,
    )
    assert vault.ask("SELECT sum(salary) FROM data")
    vault.close()
    for file in vault.folder.iterdir():
        raw = file.read_bytes()
        assert str(secret).encode() not in raw
        assert secret.to_bytes(8, "little") not in raw


def test_the_folder_must_be_new(vault: Vault, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="already"):
        Vault.create(
            vault.folder, tmp_path / "staff.parquet", sensitive=["salary"], public=[], auditor=AUDITOR
        )


def test_changed_data_is_refused(vault: Vault, tmp_path: Path) -> None:
    vault.close()
    write(tmp_path / "staff.parquet", TABLE.slice(0, 5))
    with pytest.raises(DataChangedError, match="changed"):
        Vault.open(vault.folder)
    (tmp_path / "staff.parquet").unlink()
    with pytest.raises(InputError, match="no file"):
        Vault.open(vault.folder)


@pytest.mark.parametrize("file", ["vault.json", "log.sqlite"])
def test_what_is_no_vault_is_refused(vault: Vault, file: str) -> None:
    vault.close()
    (vault.folder / file).write_text("{}")
    with pytest.raises(InputError):
        Vault.open(vault.folder)
    with pytest.raises(InputError, match="not a vault"):
        Vault.open(vault.folder.parent)


def test_a_loosened_configuration_is_refused(vault: Vault) -> None:
    vault.close()
    path = vault.folder / "vault.json"
    plain = json.loads(path.read_text())
    plain["pooled"] = False
    path.write_text(json.dumps(plain))
    with pytest.raises(LogError, match=r"vault\.json"):
        Vault.open(vault.folder)


def test_a_vault_whose_auditor_knew_less_is_refused(vault: Vault) -> None:
    """Of a vault made before bounds and step were declared, nobody can say that its answers disclose nothing."""
    vault.close()
    path = vault.folder / "vault.json"
    plain = json.loads(path.read_text())
    for name in ("low", "high", "step"):
        del plain["auditor"][name]
    path.write_text(json.dumps(plain))
    with pytest.raises(InputError, match="did not know high and low and step"):
        Vault.open(vault.folder)


def test_a_vault_opens_once(vault: Vault) -> None:
    with pytest.raises(VaultInUseError):
        Vault.open(vault.folder)
    code = f"from discreet.output.audit import Vault; Vault.open({str(vault.folder)!r})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "VaultInUseError" in ran.stderr
    vault.close()
    Vault.open(vault.folder, wait=1).close()


def test_a_duckdb_file_and_a_folder_of_parquet(tmp_path: Path) -> None:
    database = tmp_path / "staff.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.register("held", TABLE)
        connection.execute("CREATE TABLE staff AS SELECT * FROM held")
        connection.execute("CREATE TABLE other AS SELECT 1 AS one")
    folder = tmp_path / "parts"
    folder.mkdir()
    write(folder / "b.parquet", TABLE.slice(3))
    write(folder / "a.parquet", TABLE.slice(0, 3))
    for name, data, table in (("one", database, "staff"), ("two", folder, None)):
        with Vault.create(
            tmp_path / name, data, sensitive=["salary"], public=["dept"], auditor=AUDITOR, table=table
        ) as made:
            assert made.ask("SELECT sum(salary) FROM data WHERE dept = 'y'").value == 150
        Vault.open(tmp_path / name).close()
    write(folder / "c.parquet")
    with pytest.raises(DataChangedError):
        Vault.open(tmp_path / "two")
    with pytest.raises(SchemaError, match="2 tables"):
        Vault.create(tmp_path / "three", database, sensitive=["salary"], public=[], auditor=AUDITOR)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"sensitive": []}, "at least one"),
        ({"sensitive": "salary"}, "lists"),
        ({"public": ["salary"]}, "twice"),
        ({"public": ["SALARY"]}, "twice"),
        ({"sensitive": ["missing"]}, "missing"),
        ({"sensitive": ["name"], "public": []}, "numbers"),
        ({"sensitive": ["bonus"]}, "missing values"),
        ({"key": "dept"}, "repeated"),
        ({"key": "salary"}, "must not be sensitive"),
        ({"nulls": "drop"}, "nulls"),
        ({"pooled": 1}, "pooled"),
        ({"auditor": "sum"}, "auditor"),
        ({"table": "t"}, "DuckDB"),
    ],
)
def test_bad_arguments(tmp_path: Path, wrong: dict[str, object], words: str) -> None:
    arguments = {"sensitive": ["salary"], "public": ["dept"], "auditor": AUDITOR} | wrong
    with pytest.raises(DiscreetError, match=words):
        Vault.create(tmp_path / "vault", write(tmp_path / "staff.parquet"), **arguments)
    assert not (tmp_path / "vault").exists()


def test_updates_keep_old_answers_counting(vault: Vault, tmp_path: Path) -> None:
    assert vault.ask("SELECT sum(salary) FROM data WHERE dept = 'x'").value == 60
    names, pays = ["ann", "bob", "dan", "eve", "gus", "hal"], [10, 20, 40, 55, 70, 80]
    moved = pa.table(
        {
            "name": names,
            "dept": ["x"] * 4 + ["y"] * 2,
            "salary": pays,
            "bonus": [1.5, 1.0, 0.1, 0.2, 0.3, 0.4],
        }
    )
    vault.update(write(tmp_path / "next.parquet", moved))
    both = "SELECT sum(salary) FROM data WHERE name IN ('ann', 'bob')"
    assert not vault.ask(both), "with the old answer it would determine cid, who left"
    assert vault.ask("SELECT sum(salary) FROM data WHERE dept = 'x'").value == 125
    with pytest.raises(SchemaError, match="had left"):
        vault.update(tmp_path / "staff.parquet")
    vault.close()
    with Vault.open(vault.folder) as again:
        assert not again.ask(both)
        assert again.ask("SELECT sum(salary) FROM data WHERE dept = 'y'").value == 150
        assert again.verdict.ok


def test_updates_stay_within_what_is_declared(vault: Vault, tmp_path: Path) -> None:
    for column, values in {"salary": [-1] * 6, "bonus": [-0.5] * 6}.items():
        at = TABLE.column_names.index(column)
        moved = TABLE.set_column(at, column, pa.array(values))
        with pytest.raises(SchemaError, match="outside the declared bounds"):
            vault.update(write(tmp_path / f"{column}.parquet", moved))
    assert vault.ask("SELECT sum(salary) FROM data").value == 210


def test_updates_need_a_key(tmp_path: Path) -> None:
    data = write(tmp_path / "staff.parquet")
    with (
        Vault.create(
            tmp_path / "vault", data, sensitive=["salary"], public=["name"], auditor=AUDITOR
        ) as vault,
        pytest.raises(ParameterError, match="key"),
    ):
        vault.update(data)


def test_the_verdict_is_by_construction(vault: Vault) -> None:
    vault.ask("SELECT sum(salary) FROM data")
    verdict = vault.verdict
    assert verdict.ok
    assert verdict.basis.value == "by construction"
    assert NoValueDisclosed(of="salary").check(vault).n_rows == 6
    with pytest.raises(SchemaError, match="not sensitive"):
        NoValueDisclosed(of="dept").check(vault)
    with pytest.raises(ParameterError, match="query log"):
        NoValueDisclosed().check(TABLE)


def test_the_verdict_notices_a_disclosure() -> None:
    from discreet.output.audit.attacking import Unaudited

    vault = Vault.in_memory(TABLE, sensitive=["salary"], public=["name"], auditor=Unaudited())
    vault.ask("SELECT sum(salary) FROM data")
    vault.ask("SELECT sum(salary) FROM data WHERE name <> 'ann'")
    verdict = vault.verdict
    assert not verdict.ok
    assert verdict.failing_rows == 1


def test_refusals_leave_no_trace(vault: Vault) -> None:
    with pytest.raises(QueryError):
        vault.ask("SELECT salary FROM data")
    with pytest.raises(QueryError, match="MIN"):
        vault.ask("SELECT min(salary) FROM data")
    with pytest.raises(ParameterError, match="epsilon"):
        vault.ask("SELECT sum(salary) FROM data", epsilon=1)
    with pytest.raises(QueryError, match="200"):
        vault.ask("SELECT sum(salary) FROM data", user="x" * 201)
    assert vault.history() == []


def test_big_sums_are_exact() -> None:
    pays = [2**62, 2**62, 2**62, -1]
    with Vault.in_memory(
        pa.table({"name": list("abcd"), "salary": pays}),
        sensitive=["salary"],
        public=["name"],
        auditor=SumAuditor(group=2, minimum_set_size=2),
    ) as vault:
        assert vault.ask("SELECT sum(salary) FROM data").value == 3 * 2**62 - 1


def test_nothing_public() -> None:
    with Vault.in_memory(TABLE, sensitive=["salary"], public=[], auditor=AUDITOR) as vault:
        assert vault.ask("SELECT avg(salary) FROM data").value == 35


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        Vault.create(
            blocked / "vault",
            write(tmp_path / "staff.parquet"),
            sensitive=["salary"],
            public=[],
            auditor=AUDITOR,
        )
