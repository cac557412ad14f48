"""Baskets on the command line: publishing, judging and risk, with options and with job files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.oracles.cahd import Files
from tests.oracles.km import found_again, is_km_anonymous

SECRET = "SECRET-ITEM"


@pytest.fixture
def lists() -> list[list[str]]:
    rng = np.random.default_rng(5)
    words = [f"item{number:02d}" for number in range(25)]
    made = [sorted(rng.choice(words, rng.integers(1, 7), replace=False).tolist()) for _ in range(120)]
    for row in (3, 40, 77):
        made[row].append(SECRET)
    return made


@pytest.fixture
def shop(tmp_path: Path, lists: list[list[str]]) -> Path:
    path = tmp_path / "shop.dat"
    path.write_text("".join(" ".join(basket) + "\n" for basket in lists))
    return path


@pytest.mark.parametrize("method", [(), ("--method", "anatomy"), ("--method", "perm-mondrian")])
def test_a_privacy_degree_is_kept_on_disk(invoke, shop: Path, tmp_path: Path, lists, method) -> None:
    out = tmp_path / "release"
    asked = ("--sensitive-items", SECRET, "-p", 4, *method)
    result = invoke("anonymize", shop, *asked, "--out", out)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == [
        "baskets.csv",
        "release.json",
        "report.html",
        "sensitive.csv",
    ]
    files = Files(out)
    assert files.degree() >= 4
    assert files.totals() == {SECRET: 3}
    for word in ("verified", "PrivacyDegree(p=4)", "120", "groups", "risk", "ties", "report.html", "next"):
        assert word in result.stdout
    assert SECRET not in result.output


def test_cahd_takes_its_own_options(invoke, shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    asked = ("--sensitive-items", f"{SECRET},item03", "-p", 2, "--alpha", 5, "--order", "lexicographic")
    result = invoke("anonymize", shop, *asked, "--seed", 1, "--format", "parquet", "--json", "--out", out)
    plain = json.loads(result.stdout)
    assert plain["ok"] is True
    assert plain["groups"]["smallest"] >= 1
    assert plain["risk"]["tie"]["highest"] <= 0.5
    recipe = json.loads((out / "release.json").read_text())
    assert recipe["parameters"]["alpha"] == 5
    assert recipe["parameters"]["order"] == "lexicographic"
    assert (out / "sensitive.parquet").is_file()


def test_km_anonymity_with_and_without_a_tree(invoke, shop: Path, tmp_path: Path, lists) -> None:
    from discreet.engines.baskets.published import read_published

    tree = tmp_path / "tree.csv"
    leaves = [*(f"item{number:02d}" for number in range(25)), SECRET]
    tree.write_text("".join(f"{leaf};part {at // 7};*\n" for at, leaf in enumerate(leaves)))
    for name, extra in (("a", ()), ("b", ("--item-hierarchy", tree))):
        out = tmp_path / name
        result = invoke("anonymize", shop, "--km", "4,2", *extra, "--out", out)
        assert result.exit_code == 0, result.output
        assert is_km_anonymous(read_published(out).lists(), 4, 2)
        assert "KmAnonymity(k=4, m=2)" in result.stdout
        assert "loss" in result.stdout
    assert "part" in (tmp_path / "b" / "baskets.csv").read_text()


def test_check_judges_folders_and_files(invoke, shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    assert (
        invoke("anonymize", shop, "--sensitive-items", SECRET, "-p", 4, "--out", out, "--quiet").output == ""
    )
    assert invoke("check", out, "-p", 4).exit_code == 0
    broken = invoke("check", out, "-p", 100)
    assert broken.exit_code == 1
    assert "broken" in broken.stdout
    plain = json.loads(invoke("check", out, "--all", "--json").stdout)
    assert plain["measures"][0]["worst"] >= 4
    assert invoke("check", shop, "--km", "2,2").exit_code == 1
    assert invoke("check", shop, "--km", "1,3").exit_code == 0
    assert "k^2-anonymity" in invoke("check", shop).stdout
    for wrong in (("check", shop, "-p", 4), ("check", out, "--km", "2,2")):
        failed = invoke(*wrong)
        assert failed.exit_code == 2
        assert "group" in failed.stderr


def test_risk_by_known_items(invoke, shop: Path, tmp_path: Path, lists) -> None:
    result = invoke("risk", shop, "--known", "1,2", "--json")
    plain = json.loads(result.stdout)
    for one, r in zip(plain["known"], (1, 2), strict=True):
        probability, unique = found_again(lists, r)
        assert one["probability"] == pytest.approx(float(probability))
        assert one["unique"] == pytest.approx(float(unique))
    assert "3 known" in invoke("risk", shop).stdout
    out = tmp_path / "release"
    invoke("anonymize", shop, "--sensitive-items", SECRET, "-p", 4, "--out", out)
    told = invoke("risk", out, "--known", "1").stdout
    assert "tied" in told


def test_a_job_file_does_the_same(invoke, shop: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text(
        f"""
