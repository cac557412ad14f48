"""`discreet distort` and `discreet choose-pq`: what they write and say, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.planted import SECRET

from discreet.collect import EMask
from discreet.engines.baskets.bits import read_bits
from discreet.engines.baskets.files import read_baskets


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Baskets of four hundred customers, one of whom bought a secret thing."""
    rng = np.random.default_rng(1)
    rows = [" ".join(f"item{item}" for item in np.flatnonzero(rng.random(20) < 0.2)) for _ in range(400)]
    rows[7] = f"{rows[7]} {SECRET}".strip()
    path = tmp_path / "shop.dat"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_it_writes_what_the_channel_gives(invoke, shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "distorted.dat"
    result = invoke(
        "distort", shop, "--p", 0.5, "--q", 0.9, "--out", out, "--seed", 5, "--keep-order", "--json"
    )
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    channel, true = EMask(0.5, 0.9), read_baskets(shop, format="fimi")
    wanted = channel.perturb(true, random_state=5)
    assert read_baskets(out).lists() == wanted.lists()
    assert told["entries"] == {"in": true.items.size, "out": wanted.items.size}
    assert told["epsilon"]["bit"] == pytest.approx(channel.epsilon)
    assert told["basic_privacy"]["ones"] == pytest.approx(channel.basic_privacy(true))
    assert told["basic_privacy"]["ones_by_average_support"] == pytest.approx(
        channel.average_basic_privacy(true)
    )
    assert told["seeded"]


@pytest.mark.parametrize("seed", [(), ("--seed", 3)])
def test_baskets_are_written_in_random_order(invoke, tmp_path: Path, seed) -> None:
    """By position, whoever has the list of all customers knew whose report is whose."""
    true = [[f"only{row}"] for row in range(300)]
    (tmp_path / "shop.dat").write_text("\n".join(row[0] for row in true) + "\n")
    orders = []
    for at in range(2):
        told = ("--p", 1, "--q", 1, *seed, "--out", tmp_path / f"{at}.dat", "--json")
        assert json.loads(invoke("distort", tmp_path / "shop.dat", *told).stdout)["order"] == "shuffled"
        orders.append(read_baskets(tmp_path / f"{at}.dat").lists())
    assert sorted(orders[0]) == sorted(true)
    assert sum(one == other for one, other in zip(orders[0], true, strict=True)) < 20
    assert (orders[0] == orders[1]) == bool(seed)
    kept = tmp_path / "kept.dat"
    said = invoke("distort", tmp_path / "shop.dat", "--p", 1, "--q", 1, "--keep-order", "--out", kept)
    assert "order of the input is kept" in said.stdout
    assert read_baskets(kept).lists() == true


def test_bits_are_the_same_baskets(invoke, shop: Path, tmp_path: Path) -> None:
    for name in ("a.dat", "a.bits"):
        assert (
            invoke("distort", shop, "--p", 0.5, "--q", 0.9, "--out", tmp_path / name, "--seed", 5).exit_code
            == 0
        )
    assert read_bits(tmp_path / "a.bits").baskets().lists() == read_baskets(tmp_path / "a.dat").lists()


def test_without_a_seed_no_two_runs_are_alike_and_nothing_warns(invoke, shop: Path, tmp_path: Path) -> None:
    said = [
        invoke("distort", shop, "--p", 0.5, "--q", 0.9, "--out", tmp_path / f"{at}.dat").output
        for at in (1, 2)
    ]
    assert (tmp_path / "1.dat").read_bytes() != (tmp_path / "2.dat").read_bytes()
    assert all("warning" not in one for one in said)
    assert SECRET not in "".join(said)


def test_a_seed_warns(invoke, shop: Path, tmp_path: Path) -> None:
    assert "undo" in invoke("distort", shop, "--p", 0.9, "--out", tmp_path / "x.dat", "--seed", 1).output


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--p", 0.5, "--q", 0.5), "nothing could be recovered"),
        (("--p", 1.5), "'p' parameter"),
        (("--p", 0.5, "--q", -1), "'q' parameter"),
        (("--p", 0.5, "--q", 0.9, "--seed", -2), "random_state"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(
    process, shop: Path, tmp_path: Path, args, words: str
) -> None:
    ran = process("distort", shop, *args, "--out", tmp_path / "out.dat")
    assert ran.returncode == 2
    assert words in ran.stderr.splitlines()[0]
    assert SECRET not in ran.stderr
    assert not (tmp_path / "out.dat").exists()


def test_a_file_that_is_there_stays(invoke, shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.dat"
    out.write_text("mine")
    assert invoke("distort", shop, "--p", 0.5, "--q", 0.9, "--out", out).exit_code == 7
    assert out.read_text() == "mine"
    assert invoke("distort", shop, "--p", 0.5, "--q", 0.9, "--out", out, "--overwrite").exit_code == 0
    assert out.read_text() != "mine"


def test_choose_pq_lists_the_papers_points(invoke, tmp_path: Path) -> None:
    picture = tmp_path / "points.svg"
    result = invoke(
        "choose-pq",
        "--support",
        0.01,
        "--baskets",
        10**6,
        "--tolerance",
        0.05,
        "--picture",
        picture,
        "--json",
    )
    assert result.exit_code == 0, result.output
    points = json.loads(result.output)["points"]
    assert {(one["p"], one["q"]) for one in points} == {(0.3, 0.99), (0.4, 0.98), (0.5, 0.97), (0.6, 0.96)}
    assert picture.read_text().startswith("<svg")


def test_choose_pq_reads_a_sample(invoke, shop: Path) -> None:
    true = read_baskets(shop, format="fimi")
    told = json.loads(invoke("choose-pq", shop, "--every", "--json").output)
    assert told["support"] == pytest.approx(true.counts.mean() / len(true))
    assert told["baskets"] == 400
    assert len(told["points"]) == 9 * 99 - 9


def test_choose_pq_says_what_would_leave_a_point(invoke) -> None:
    said = invoke("choose-pq", "--support", 0.05, "--baskets", 1000).output
    tolerance = said.split("--tolerance ")[1].split()[0]
    again = invoke(
        "choose-pq", "--support", 0.05, "--baskets", 1000, "--tolerance", tolerance, "--json"
    ).output
    assert len(json.loads(again)["points"]) == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "FILE or --support"),
        (("--support", 0.01), "number of baskets"),
        (("--support", 2, "--baskets", 10), "'support' parameter"),
        (("--support", 0.01, "--baskets", 10, "--picture", "points.doc"), "picture"),
    ],
)
def test_choose_pq_refuses(process, args, words: str) -> None:
    ran = process("choose-pq", *args)
    assert ran.returncode == 2
    assert words in ran.stderr.splitlines()[0]


