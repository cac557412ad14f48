"""Bit files of distorted baskets know that they are distorted."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.collect import EMask
from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import ParameterError
from discreet.engines.baskets.bits import read_bits, write_bits
from discreet.mine import Itemsets, MaskedItemsets

CHANNEL = EMask(0.5, 0.97)


def shop() -> Baskets:
    return Baskets.from_lists([[1, 2, 3], [1, 2], [1], [2, 3]] * 25)


@pytest.fixture
def distorted(tmp_path: Path) -> Path:
    bits = CHANNEL.perturb(shop(), random_state=0, as_bits=True)
    return write_bits(bits, tmp_path / "distorted.bits")


def test_the_noise_is_not_mined_as_truth(invoke, distorted: Path) -> None:
    refused = invoke("mine", distorted, "--min-support", 0.1)
    assert refused.exit_code == 2
    assert "distorted" in refused.stderr
    assert "--p 0.5 --q 0.97" in refused.stderr
    assert invoke("mine", distorted, "--p", 0.5, "--q", 0.97, "--min-support", 0.1).exit_code == 0
    other = invoke("mine", distorted, "--p", 0.5, "--q", 0.9, "--min-support", 0.1)
    assert other.exit_code == 2
    assert "--q 0.97" in other.stderr


def test_the_file_says_how_and_only_then(distorted: Path, tmp_path: Path) -> None:
    assert read_bits(distorted).distorted == (0.5, 0.97)
    true = write_bits(shop().bits(), tmp_path / "true.bits")
    assert read_bits(true).distorted is None
    assert len(Itemsets(0.1).mine(read_bits(true)))
    with pytest.raises(ParameterError, match="were distorted"):
        Itemsets(0.1).mine(read_bits(distorted))
    with pytest.raises(ParameterError, match="other probabilities"):
        MaskedItemsets(EMask(0.6, 0.97), 0.1).mine(read_bits(distorted))


def test_columns_that_stay_exact_are_a_caution(invoke, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("age,town,ward\n" + "".join(f"{20 + at},{'ab'[at % 2]},x\n" for at in range(30)))
    out = tmp_path / "noisy.csv"
    result = invoke("perturb", people, "--noise", "gaussian", "--spread", 5, "--columns", "age", "--out", out)
    assert result.exit_code == 0, result.output
    caution = next(
        line for line in result.stdout.splitlines() if line.startswith("caution") and "town" in line
    )
    assert "No noise hides" in caution
    assert "--drop" in caution
    dropped = ["--drop", "town,ward"]
    flags = ["--noise", "gaussian", "--spread", 5, "--columns", "age", *dropped]
    quiet = invoke("perturb", people, *flags, "--out", tmp_path / "b.csv")
    assert "No noise hides" not in quiet.stdout
