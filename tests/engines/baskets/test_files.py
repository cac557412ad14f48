"""Files of baskets: every format there and back, what is told by itself, what is refused and how."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.strategies.baskets import WORDS, baskets, number_names, text_names

import discreet
from discreet import Baskets, read_baskets, write_baskets
from discreet.core.errors import DiscreetError, InputError, OutputError, ParameterError

many = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
SPACELESS = [word for word in WORDS if not set(word) & set(" \n")]


def saved(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def again(found: Baskets, folder: Path, name: str, kind: str, **options: Any) -> Baskets:
    path = write_baskets(found, folder / name, format=kind, overwrite=True)
    return read_baskets(path, format=kind, **options)


def reads_as_numbers(found: Baskets) -> bool:
    names = found.names.to_pylist()
    return bool(names) and all(
        isinstance(name, str) and name.lstrip("-").isascii() and _whole(name) for name in names
    )


def _whole(name: str) -> bool:
    try:
        return str(int(name)) == name
    except ValueError:
        return False


@many
@given(
    found=baskets(
        min_baskets=1, used=True, names=number_names() | text_names(text=st.sampled_from(SPACELESS))
    ),
    packed=st.sampled_from(["", ".gz", ".zst"]),
)
def test_fimi_there_and_back(tmp_path: Path, found: Baskets, packed: str) -> None:
    if reads_as_numbers(found):
        with pytest.raises(DiscreetError, match="come back as numbers"):
            again(found, tmp_path, "a.dat", "fimi")
    else:
        assert again(found, tmp_path, f"a.dat{packed}", "fimi").equals(found)


@many
@given(baskets(min_baskets=1, used=True, names=st.lists(st.integers(0, 2**63 - 1), max_size=6, unique=True)))
def test_spmf_there_and_back(tmp_path: Path, found: Baskets) -> None:
    assert again(found, tmp_path, "a.txt", "spmf").equals(found)
    if found.items.size:
        assert read_baskets(tmp_path / "a.txt").equals(found)


@many
@given(found=baskets(min_baskets=1, used=True), ending=st.sampled_from([".csv", ".csv.gz", ".tsv"]))
def test_lines_there_and_back(tmp_path: Path, found: Baskets, ending: str) -> None:
    assert again(found, tmp_path, f"a{ending}", "lines").equals(found)


@many
@given(
    found=baskets(
        min_baskets=1, min_length=1, used=True, names=number_names(min_size=1) | text_names(min_size=1)
    ),
    ending=st.sampled_from([".csv", ".tsv", ".parquet", ".arrow", ".jsonl", ".csv.gz"]),
)
def test_long_there_and_back(tmp_path: Path, found: Baskets, ending: str) -> None:
    text = ".csv" in ending or ending == ".tsv"
    edges = " \t\r\n\f\v\xa0"
    names = [name for name in found.names.to_pylist() if isinstance(name, str)]
    if text and (reads_as_numbers(found) or any(not name or name != name.strip(edges) for name in names)):
        with pytest.raises(DiscreetError, match=r"come back as numbers|delimited text cannot hold"):
            again(found, tmp_path, f"a{ending}", "long", basket="basket", item="item")
    else:
        assert again(found, tmp_path, f"a{ending}", "long", basket="basket", item="item").equals(found)


@many
@given(
    found=baskets(min_baskets=1, names=number_names(min_size=1) | text_names(min_size=1)),
    ending=st.sampled_from([".csv", ".tsv", ".parquet", ".arrow", ".csv.gz"]),
)
def test_onehot_there_and_back(tmp_path: Path, found: Baskets, ending: str) -> None:
    if reads_as_numbers(found):
        with pytest.raises(DiscreetError, match="come back as numbers"):
            again(found, tmp_path, f"a{ending}", "onehot")
    else:
        assert again(found, tmp_path, f"a{ending}", "onehot").equals(found)


@many
@given(found=baskets(), kind=st.sampled_from(["bits", "sparse"]))
def test_bits_and_sparse_there_and_back(tmp_path: Path, found: Baskets, kind: str) -> None:
    path = tmp_path / {"bits": "a.bits", "sparse": "a.npz"}[kind]
    write_baskets(found, path, overwrite=True)
    assert read_baskets(path).equals(found)


def test_scipy_reads_what_is_written_and_the_other_way(tmp_path: Path) -> None:
    found = Baskets.from_lists([["b", "c"], [], ["a"]])
    write_baskets(found, tmp_path / "a.npz")
    assert (sparse.load_npz(tmp_path / "a.npz") != found.to_sparse()).nnz == 0
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        sparse.save_npz(tmp_path / "b.npz", kind(np.array([[0, 1], [1, 1]])))
        assert read_baskets(tmp_path / "b.npz").lists() == [[1], [0, 1]]


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("1 2 3\n4\n", [[1, 2, 3], [4]]),
        ("3 1 2 1\n\n4", [[1, 2, 3], [], [4]]),
        ("1\t2 \r\n  3\r\n\r\n", [[1, 2], [3], []]),
        ("1 2\r3\r", [[1, 2], [3]]),
        ("-5 9223372036854775807\n-9223372036854775808 0\n", [[-5, 2**63 - 1], [-(2**63), 0]]),
        ("2147483648 2147483647\n", [[2147483647, 2147483648]]),
        ("10 9 x\n9\n", [["10", "9", "x"], ["9"]]),
        ("007 7\n", [["007", "7"]]),
        ("+1 -0 1.5 -\n", [["+1", "-", "-0", "1.5"]]),
        ("99999999999999999999 x\n", [["99999999999999999999", "x"]]),
        ("\ufeff1 2\n", [[1, 2]]),
        ("\ufeffmilk Łódź\n", [["milk", "Łódź"]]),
        ("1\f2\v3\n", [[1, 2, 3]]),
        ("\n\n", [[], []]),
    ],
)
def test_fimi_lines(tmp_path: Path, text: str, lists: Any) -> None:
    assert read_baskets(saved(tmp_path, "a.dat", text), format="fimi").lists() == lists
    packed = saved(tmp_path, "b.dat.gz", gzip.compress(text.encode(), mtime=0))
    assert read_baskets(packed, format="fimi").lists() == lists


def test_many_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.kernels.baskets import fimi

    monkeypatch.setattr(fimi, "_PIECE", 16)
    rng = np.random.default_rng(1)
    rows = [rng.integers(0, 10 ** rng.integers(1, 8), rng.integers(0, 9)).tolist() for _ in range(500)]
    path = saved(tmp_path, "a.dat", "\n".join(" ".join(map(str, row)) for row in rows) + "\n")
    assert read_baskets(path).lists() == [sorted(set(row)) for row in rows]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"1 2 99999999999999999999\n", "beyond the 64 bits"),
        (b"1 9223372036854775808\n", "beyond the 64 bits"),
        (b"1 -9223372036854775809\n", "beyond the 64 bits"),
        (b"1 2\n3 \0 4\n", "NUL byte on line 2"),
        (b"1 2\n\xff\xfe\xfa\n", "not UTF-8 text"),
        (bytes(range(128, 256)), "not UTF-8 text"),
        (b"", "is empty"),
        (gzip.compress(b"1 2 3\n" * 10_000, mtime=0)[:-20], "cut short or damaged"),
        (gzip.compress(b"1 2 3\n" * 10_000, mtime=0)[:40], "cut short or damaged"),
        (gzip.compress(b"", mtime=0), "is empty"),
    ],
)
def test_fimi_lines_that_are_refused(tmp_path: Path, content: bytes, words: str) -> None:
    for format_ in ("fimi", None):
        with pytest.raises(InputError, match=words) as caught:
            read_baskets(saved(tmp_path, "a.dat", content), format=format_)
        assert caught.value.__cause__ is None
        assert "99999" not in str(caught.value)


def test_a_plain_file_called_gz_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not a \.gz file"):
        read_baskets(saved(tmp_path, "a.dat.gz", "1 2\n"))


@pytest.mark.parametrize("path", ["missing.dat", "."])
def test_what_is_no_file(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError, match=r"There is no file|is a folder"):
        read_baskets(tmp_path / path)


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("1 -1 3 -1 2 -1 -2\n4 -1 -2\n", [[1, 2, 3], [4]]),
        ("1 2 -1 3 -1 -2\n-2\n\n1 -1 1 -1 -2", [[1, 2, 3], [], [1]]),
    ],
)
def test_spmf_sequences_are_recognized(tmp_path: Path, text: str, lists: Any) -> None:
    path = saved(tmp_path, "a.dat", text)
    assert read_baskets(path).lists() == lists
    assert read_baskets(path, format="spmf").lists() == lists
    assert read_baskets(saved(tmp_path, "b.txt.gz", gzip.compress(text.encode(), mtime=0))).lists() == lists


@pytest.mark.parametrize(
    "text", ["1 2 3\n", "1 -1 -2 4 -1 -2\n", "1 -1 -2\n3 -1\n", "1 -1 -3 -1 -2\n", "a -1 -2\n"]
)
def test_spmf_sequences_that_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="SPMF"):
        read_baskets(saved(tmp_path, "a.dat", text), format="spmf")


def test_negative_items_are_no_spmf(tmp_path: Path) -> None:
    assert read_baskets(saved(tmp_path, "a.dat", "-2 -1\n-2\n")).lists() == [[-2, -1], [-2]]
    with pytest.raises(OutputError, match="negative"):
        write_baskets(Baskets.from_lists([[-3, 1]]), tmp_path / "b.dat", format="spmf")
    with pytest.raises(OutputError, match="text"):
        write_baskets(Baskets.from_lists([["a"]]), tmp_path / "b.dat", format="spmf")


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("milk,bread\nbeer\n", [["bread", "milk"], ["beer"]]),
        ("milk, bread ,\n,,\n\nbeer,milk,milk", [["bread", "milk"], [], [], ["beer", "milk"]]),
        (
            '" milk","a ""b""\nc, d"\r\nbeer , "x" ,5" pipe\n',
            [[" milk", 'a "b"\nc, d'], ['5" pipe', "beer", "x"]],
        ),
        ("10,9\n9\n", [[9, 10], [9]]),
        ('10,"9"\n9\n', [["10", "9"], ["9"]]),
        ("NA,null,?\n", [["?", "NA", "null"]]),
        ('""\na\n', [[""], ["a"]]),
    ],
)
def test_comma_lines(tmp_path: Path, text: str, lists: Any) -> None:
    assert read_baskets(saved(tmp_path, "a.csv", text), format="lines").lists() == lists


def test_other_delimiters(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.txt", 'a;"b;c"\n d ;e\n')
    assert read_baskets(path, format="lines", delimiter=";").lists() == [["a", "b;c"], ["d", "e"]]
    path = saved(tmp_path, "b.tsv", 'a\t"b\tc"\nd\n')
    assert read_baskets(path).lists() == [["a", "b\tc"], ["d"]]


@pytest.mark.parametrize(("text", "line"), [('a,b\n"c,d\ne\n', 2), ('a\nb\n"c"d,e\n', 3)])
def test_quotes_left_open(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(InputError, match=f"line {line}: a quoted item is never closed"):
        read_baskets(saved(tmp_path, "a.csv", text), format="lines")


@pytest.mark.parametrize(
    ("name", "text", "lists"),
    [
        (
            "a.csv",
            "milk,bread,beer\nmilk\nbeer,milk\n",
            [["beer", "bread", "milk"], ["milk"], ["beer", "milk"]],
        ),
        ("a.csv", "milk,bread\n1,0\n1,1\n", [["milk"], ["bread", "milk"]]),
        ("a.csv", "milk,bread\ntrue,false\n", [["milk"]]),
        ("a.txt", "1 2\n2\n", [[1, 2], [2]]),
        ("a.dat", "milk bread\nmilk\n", [["bread", "milk"], ["milk"]]),
        ("noending", "5 6\n", [[5, 6]]),
    ],
)
def test_detected_formats(tmp_path: Path, name: str, text: str, lists: Any) -> None:
    assert read_baskets(saved(tmp_path, name, text)).lists() == lists


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "a,b\nc,d\n"),
        ("a.csv", "milk\nbread\n"),
        ("a.csv", "basket,item\n1,5\n1,6\n"),
        ("a.dat", "1,2,3\n4,5,6\n"),
        ("a.dat", "beer,cold milk\nmilk\n"),
        ("a.csv", "id,what\n" + "1,a\n" * 20 + "2\n"),
        ("a.txt", "milk bread\nmilk\n"),
        ("a.jsonl", '{"basket": 1, "item": 2}\n'),
    ],
)
def test_ambiguous_formats(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(
        InputError, match="the format of the baskets is not recognized; pass format, one of fimi"
    ):
        read_baskets(saved(tmp_path, name, text))


def test_a_parquet_table_is_not_guessed(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [True]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="is not recognized"):
        read_baskets(tmp_path / "a.parquet")
    assert read_baskets(tmp_path / "a.parquet", format="onehot").lists() == [["a"]]


def test_long_text_keeps_what_is_written(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.csv", "id;what;price\n007;NA;1\n7;05;2\n007;5;3\n")
    assert read_baskets(path, basket="id", item="what").lists() == [["5", "NA"], ["05"]]


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("id,what\n1,a\n2,\n", {"item": "what"}, "1 of the 2 items of column 'what' are null"),
        ("id,what\n,a\n2,b\n", {"item": "what"}, "1 of the 2 rows have no basket"),
        ("id,what\n1,a\n", {"item": "thing"}, "no column 'thing'"),
        ("id,what\n1,a\n2\n", {"item": "what"}, "expected 2 fields"),
    ],
)
def test_long_text_that_is_refused(tmp_path: Path, text: str, options: Any, words: str) -> None:
    with pytest.raises(DiscreetError, match=words):
        read_baskets(saved(tmp_path, "a.csv", text), basket="id", **options)


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "a,b\n1,\n", "a,b\n1\n", "a,b\nx,0\n"])
def test_onehot_text_that_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"other than 0 and 1|different lengths"):
        read_baskets(saved(tmp_path, "a.csv", text), format="onehot")


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_onehot_tables_that_are_damaged(tmp_path: Path, ending: str) -> None:
    path = write_baskets(
        Baskets.from_lists([["a"], ["b", "A", ""]]), tmp_path / f"a{ending}", format="onehot"
    )
    for content in (path.read_bytes()[:-20], b"nothing at all"):
        with pytest.raises(InputError, match=r"is not an? (Parquet|Arrow) file, or is cut short"):
            read_baskets(saved(tmp_path, f"b{ending}", content), format="onehot")
    with pytest.raises(OutputError, match="not as JSON"):
        write_baskets(Baskets.from_lists([["a"]]), tmp_path / "a.jsonl", format="onehot")


@pytest.mark.parametrize("content", [b"PK\x03\x04 nothing", b"nothing", b"\x93NUMPY"])
def test_sparse_files_that_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match="no sparse matrix of scipy, or is damaged"):
        read_baskets(saved(tmp_path, "a.npz", content))
    np.savez(tmp_path / "b.npz", x=np.arange(3))
    with pytest.raises(InputError, match="no sparse matrix of scipy, or is damaged"):
        read_baskets(tmp_path / "b.npz")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"format": "xml"}, "'format' parameter of read_baskets must be one of"),
        ({"format": "long", "basket": "a"}, "'item' parameter"),
        ({"format": "fimi", "basket": "a"}, "'basket' parameter"),
        ({"format": "fimi", "delimiter": ","}, "'delimiter' parameter"),
        ({"format": "lines", "delimiter": ",,"}, "'delimiter' parameter"),
        ({"basket": 5}, "'basket' parameter"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, options: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        read_baskets(saved(tmp_path, "a.dat", "1 2\n"), **options)


def test_nothing_is_lost_silently(tmp_path: Path) -> None:
    found = Baskets.from_lists([["a", "b"], [], ["b"]]).take(np.array([1, 2]))
    for kind in ("fimi", "lines"):
        with pytest.raises(OutputError, match="cannot hold 1 items that no basket holds; pass lossy=True"):
            write_baskets(found, tmp_path / "x", format=kind)
        write_baskets(found, tmp_path / kind, format=kind, lossy=True)
        assert read_baskets(tmp_path / kind, format=kind).lists() == [[], ["b"]]
    with pytest.raises(OutputError, match="1 items that no basket holds and 1 empty baskets"):
        write_baskets(found, tmp_path / "x.csv", format="long")
    write_baskets(found, tmp_path / "x.csv", format="long", lossy=True)
    assert read_baskets(tmp_path / "x.csv", basket="basket", item="item").lists() == [["b"]]
    with pytest.raises(OutputError, match="no baskets to write"):
        write_baskets(found.take(np.zeros(0, int)), tmp_path / "y", format="fimi")
    with pytest.raises(OutputError, match="but empty ones"):
        write_baskets(found.take(np.zeros(1, int)), tmp_path / "y.csv", format="long", lossy=True)
    assert not (tmp_path / "x").exists()
    assert not (tmp_path / "y").exists()


@pytest.mark.parametrize("name", ["two words", "", "tab\there", "line\nbreak", "nul\0", "\ufefffirst"])
def test_names_that_fimi_cannot_hold(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match="1 item names are empty or hold white space") as caught:
        write_baskets(Baskets.from_lists([[name, "fine"]]), tmp_path / "a.dat")
    assert not name or name not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_writing_is_all_or_nothing(tmp_path: Path) -> None:
    found = Baskets.from_lists([[1, 2]])
    path = write_baskets(found, tmp_path / "deep" / "a.dat")
    assert path.read_text() == "1 2\n"
    with pytest.raises(OutputError, match="is there already"):
        write_baskets(found, path)
    write_baskets(Baskets.from_lists([[3]]), path, overwrite=True)
    assert path.read_text() == "3\n"
    with pytest.raises(OutputError, match="the ending names no format"):
        write_baskets(found, tmp_path / "a.xyz")
    with pytest.raises(OutputError):
        write_baskets(Baskets.from_lists([["a b"]]), path, overwrite=True)
    assert path.read_text() == "3\n"
    assert [left.name for left in path.parent.iterdir()] == ["a.dat"]


def test_the_public_files(shared_data: Path) -> None:
    sizes = {
        "fimi/T10I4D100K.dat.gz": (100_000, 870, 1_010_228),
        "fimi/retail.dat.gz": (88_162, 16_470, 908_576),
        "fimi/mushroom.dat.gz": (8_124, 119, 186_852),
        "fimi/chess.dat.gz": (3_196, 75, 118_252),
        "fimi/kosarak_first36682.dat.gz": (36_682, 17_034, 294_008),
        "bms-webview-1/BMS-WebView-1.dat.gz": (59_602, 497, 149_639),
        "groceries/groceries.csv": (9_835, 169, 43_367),
    }
    for name, size in sizes.items():
        found = discreet.read_baskets(shared_data / name)
        assert (len(found), found.n_items, found.items.size) == size