def test_baskets_that_became_empty_are_never_lost(invoke, process, shop: Path, tmp_path: Path) -> None:
    ran = process(
        "distort", shop, "--p", 0.1, "--q", 0.99, "--out", tmp_path / "out.csv", "--out-format", "long"
    )
    assert ran.returncode == 2
    assert "'--out-format'" in ran.stderr
    for name, more in (("a.dat", ()), ("a.bits", ()), ("a.npz", ()), ("a.csv", ("--out-format", "lines"))):
        out = tmp_path / name
        assert invoke("distort", shop, "--p", 0.1, "--q", 0.99, "--out", out, *more).exit_code == 0
        form = {"dat": "fimi", "csv": "lines"}.get(name[2:])
        assert len(read_baskets(out, format=form)) == 400


def test_items_that_nobody_reports_may_be_left_out_only_if_they_are_rare(process, tmp_path: Path) -> None:
    path = tmp_path / "all.dat"
    path.write_text("bread milk\n" * 50)
    ran = process("distort", path, "--p", 0, "--q", 0.5, "--out", tmp_path / "out.dat")
    assert ran.returncode == 2
    assert "2 items that no basket holds" in ran.stderr
    assert process("distort", path, "--p", 0, "--q", 0.5, "--out", tmp_path / "out.bits").returncode == 0


