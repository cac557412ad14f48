"""Spark with workers of its own: workers that are lost in the middle change nothing."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.core.errors import InputError
from discreet.engines.spark.session import require_java

_MINUTES = 10 * 60
SMALL_DRIVER = "spark.driver.maxResultSize=1m"
"""The rows take several times as much, and the distinct tuples a small part of it."""


@pytest.mark.slow
def test_a_job_survives_killed_workers_with_a_driver_too_small_for_the_rows(tmp_path: Path) -> None:
    arguments = f"--driver-memory 512m --conf {SMALL_DRIVER} pyspark-shell"
    assert printed("cluster_job.py", tmp_path, PYSPARK_SUBMIT_ARGS=arguments) == ["the same rows"]


@pytest.mark.slow
def test_workers_search_mine_and_collect(tmp_path: Path) -> None:
    assert printed("workers_job.py", tmp_path) == ["the same groups", "the same itemsets", "the same noise"]


def printed(job: str, folder: Path, **more: str) -> list[str]:
    """Run a job with Spark itself; return what it printed."""
    missing = None if importlib.util.find_spec("pyspark") else "PySpark is not installed"
    try:
        require_java()
    except InputError as error:
        missing = str(error)
    if missing is not None:
        (pytest.fail if "CI" in os.environ else pytest.skip)(missing)
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, **more}
    for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
        environment.pop(name, None)
    program = [sys.executable, str(Path(__file__).with_name(job)), str(folder)]
    ran = subprocess.run(
        program, env=environment, capture_output=True, text=True, timeout=_MINUTES, check=False
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return [line for line in ran.stdout.splitlines() if line.startswith("the same")]
