"""A command's process is light: it loads nothing it does not use, and leaves at once but not rudely."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

KERNELS = sorted((Path(discreet.__file__).parent / "kernels").rglob("*.py"))
MAIN = "import atexit, sys\nsys.argv = ['discreet', *sys.argv[1:]]\nfrom discreet.cli import main\n"


def run(code: str, *args: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", MAIN + code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


UNNEEDED = (
    "pandas",
    "scipy.linalg",
    "coverage",
    "cffi",
    "yaml",
    "altair",
    "jinja2",
    "pyarrow.parquet",
    "discreet.kinds.blocks",
    "discreet.report.charts",
)


def test_a_whole_command_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("age,sex\n" + "".join(f"{20 + n % 7},{'mf'[n % 2]}\n" for n in range(60)))
    told = f"lambda: print('loaded:', [name for name in {UNNEEDED} if name in sys.modules])"
    ran = run(
        f"atexit.register({told})\nmain()", "anonymize", data, "--quasi", "age,sex", "-k", "3",
        "--method", "optimal", "--hierarchy", "age=intervals:5", "--out", tmp_path / "out", "--no-report",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.rstrip().endswith("loaded: []")


def test_exit_functions_run_and_the_code_stays() -> None:
    ran = run("atexit.register(print, 'cleared up')\nmain()", "no-such-command")
    assert ran.returncode == 2
    assert ran.stdout.endswith("cleared up\n")


def test_linear_algebra_is_still_there_for_those_who_need_it() -> None:
    code = "from discreet.cli._startup import lighten\nlighten()\nimport numba.np.arraymath, scipy.linalg\n"
    ran = run(code + "print(float(scipy.linalg.det([[2.0]])), numba.np.arraymath._HAVE_BLAS)")
    assert ran.stdout == "2.0 False\n", ran.stderr


@pytest.mark.parametrize("has_settings", [False, True])
def test_settings_of_numba_are_heeded_where_there_are_any(has_settings: bool, tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    if has_settings:
        (tmp_path / ".numba_config.yaml").write_text("developer_mode: 1\n")
    code = "import os\nos.chdir(sys.argv[1])\nfrom discreet.cli._startup import lighten\nlighten()\nimport numba\n"
    ran = run(code + "print(numba.config.DEVELOPER_MODE, 'yaml' in sys.modules)", tmp_path)
    assert ran.stdout == ("1 True\n" if has_settings else "0 False\n"), ran.stderr


@pytest.mark.parametrize("chosen", [None, "26"])
@pytest.mark.parametrize(("setting", "usual"), [("OPENBLAS_THREAD_TIMEOUT", 20), ("OPENBLAS_NUM_THREADS", 1)])
def test_linear_algebra_keeps_to_one_thread_unless_the_user_chose_otherwise(
    setting: str, usual: int, chosen: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(setting, raising=False)
    if chosen is not None:
        monkeypatch.setenv(setting, chosen)
    code = (
        "import os\nfrom discreet.cli._startup import lighten\nassert 'numpy' not in sys.modules\nlighten()\n"
    )
    ran = run(code + f"print(os.environ['{setting}'])")
    assert ran.stdout == f"{chosen or usual}\n", ran.stderr


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda path: path.stem)
def test_no_kernel_multiplies_matrices(kernel: Path) -> None:
    """A command's process compiles no matrix products, so no kernel may hold one."""
    assert not re.search(r"np\.(dot|matmul|vdot|linalg)|\w @ \w", kernel.read_text(encoding="utf-8"))


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as POSIX has them")
def test_a_signal_while_the_engine_loads_waits_until_it_has_loaded() -> None:
    code = (
        "import os, signal, types\nfrom importlib.machinery import ModuleSpec\n"
        "from discreet.cli._startup import Interrupted, heed_signals\nheed_signals()\n"
        "engine = types.ModuleType('duckdb')\nengine.__spec__ = ModuleSpec('duckdb', None)\n"
        "engine.__spec__._initializing = True\nsys.modules['duckdb'] = engine\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    print('loads')\n"
        "    engine.__spec__._initializing = False\n"
        "    print('goes on')\n"
        "except Interrupted:\n    print('stopped')\n"
    )
    assert run(code).stdout == "loads\nstopped\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as POSIX has them")
def test_a_signal_while_a_kernel_runs_stops_the_process_when_it_has_returned() -> None:
    code = (
        "import signal\nimport numpy as np\n"
        "from discreet.cli import _startup as _interruption\n"
        "from discreet.cli._startup import Interrupted, heed_signals, _stop\n"
        "from discreet.kernels.tables.grouping import distinct\n"
        "keys = np.arange(200_000) % 99_991\ndistinct(keys)\nheed_signals()\n"
        "signal.signal(signal.SIGALRM, _stop)\nstopped = 0\n"
        "for turn in range(40):\n"
        "    try:\n"
        "        signal.setitimer(signal.ITIMER_REAL, 0.003 + turn / 10_000)\n"
        "        while True:\n"
        "            distinct(keys)\n"
        "    except Interrupted:\n"
        "        stopped += 1\n"
        "        _interruption._stopped_at = -1e9\n"
        "print(stopped, sys.gettrace())\n"
    )
    ran = run(code)
    assert (ran.returncode, ran.stdout) == (0, "40 None\n"), ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as POSIX has them")
def test_a_second_signal_does_not_disturb_the_clearing_up() -> None:
    code = (
        "import signal\nfrom discreet.cli import _startup as _interruption\n"
        "from discreet.cli._startup import Interrupted, heed_signals\nheed_signals()\n"
        "for _ in range(2):\n"
        "    try:\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "        print('not stopped')\n"
        "    except Interrupted:\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "        print('cleared up')\n"
        "    _interruption._stopped_at -= 3\n"
    )
    assert run(code).stdout == "cleared up\ncleared up\n"