def test_an_unknown_ending_is_refused_before_anything_is_read(process, tmp_path: Path) -> None:
    ran = process("distort", tmp_path / "nothing", "--p", 0.9, "--out", tmp_path / "out.txt")
    assert ran.returncode == 2
    assert "names no format" in ran.stderr
    assert "try: --out-format" in ran.stderr


def test_every_command_reads_every_form(invoke, tmp_path: Path) -> None:
    path = tmp_path / "shop.txt"
    path.write_text("bread\tmilk\nbread\n")
    how = ("--format", "lines", "--delimiter", "\\t")
    out = tmp_path / "out.bits"
    assert invoke("distort", path, *how, "--p", 1, "--q", 1, "--out", out).exit_code == 0
    assert sorted(read_bits(out).baskets().lists()) == [["bread"], ["bread", "milk"]]
    assert json.loads(invoke("mine", path, *how, "--min-support", 1, "--json").output)["itemsets"] == 3
    assert json.loads(invoke("choose-pq", path, *how, "--json").output)["support"] == 0.75


def test_choose_pq_does_not_take_no_baskets_for_those_of_the_sample(process, shop: Path) -> None:
    ran = process("choose-pq", shop, "--baskets", 0)
    assert ran.returncode == 2
    assert "'n_baskets' parameter" in ran.stderr


def test_baskets_without_items_are_refused_before_anything_is_written(process, tmp_path: Path) -> None:
    path = tmp_path / "empty.dat"
    path.write_text("\n\n")
    ran = process("distort", path, "--p", 0.9, "--out", tmp_path / "out.bits")
    assert ran.returncode == 2
    assert "nothing to distort" in ran.stderr
    assert not (tmp_path / "out.bits").exists()


def test_a_public_list_of_items_hides_which_are_held(invoke, tmp_path: Path) -> None:
    """Without one, the name of an item that a single person holds is in the output only if they hold it."""
    catalog = tmp_path / "catalog.txt"
    catalog.write_text("a\nb\nc\n\nHIV\nmilk\na\n")
    listed = []
    for name, rows in {"with": "a,b\nb,c\nb,HIV\n", "without": "a,b\nb,c\nb\n"}.items():
        path, out = tmp_path / f"{name}.txt", tmp_path / f"{name}.bits"
        path.write_text(rows)
        command = ("distort", path, "--format", "lines", "--p", 0.5, "--q", 0.97, "--json", "--out", out)
        bare = json.loads(invoke(*command).stdout)
        assert [caution["code"] for caution in bare["cautions"]] == ["item-list"]
        told = json.loads(invoke(*command, "--items", catalog, "--overwrite").stdout)
        assert told["cautions"] == []
        assert told["items"] == 5
        listed.append(read_bits(out).names.to_pylist())
    assert listed[0] == listed[1] == ["HIV", "a", "b", "c", "milk"]


def test_an_item_that_the_list_lacks_is_refused(invoke, tmp_path: Path) -> None:
    shop, catalog, out = tmp_path / "shop.txt", tmp_path / "catalog.txt", tmp_path / "out.dat"
    shop.write_text("a,HIV\nb\n")
    catalog.write_text("a\nb\n")
    command = (
        "distort",
        shop,
        "--format",
        "lines",
        "--p",
        0.6,
        "--out",
        out,
        "--out-format",
        "lines",
        "--items",
    )
    refused = invoke(*command, catalog)
    assert refused.exit_code == 2
    assert "1 of the 3 items of the baskets are not listed" in refused.output
    assert "HIV" not in refused.output
    assert "one item a line" in invoke(*command, tmp_path / "none.txt").output
    assert not out.exists()


def test_numbers_and_names_may_share_a_list(invoke, tmp_path: Path) -> None:
    shop, catalog, out = tmp_path / "shop.dat", tmp_path / "catalog.txt", tmp_path / "out.bits"
    shop.write_text("1 2\n2 3\n")
    catalog.write_text("1\n2\n3\nother\n")
    assert invoke("distort", shop, "--p", 1, "--q", 1, "--items", catalog, "--out", out).exit_code == 0
    assert read_bits(out).names.to_pylist() == ["1", "2", "3", "other"]
