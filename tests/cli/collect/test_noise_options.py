"""Options of noise: factors in place of sums, and kernel densities in place of steps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.collect.channels import channel_from_dict


def test_the_command_line_hides_by_factors_and_recovers(invoke, tmp_path: Path) -> None:
    people, noisy, out = tmp_path / "people.csv", tmp_path / "noisy.csv", tmp_path / "density.csv"
    pay = np.random.default_rng(1).lognormal(8, 0.5, 3000).clip(300, 60_000)
    pl.DataFrame({"pay": pay}).write_csv(people)
    how = ["--noise", "laplace", "--epsilon", 4, "--multiplicative"]
    result = invoke(
        "perturb", people, *how, "--columns", "pay", "--range", "pay=300,60000", "--seed", 1, "--out", noisy, "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    about = json.loads(result.stdout)["columns"]
    assert about["pay"]["multiplicative"] is True
    assert channel_from_dict(about["pay"]).epsilon <= 4
    result = invoke(
        "reconstruct", noisy, *how, "--column", "pay", "--range", "300,60000", "--method", "kernel",
        "--bandwidth", "cv", "--out", out, "--picture", tmp_path / "d.json", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert abs(json.loads(result.stdout)["quartiles"][1] / np.median(pay) - 1) < 0.25


@pytest.mark.parametrize("cell", ["0", "-4711", "1e-200"])
def test_the_command_line_refuses_what_no_factor_hides(invoke, tmp_path: Path, cell: str) -> None:
    people, out = tmp_path / "people.csv", tmp_path / "noisy.csv"
    people.write_text("pay\n" + "50.5\n" * 30 + f"{cell}\n")
    for more in ([], ["--range", "pay=1,100"]):
        result = invoke(
            "perturb", people, "--noise", "uniform", "--spread", 1, "--multiplicative", "--columns", "pay",
            *more, "--out", out,
        )  # fmt: skip
        assert result.exit_code == 2
        assert "1 values of 'pay'" in result.output
        assert "4711" not in result.output
    assert list(tmp_path.iterdir()) == [people]
    result = invoke(
        "reconstruct", people, "--noise", "uniform", "--spread", 1, "--multiplicative", "--column", "pay"
    )
    assert result.exit_code == 2
    assert "1 values of 'pay' are 0, negative" in result.output


def test_a_range_that_begins_at_0_is_refused(invoke, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("pay\n50\n60\n")
    result = invoke(
        "perturb", people, "--noise", "uniform", "--privacy", 1, "--multiplicative", "--columns", "pay",
        "--range", "pay=0,100", "--out", tmp_path / "noisy.csv",
    )  # fmt: skip
    assert result.exit_code == 2
    assert "must be above 0" in result.output


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--method", "kernel", "--bandwidth", "wide"], "--bandwidth takes a number, silverman or cv"),
        (["--bandwidth", "3"], "--bandwidth is for a kernel density"),
        (["--method", "kernel", "--bandwidth", "0"], "'bandwidth' parameter of reconstruct"),
        (["--method", "kernel", "--band", "0.9"], "take 'em'"),
    ],
)
def test_mistakes_about_a_kernel_density_are_one_line(invoke, tmp_path: Path, args, words: str) -> None:
    noisy, out = tmp_path / "noisy.csv", tmp_path / "density.csv"
    noisy.write_text("age\n" + "\n".join(str(age) for age in range(20, 80)) + "\n")
    result = invoke(
        "reconstruct", noisy, "--column", "age", "--noise", "uniform", "--spread", 5, *args, "--out", out
    )
    assert result.exit_code == 2
    assert words in result.output
    assert not out.exists()


def test_a_kernel_density_says_that_it_takes_no_steps(invoke, tmp_path: Path) -> None:
    noisy = tmp_path / "noisy.csv"
    noisy.write_text("age\n" + "\n".join(str(age) for age in range(20, 80)) + "\n")
    how = ["--column", "age", "--noise", "uniform", "--spread", 5, "--method", "kernel", "--bandwidth", 2.5]
    assert "none: a kernel density" in invoke("reconstruct", noisy, *how).stdout
