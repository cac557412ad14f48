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
    missing = None if importlib.util.find_spec("pyspark") else "PySpark is not installed"
    try:
        require_java()
    except InputError as error:
        missing = str(error)
    if missing is not None:
        (pytest.fail if "CI" in os.environ else pytest.skip)(missing)
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    environment["PYSPARK_SUBMIT_ARGS"] = f"--driver-memory 512m --conf {SMALL_DRIVER} pyspark-shell"
    for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
        environment.pop(name, None)
    program = [sys.executable, str(Path(__file__).with_name("cluster_job.py")), str(tmp_path)]
    ran = subprocess.run(
        program, env=environment, capture_output=True, text=True, timeout=_MINUTES, check=False
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert ran.stdout.splitlines()[-1] == "the same rows"