[input]
path = "shop.dat"

[baskets]
sensitive = ["{SECRET}"]

[[guarantee]]
kind = "privacy-degree"
p = 4

[method]
name = "cahd"
alpha = 2

[output]
folder = "release"
seed = 7
"""
    )
    result = invoke("run", job)
    assert result.exit_code == 0, result.output
    by_options = tmp_path / "again"
    asked = ("--sensitive-items", SECRET, "-p", 4, "--alpha", 2, "--seed", 7)
    invoke("anonymize", shop, *asked, "--out", by_options)
    for name in ("baskets.csv", "sensitive.csv"):
        assert (tmp_path / "release" / name).read_bytes() == (by_options / name).read_bytes()
    assert invoke("run", job).exit_code == 7
    assert invoke("run", job, "--overwrite").exit_code == 0


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ('[baskets]\nsensitive = ["item01"]\ncolor = 1', "unknown key 'color'"),
        ("[baskets]", "needs sensitive items"),
        ('[baskets]\nsensitive = ["item01"]\n[method]\nname = "apriori"', "method"),
        ('[baskets]\nsensitive = ["item01"]\n[method]\nname = "anatomy"\nalpha = 3', "no option 'alpha'"),
        ('[baskets]\nsensitive = "item01"', "a list of items"),
    ],
)
def test_a_wrong_job_file_is_named(invoke, shop: Path, tmp_path: Path, changed: str, words: str) -> None:
    job = tmp_path / "job.toml"
    job.write_text(
        f'[input]\npath = "shop.dat"\n{changed}\n'
        '[[guarantee]]\nkind = "privacy-degree"\np = 4\n[output]\nfolder = "out"\n'
    )
    failed = invoke("run", job)
    assert failed.exit_code == 2
    assert words in failed.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("-p", 4), "sensitive items"),
        ((), "Choose a guarantee for the baskets"),
        (("--sensitive-items", "item01", "-p", 4, "--km", "2,2"), "two guarantees"),
        (("--km", "2"), "two numbers"),
        (("--km", "2,x"), "whole numbers"),
        (("--sensitive-items", "item01", "-p", 4, "--quasi", "age"), "--quasi belongs to tables; these are"),
        (("--method", "cahd", "-p", 4, "--quasi", "age"), "tables; --method cahd is for baskets"),
        (("--sensitive-items", "nothing", "-p", 4), "do not occur"),
        (("--sensitive-items", "item01", "-p", 110), "'item01'"),
        (("--km", "500,2"), "Use k="),
    ],
)
def test_mistakes_are_named(invoke, shop: Path, tmp_path: Path, args, words: str) -> None:
    failed = invoke("anonymize", shop, *args, "--out", tmp_path / "out")
    assert failed.exit_code in (2, 6), failed.output
    assert words in failed.stderr
    assert not (tmp_path / "out").exists()


def test_a_table_may_end_in_dat(invoke, tmp_path: Path) -> None:
    path = tmp_path / "people.dat"
    path.write_text("age,zip\n" + "20,1\n" * 4)
    assert invoke("check", path, "--quasi", "age,zip", "-k", 4).exit_code == 0
    refused = invoke("check", path, "--quasi", "age,zip", "-p", 4)
    assert refused.exit_code == 2
    assert "--quasi belongs to tables" in refused.stderr


def test_baskets_in_a_long_table(invoke, tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    rows = [f"{number // 2},{number % 7}" for number in range(80)]
    path.write_text("receipt,product\n" + "\n".join(rows) + "\n")
    out = tmp_path / "out"
    columns = ("--basket", "receipt", "--item", "product")
    result = invoke("anonymize", path, "--sensitive-items", 3, "-p", 2, *columns, "--out", out)
    assert result.exit_code == 0, result.output
    assert Files(out).degree() >= 2


def test_a_release_can_be_mined(invoke, shop: Path, tmp_path: Path, lists) -> None:
    out = tmp_path / "release"
    invoke("anonymize", shop, "--sensitive-items", f"{SECRET},item03", "-p", 2, "--out", out)
    plain = json.loads(invoke("mine", out, "--min-support", 2, "--json").stdout)
    assert plain["baskets"] == sum(bool(set(basket) - {SECRET, "item03"}) for basket in lists)
    told = invoke("mine", out, "--min-support", 2, "--include", "item03,item04")
    assert told.exit_code == 0, told.output
    refused = invoke("mine", out, "--min-support", 2, "--p", 0.5, "--q", 0.9)
    assert refused.exit_code == 2
    assert "published in groups" in refused.stderr


def test_whole_numbers_are_read_to_the_last_digit(invoke, shop: Path) -> None:
    result = invoke("check", shop, "--km", "9007199254740993,2")
    assert "k=9007199254740993" in result.stdout
    for given in ("2.5,2", "a,b", "inf,2"):
        assert "whole numbers" in invoke("check", shop, "--km", given).output


@pytest.fixture
def bare(tmp_path: Path, lists: list[list[str]]) -> Path:
    """The shop's baskets, and one of the secret item alone."""
    path = tmp_path / "bare.dat"
    path.write_text("".join(" ".join(basket) + "\n" for basket in [*lists, [SECRET]]))
    return path


