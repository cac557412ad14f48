"""`discreet sketch`: folders, tables and baskets, what it says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.planted import SECRET

from discreet import Sketches, read_sketches
from discreet.engines.baskets.files import read_baskets
from discreet.engines.texts import text_rows
from discreet.guarantees import DeltaAnonymity, KVariance
from discreet.publish import DeltaSketch, KVarianceSketch, SketchFamily, propose_delta

KEY = b"\x00\x01 thirty-two bytes or so of key"


def unordered(sketches: Sketches) -> list[list[float]]:
    """Records are published in random order."""
    return sorted(part.tolist() for part in np.split(sketches.values, sketches.indptr[1:-1]))


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "secret.key"
    path.write_bytes(KEY + b"\n")
    return path


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Forty texts, one of them with a secret word, and an empty one."""
    rng = np.random.default_rng(1)
    words = np.array([f"word{number}" for number in range(60)])
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:02d}.txt").write_text(" ".join(rng.choice(words, 15)))
    (folder / "07.txt").write_text(f"{SECRET} word1 word2 word3")
    (folder / "empty.txt").write_text("")
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    rows = [" ".join(map(str, np.flatnonzero(rng.random(20) < 0.3))) for _ in range(100)]
    path = tmp_path / "shop.dat"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_folder_of_texts(invoke, docs: Path, key: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = invoke("sketch", docs, "--delta", 0.1, "--key-file", key, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    texts = text_rows(docs).filled()
    wanted = DeltaSketch(0.1, family=SketchFamily(KEY)).release(texts.rows, names=texts.names)
    assert unordered(read_sketches(out / "sketches.arrow")) == unordered(wanted.data)
    assert told["records"] == {
        "in": 41,
        "empty": 1,
        "suppressed": wanted.evidence.suppressed,
        "out": len(wanted.data),
    }
    assert told["lengths"]["most"] == wanted.data.longest
    assert told["ok"]
    written = (out / "release.json").read_text() + result.output
    assert SECRET not in written
    assert KEY.decode(errors="ignore") not in written


def test_baskets_and_neighbors(invoke, shop: Path, key: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.arrow"
    given = ("sketch", shop, "--k-variance", 5, "--components", 40, "--key-file", key, "--out", out)
    result = invoke(*given)
    assert result.exit_code == 0, result.output
    assert "exact nearest neighbors" in result.output
    assert "0 suppressed" in result.output
    baskets = read_baskets(shop)
    wanted = KVarianceSketch(5, family=SketchFamily(KEY, 40)).release(
        baskets.take(np.flatnonzero(baskets.lengths))
    )
    assert unordered(read_sketches(out)) == unordered(wanted.data)
    assert invoke(*given).exit_code == 7
    again = invoke(*given, "--overwrite", "--partition", 50)
    assert "2 partitions, a stand-in" in again.output


def test_both_promises(invoke, shop: Path, key: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    given = ("--delta", 0.5, "--k-variance", 5, "--gap", "root")
    result = invoke("sketch", shop, *given, "--key-file", key, "--out", out)
    assert result.exit_code == 0, result.output
    assert "KVariance(k=5, gap='root')" in result.output
    assert "DeltaAnonymity(delta=0.5)" in result.output
    baskets = read_baskets(shop)
    family = SketchFamily(KEY)
    method = KVarianceSketch(KVariance(5, "root") & DeltaAnonymity(0.5), family=family)
    wanted = method.release(baskets.take(np.flatnonzero(baskets.lengths)))
    assert unordered(read_sketches(out / "sketches.arrow")) == unordered(wanted.data)


def test_the_gap_may_be_the_distance(invoke, shop: Path, key: Path, tmp_path: Path) -> None:
    given = ("--k-variance", 5, "--gap", "distance", "--key-file", key, "--out", tmp_path / "out")
    result = invoke("sketch", shop, *given)
    assert result.exit_code == 0, result.output
    assert "KVariance(k=5, gap='distance')" in result.output


def test_a_column_of_a_table(invoke, key: Path, tmp_path: Path) -> None:
    table = tmp_path / "mails.csv"
    table.write_text("id,body\n" + "\n".join(f"{n},red green blue word{n % 3}" for n in range(9)) + "\n")
    out = tmp_path / "out"
    args = ("--column", "body", "--weights", "counts", "--delta", 1, "--key-file", key, "--out", out)
    result = invoke("sketch", table, *args, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["records"]["out"] == 9
    assert json.loads(result.output)["lengths"]["median"] == 3


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--delta", 0), "'delta' parameter"),
        (("--delta", -1), "'delta' parameter"),
        (("--delta", 5), "would be suppressed"),
        (("--k-variance", 0), "'k' parameter"),
        (("--k-variance", 99), "k=39 at most"),
        (("--delta", 0.2, "--partition", 9), "belongs to --k-variance"),
        (("--k-variance", 3, "--partition", 0), "'partition' parameter"),
        (("--delta", 0.2, "--components", 0), "'components' parameter"),
        (("--delta", 0.2, "--format", "fimi"), "these are texts"),
        (("--delta", 0.2, "--column", "body"), "this is a folder"),
        (("--delta", 0.2, "--min-texts", 0), "'min_texts' parameter"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(
    invoke, docs: Path, key: Path, tmp_path: Path, args: tuple[object, ...], words: str
) -> None:
    result = invoke("sketch", docs, *args, "--key-file", key, "--out", tmp_path / "out")
    assert result.exit_code in (2, 6)
    assert words in result.output
    assert SECRET not in result.output
    assert not (tmp_path / "out").exists()


def test_a_table_of_texts_without_a_column_is_told_what_to_do(invoke, key: Path, tmp_path: Path) -> None:
    table = tmp_path / "mails.csv"
    table.write_text("id,from,body\n" + "".join(f"{n},ann,red green {n}\n" for n in range(9)))
    result = invoke("sketch", table, "--delta", 0.2, "--key-file", key, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "is not recognized" in result.stderr
    assert "sketch --column" in result.stderr


def test_baskets_of_nothing_are_refused_before_anything_is_written(invoke, key: Path, tmp_path: Path) -> None:
    blank = tmp_path / "blank.dat"
    blank.write_text("\n\n")
    result = invoke("sketch", blank, "--delta", 0.2, "--key-file", key, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "holds no items" in result.output
    assert not (tmp_path / "out").exists()


def test_baskets_are_split_at_the_delimiter(invoke, key: Path, tmp_path: Path) -> None:
    shop = tmp_path / "shop.csv"
    shop.write_text("tea;milk;bread\nmilk;bread\n")
    out = tmp_path / "out.arrow"
    given = ("--format", "lines", "--delimiter", ";", "--delta", 0.5, "--key-file", key, "--out", out)
    result = invoke("sketch", shop, *given)
    assert result.exit_code == 0, result.output
    assert sorted(read_sketches(out).lengths.tolist()) == [2, 4]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--encoding", "latin-1"), "--encoding is for a column of texts"),
        (("--no-header",), "--no-header is for a column of texts"),
        (("--null", "NA"), "--null is for a column of texts"),
        (("--min-texts", 2), "--min-texts is for texts"),
    ],
)
def test_options_that_would_do_nothing_are_refused(
    invoke, shop: Path, docs: Path, key: Path, tmp_path: Path, flags: tuple[object, ...], words: str
) -> None:
    given = ("--delta", 0.2, "--key-file", key, "--out", tmp_path / "out")
    result = invoke("sketch", shop, *given, *flags)
    assert result.exit_code == 2
    assert words in result.output
    result = invoke("sketch", docs, *given, "--delimiter", ";")
    assert result.exit_code == 2
    assert "--delimiter is for a table, and this is a folder" in result.output


def test_the_key_must_not_be_among_the_data(invoke, docs: Path, shop: Path, tmp_path: Path) -> None:
    inside = docs / "deeper" / "secret.key"
    inside.parent.mkdir()
    inside.write_text("a key of plain words")
    for data, path in ((docs, inside), (shop, shop)):
        result = invoke("sketch", data, "--delta", 0.1, "--key-file", path, "--out", tmp_path / "out")
        assert result.exit_code == 2
        assert "The key file is among the data" in result.output
        assert not (tmp_path / "out").exists()


def test_the_key_must_be_there(invoke, docs: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.key"
    empty.write_bytes(b"\n")
    short = tmp_path / "short.key"
    short.write_bytes(b"fifteen letters")
    for path, words in (
        (tmp_path / "none.key", "cannot be read"),
        (empty, "is empty"),
        (short, "at least 16 bytes"),
    ):
        result = invoke("sketch", docs, "--delta", 0.2, "--key-file", path, "--out", tmp_path / "out")
        assert result.exit_code == 2
        assert words in result.output


def test_a_folder_that_is_no_release_is_never_replaced(invoke, shop: Path, key: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    refused = invoke("sketch", shop, "--delta", 0.5, "--key-file", key, "--out", mine, "--overwrite")
    assert refused.exit_code == 2
    assert "no earlier release" in refused.output
    assert (mine / "thesis.txt").read_text() == "years of work"


def test_delta_is_proposed_where_no_promise_is_named(invoke, docs: Path, key: Path, tmp_path: Path) -> None:
    texts = text_rows(docs).filled()
    wanted = propose_delta(texts.rows, names=texts.names)
    given = ("sketch", docs, "--key-file", key, "--out")
    told = json.loads(invoke(*given, tmp_path / "one", "--json").output)
    assert told["proposal"]["delta"] == wanted.delta
    assert told["lengths"]["median"] == wanted.median_length
    assert told["judgment"]["guarantee"] == f"DeltaAnonymity(delta={wanted.delta:g})"
    said = invoke(*given, tmp_path / "two").output
    assert f"{wanted.delta:g}, proposed from the records" in said
    assert "squared distances are off by about" in said
    page = (tmp_path / "two" / "report.html").read_text()
    assert "Distance error" in page


def test_a_delta_that_leaves_little_brings_a_caution_and_a_better_one(
    invoke, docs: Path, key: Path, tmp_path: Path
) -> None:
    texts = text_rows(docs).filled()
    wanted = propose_delta(texts.rows, names=texts.names)
    out = tmp_path / "out"
    said = invoke("sketch", docs, "--delta", 0.2, "--key-file", key, "--out", out).output
    assert "caution" in said
    assert f"--delta {wanted.delta:g} (median {wanted.median_length:g} components" in said
    codes = [one["code"] for one in json.loads((out / "release.json").read_text())["cautions"]]
    assert codes == ["short-sketches"]


def test_single_items_are_suppressed_at_any_delta_and_that_is_said(invoke, key: Path, tmp_path: Path) -> None:
    path = tmp_path / "clicks.dat"
    path.write_text("\n".join(["1", "2 3", "4", "1 2 3"] * 10) + "\n")
    said = invoke("sketch", path, "--delta", 0.5, "--key-file", key, "--out", tmp_path / "out").output
    assert "20 of 40 records (50.0%) are suppressed" in said
    assert "20 records of a single item are suppressed at any delta" in said


def test_a_key_is_never_replaced_by_sketches(invoke, tmp_path: Path) -> None:
    """Without the key, sketches that were made with it can never be compared again."""
    key, shop = tmp_path / "key.arrow", tmp_path / "shop.dat"
    key.write_bytes(bytes(range(32)))
    shop.write_text("1 2 3\n2 3\n1 3\n")
    (tmp_path / "link.arrow").symlink_to(key)
    for out in (key, tmp_path / "link.arrow"):
        command = ("sketch", shop, "--delta", 0.5, "--key-file", key, "--out", out, "--overwrite")
        refused = invoke(*command)
        assert refused.exit_code == 2
        assert "is what is read" in refused.output
    assert key.read_bytes() == bytes(range(32))
