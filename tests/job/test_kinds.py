"""Jobs about every kind of data: the same shape, the same run, the same errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from discreet import Baskets, quasi, read_sketches, sensitive, tree
from discreet.core.errors import DiscreetError, InputError, OutputError, ParameterError
from discreet.guarantees import (
    DeltaAnonymity,
    DistinctDiversity,
    Indistinguishability,
    KAnonymity,
    KmAnonymity,
    KVariance,
    PrivacyDegree,
)
from discreet.job import BasketSection, Job, SketchSection, run
from discreet.kinds.kind import job_kinds
from discreet.kinds.sketches import read_records
from discreet.publish import (
    AprioriAnonymization,
    Cahd,
    Condensation,
    DeltaSketch,
    KVarianceSketch,
    SketchFamily,
)

SHOP = [["tea", "milk"], ["tea"], ["milk", "pill"], ["bread"], ["tea", "bread"], ["bread", "milk"]] * 4
FRAME = pa.table({"age": [20 + one % 12 for one in range(24)], "disease": ["flu", "cold", "asthma"] * 8})
COLUMNS = {"age": quasi(), "disease": sensitive()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.txt").write_text("".join(",".join(items) + "\n" for items in SHOP))
    pyarrow.csv.write_csv(FRAME, tmp_path / "people.csv")
    (tmp_path / "secret.key").write_bytes(b"a key of more than sixteen bytes\n")
    return tmp_path


def written(folder: Path, text: str) -> Job:
    (folder / "job.toml").write_text(text)
    return Job.read(folder / "job.toml")


BASKETS = """
[input]
path = "shop.txt"
format = "lines"
[baskets]
{about}
[[guarantee]]
{guarantee}
[method]
{method}
[output]
folder = "release"
seed = 3
"""


def test_a_file_of_baskets_gives_what_the_publisher_gives(folder: Path) -> None:
    job = written(
        folder,
        BASKETS.format(
            about='sensitive = ["pill"]', guarantee='kind = "privacy-degree"\np = 3', method="alpha = 2"
        ),
    )
    assert job.method == "cahd"
    assert job.baskets == BasketSection(["pill"])
    stages: list[str] = []
    release = run(job, stages.append)
    assert stages == ["Reading", "Protecting", "Judging", "Writing"]
    by_hand = Cahd(PrivacyDegree(3), sensitive=["pill"], alpha=2, random_state=3)
    assert release.data.baskets.lists() == by_hand.release(Baskets.from_lists(SHOP)).data.baskets.lists()
    assert json.loads((folder / "release" / "release.json").read_text())["method"] == "Cahd"


def test_a_hierarchy_of_items_makes_baskets_km_anonymous(folder: Path) -> None:
    about = 'hierarchy = {tree = {food = ["bread", "milk"], other = ["tea", "pill"]}}'
    guarantee = 'kind = "km-anonymity"\nk = 3\nm = 2'
    job = written(folder, BASKETS.format(about=about, guarantee=guarantee, method=""))
    assert job.method == "apriori"
    given = tree({"food": ["bread", "milk"], "other": ["tea", "pill"]})
    by_hand = AprioriAnonymization(KmAnonymity(3, 2), hierarchy=given, random_state=3)
    assert run(job).data.lists() == by_hand.release(Baskets.from_lists(SHOP)).data.lists()


def test_pseudo_data_is_a_method_for_tables(folder: Path) -> None:
    job = written(
        folder,
        """
        [input]
        path = "people.csv"
        [columns]
        age = {role = "quasi"}
        disease = {role = "sensitive"}
        [[guarantee]]
        kind = "indistinguishability"
        k = 4
        [method]
        spread = "gaussian"
        [output]
        folder = "release"
        seed = 1
        """,
    )
    assert job.method == "condensation"
    release = run(job)
    assert release.guarantee == Indistinguishability(4)
    assert (folder / "release" / "data.csv").is_file()
    again = run(Job(FRAME, COLUMNS, Indistinguishability(4), options={"spread": "gaussian"}, seed=1))
    assert again.frame.num_rows == 24
    publisher = job.publisher()
    assert isinstance(publisher, Condensation)
    assert (publisher.guarantee, publisher.spread) == (Indistinguishability(4), "gaussian")


def test_sketches_take_their_key_from_outside(folder: Path) -> None:
    text = """
        [input]
        path = "shop.txt"
        format = "lines"
        [sketches]
        key = "file:secret.key"
        components = 50
        {guarantees}
        [output]
        folder = "release"
        """
    delta = '[[guarantee]]\nkind = "delta-anonymity"\ndelta = 0.5\n'
    job = written(folder, text.format(guarantees=delta))
    assert job.method == "delta-sketch"
    assert "sixteen" not in repr(job)
    release = run(job)
    family = SketchFamily(b"a key of more than sixteen bytes", components=50)
    wanted = DeltaSketch(DeltaAnonymity(0.5), family=family).release(Baskets.from_lists(SHOP))
    assert sorted(release.data.lengths.tolist()) == sorted(wanted.data.lengths.tolist())
    assert read_sketches(folder / "release" / "sketches.arrow").equals(release.data)
    both = written(folder, text.format(guarantees=delta + '[[guarantee]]\nkind = "k-variance"\nk = 2\n'))
    assert both.method == "k-variance-sketch"
    publisher = both.publisher()
    assert isinstance(publisher, KVarianceSketch)
    assert publisher.guarantee == DeltaAnonymity(0.5) & KVariance(2)


def test_records_of_texts_and_baskets(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    for number, text in enumerate(["milk and honey", "", "honey bees"]):
        (tmp_path / "texts" / f"{number}.txt").write_text(text)
    rows, empty = read_records(tmp_path / "texts", weights="counts")
    assert (len(rows), empty) == (2, 1)
    pyarrow.csv.write_csv(pa.table({"body": ["milk", "honey milk"]}), tmp_path / "mails.csv")
    rows, empty = read_records(tmp_path / "mails.csv", column="body", min_texts=1)
    assert (len(rows), empty) == (2, 0)
    (tmp_path / "shop.txt").write_text("a,b\n\nc\n")
    rows, empty = read_records(tmp_path / "shop.txt", format="lines")
    assert len(rows) == 2
    (tmp_path / "none.dat").write_text("\n\n")
    with pytest.raises(InputError, match=r"no items|no baskets|empty"):
        read_records(tmp_path / "none.dat")


def test_a_table_in_groups(folder: Path) -> None:
    release = run(
        Job(FRAME, COLUMNS, DistinctDiversity(3), method="anatomy", out=folder / "out", report=False)
    )
    assert release.verdict.ok
    assert release.guarantee == DistinctDiversity(3)
    assert (folder / "out" / "sensitive.csv").is_file()


def basket_job(**changes: Any) -> Job:
    about = BasketSection(["pill"])
    return Job(
        **({"data": Baskets.from_lists(SHOP), "guarantee": PrivacyDegree(2), "baskets": about} | changes)
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"guarantee": KAnonymity(2)}, "No method for baskets keeps KAnonymity; they keep PrivacyDegree"),
        (
            {"guarantee": KAnonymity(2), "method": "cahd"},
            "The method cahd keeps PrivacyDegree, and cannot keep",
        ),
        ({"guarantee": PrivacyDegree(2) & PrivacyDegree(3)}, "No method for baskets keeps"),
        (
            {"method": "apriori"},
            "The method apriori keeps KmAnonymity, and cannot keep PrivacyDegree; 'cahd'",
        ),
        ({"method": "mondrian"}, "'method' parameter of Job must be one of 'cahd'"),
        ({"baskets": BasketSection()}, "needs sensitive items"),
        (
            {"baskets": BasketSection(["pill"], tree({"a": ["b"]}))},
            "A hierarchy of items belongs to km-anonymity",
        ),
        ({"guarantee": KmAnonymity(2, 2)}, "no item is sensitive, or all are"),
        ({"options": {"alhpa": 2}}, "The method cahd has no option 'alhpa'; did you mean 'alpha'?"),
        ({"options": {"sensitive": ["tea"]}}, "has no option 'sensitive'"),
        ({"options": {"random_state": 1}}, "has no option 'random_state'"),
        ({"format": "jsonl"}, "'format' parameter of Job"),
        ({"columns": COLUMNS}, "exactly one of columns, baskets, sketches, cells, tables. Got 2"),
        ({"baskets": None}, "exactly one of columns, baskets, sketches, cells, tables. Got 0"),
        ({"seed": -1}, "'seed' parameter of Job"),
        ({"guarantee": None}, "'guarantee' parameter of Job"),
    ],
)
def test_what_does_not_fit_together_is_refused_by_name(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError) as raised:
        basket_job(**changes)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"columns": {}}, ParameterError, "[columns] and [baskets]"),
        ({"baskets": {"sensitiv": ["pill"]}}, ParameterError, "did you mean 'sensitive'?"),
        ({"baskets": {"sensitive": "pill"}}, ParameterError, "'sensitive'"),
        ({"baskets": 3}, InputError, "[baskets]"),
        ({"input": {"path": "shop.txt", "rest": "other"}}, ParameterError, "'rest'"),
        ({"input": {"path": "shop.txt", "basket": 3}}, ParameterError, "'basket'"),
        ({"method": {"name": "mondrian"}}, ParameterError, "did you mean 'perm-mondrian'?"),
        ({"method": {"strict": True}}, ParameterError, "The method cahd has no option 'strict'"),
        (
            {"guarantee": [{"kind": "privacy-degree"}]},
            ParameterError,
            "'p' parameter of PrivacyDegree is missing",
        ),
        ({"guarantee": [{"kind": "privacy-degree", "k": 2}]}, ParameterError, "'k'"),
        ({"guarantee": []}, ParameterError, "has no guarantee"),
        ({"output": {"format": "jsonl"}}, ParameterError, "'format'"),
    ],
)
def test_what_is_not_known_is_refused_by_name(
    changes: dict[str, Any], error: type[DiscreetError], words: str
) -> None:
    plain = {
        "input": {"path": "shop.txt"},
        "baskets": {"sensitive": ["pill"]},
        "guarantee": [{"kind": "privacy-degree", "p": 2}],
    }
    with pytest.raises(error) as raised:
        Job.from_dict(plain | changes)
    assert words in str(raised.value)


def test_a_key_for_sketches_is_needed_and_never_shown(folder: Path) -> None:
    plain: dict[str, Any] = {
        "input": {"path": "shop.txt"},
        "sketches": {},
        "guarantee": {"kind": "delta-anonymity", "delta": 1},
    }
    with pytest.raises(InputError, match=r"\[sketches\] needs a key"):
        Job.from_dict(plain, folder=folder)
    with pytest.raises(InputError) as raised:
        Job.from_dict(plain | {"sketches": {"key": "the key itself"}}, folder=folder)
    assert "itself" not in str(raised.value)
    assert "secret" not in repr(SketchSection("a secret of sixteen bytes"))
    assert len(SketchSection("é" * 8).key) == 8
    with pytest.raises(InputError, match="at least 16 bytes"):
        SketchSection("é" * 7)


def test_targets_are_refused_before_any_work_whatever_the_kind(folder: Path) -> None:
    stages: list[str] = []
    job = Job(
        folder / "shop.txt",
        guarantee=PrivacyDegree(2),
        baskets=BasketSection(["pill"]),
        out=folder,
        overwrite=True,
    )
    with pytest.raises(OutputError):
        run(job, stages.append)
    assert stages == []
    with pytest.raises(ParameterError, match="'data' parameter"):
        run(basket_job(data=SHOP))


def test_every_kind_has_a_section_of_its_own() -> None:
    kinds = job_kinds()
    assert len({kind.section for kind in kinds}) == len(kinds)
    assert len({kind.takes for kind in kinds}) == len(kinds)
    assert np.all([hasattr(Job, str(kind.section)) for kind in kinds])