@pytest.mark.parametrize("method", ["cahd", "anatomy", "perm-mondrian"])
def test_baskets_without_ordinary_items_are_left_out_and_counted(
    invoke, bare: Path, tmp_path: Path, method: str
) -> None:
    out = tmp_path / "release"
    asked = ("anonymize", bare, "--sensitive-items", SECRET, "-p", 4, "--method", method, "--out", out)
    result = invoke(*asked)
    assert result.exit_code == 0, result.output
    assert "120, 1 without ordinary items left out" in result.stdout
    assert not Files(out).mixed_groups()
    assert Files(out).totals() == {SECRET: 3}
    assert invoke("check", out).exit_code == 0
    refused = invoke(*asked, "--overwrite", "--keep-empty")
    assert refused.exit_code in (2, 6)
    assert "1 baskets without ordinary items" in refused.stderr
    assert "keep_empty=False" in refused.stderr


def test_empty_baskets_are_kept_where_none_stands_out(invoke, bare: Path, tmp_path: Path) -> None:
    with bare.open("a") as stream:
        stream.write("\n" * 5)
    asked = (
        "anonymize",
        bare,
        "--sensitive-items",
        SECRET,
        "-p",
        4,
        "--keep-empty",
        "--out",
        tmp_path / "out",
    )
    result = invoke(*asked)
    assert result.exit_code == 0, result.output
    assert "126, none left out" in result.stdout
    assert Files(tmp_path / "out").totals() == {SECRET: 4}
    assert invoke("check", tmp_path / "out").exit_code == 0


@pytest.mark.parametrize("change", ["exposed", "emptied"])
@pytest.mark.parametrize("options", [(), ("-p", 4)])
def test_check_judges_what_the_files_show(invoke, shop: Path, tmp_path: Path, change: str, options) -> None:
    """A sensitive item among the ordinary ones, or an empty basket beside others of its group, breaks the degree."""
    out = tmp_path / "release"
    assert invoke("anonymize", shop, "--sensitive-items", SECRET, "-p", 4, "--out", out).exit_code == 0
    group = (out / "sensitive.csv").read_text().splitlines()[1].split(",")[0]
    lines = (out / "baskets.csv").read_text().splitlines()
    basket = next(line.split(",")[1] for line in lines if line.startswith(f"{group},"))
    own = [line for line in lines if line.startswith(f"{group},{basket},")]
    if change == "exposed":
        lines.insert(lines.index(own[0]), f"{group},{basket},{SECRET}")
    else:
        lines = [line for line in lines if line not in own[1:]]
        lines[lines.index(own[0])] = f"{group},{basket},"
    (out / "baskets.csv").write_text("\n".join(lines) + "\n")
    result = invoke("check", out, *options, "--json")
    assert result.exit_code == 1, result.output
    plain = json.loads(result.stdout)
    assert plain["verdict"] == "broken"
    assert plain["judgment"]["worst"] == 1.0
