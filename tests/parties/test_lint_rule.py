"""The lint rule that keeps generators without cryptographic strength out of protocols."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USES = [
    "import numpy as np\n\nVALUE = np.random.default_rng()\n",
    "from numpy.random import default_rng\n\nVALUE = default_rng()\n",
    "import numpy.random\n\nVALUE = numpy.random.default_rng()\n",
    "import random\n\nVALUE = random.random()\n",
    "from discreet.core.rng import generator\n\nVALUE = generator(None)\n",
]


def banned(code: str, place: str) -> bool:
    command = [sys.executable, "-m", "ruff", "check", "--select", "TID251", "--stdin-filename", place, "-"]
    ran = subprocess.run(command, input=code, capture_output=True, text=True, cwd=ROOT, check=False)
    return "TID251" in ran.stdout


@pytest.mark.parametrize("code", USES)
def test_no_generator_without_cryptographic_strength_may_enter_a_protocol(code: str) -> None:
    assert banned(code, "src/discreet/parties/sums/sample.py")
    assert not banned(code, "src/discreet/publish/sample.py")
