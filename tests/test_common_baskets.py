"""The checks that every publisher of baskets in groups passes; the registry of methods names them."""

from __future__ import annotations

import json
import logging
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import read_published
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import (
    DiscreetError,
    InfeasibleError,
    InputError,
    OutputError,
    ParameterError,
    PromiseBrokenError,
)
from discreet.guarantees import PrivacyDegree
from tests.oracles import cahd as oracles_cahd
from tests.publishing import SEED, Options, Publisher, assert_seed_is_secret, discovered, every

VARIANTS: dict[str, list[Options]] = {
    "cahd": [{}, {"randomize_groups": False}, {"alpha": 1, "order": "lexicographic"}],
}
PUBLISHERS = discovered("baskets", "baskets", VARIANTS, keeps="PrivacyDegree")
LETTERS = {"Anatomy": "l"}
every_publisher = every(PUBLISHERS)

SECRETS = ("s", "t", "u")
ITEMS = ("a", "b", "c", "d", "e")


@st.composite
def lists(draw: st.DrawFn) -> list[list[str]]:
    """Baskets of a few ordinary items and now and then a sensitive one; some are empty, many are alike."""
    ordinary = st.lists(st.sampled_from(ITEMS), max_size=4, unique=True)
    secret = st.sampled_from([[], [], [], [], ["s"], ["t"], ["s", "t"], ["u"]])
    return draw(st.lists(st.builds(lambda one, two: one + two, ordinary, secret), min_size=1, max_size=40))


def known(given: list[list[str]]) -> list[str]:
    return [name for name in SECRETS if any(name in one for one in given)]


def many() -> list[list[str]]:
    rng = np.random.default_rng(5)
    return [
        [
            *(name for name in ITEMS if rng.random() < 0.4),
            *(name for name in SECRETS if rng.random() < 0.06),
        ]
        for _ in range(300)
    ]


@every_publisher
@given(baskets=lists(), p=st.integers(1, 6))
@settings(max_examples=60)
def test_the_promise_is_kept_by_the_written_files_alone(
    tmp_path_factory: pytest.TempPathFactory, make: Publisher, baskets: list[list[str]], p: int
) -> None:
    secrets = known(baskets)
    if not secrets:
        return
    filled = [one for one in baskets if set(one) - set(SECRETS)] if p > 1 else baskets
    most = max(sum(name in one for one in filled) for name in secrets)
    publisher = make(p, sensitive=secrets, random_state=0)
    if most * p > len(filled):
        with pytest.raises(InfeasibleError, match=f"={len(filled) // most} at most"):
            publisher.release(Baskets.from_lists(baskets))
        return
    if not filled:
        with pytest.raises(InfeasibleError, match="keep_empty=True"):
            publisher.release(Baskets.from_lists(baskets))
        return
    release = publisher.release(Baskets.from_lists(baskets))
    assert release.evidence.suppressed == len(baskets) - len(filled)
    folder = release.write(tmp_path_factory.mktemp("out") / "release", report=False)
    files = oracles_cahd.Files(folder)
    assert files.degree() >= p
    assert float(files.degree()) == release.verdict.worst
    assert release.verdict.ok
    assert not files.mixed_groups()
    assert files.baskets() == Counter(frozenset(one) - set(SECRETS) for one in filled)
    assert files.totals() == Counter(name for one in filled for name in one if name in SECRETS)


@every_publisher
@given(baskets=lists(), seed=st.integers(0, 9))
@settings(max_examples=25)
def test_the_order_of_the_baskets_does_not_matter_for_the_promise(
    make: Publisher, baskets: list[list[str]], seed: int
) -> None:
    secrets = known(baskets)
    mixed = [baskets[row] for row in np.random.default_rng(seed).permutation(len(baskets))]
    for given_ in (baskets, mixed):
        try:
            release = make(2, sensitive=secrets[:2] or ["a"]).release(Baskets.from_lists(given_))
        except (InfeasibleError, InputError):
            continue
        assert release.verdict.ok
        secret = set(secrets[:2] or ["a"])
        assert len(release.data) == sum(bool(set(one) - secret) for one in baskets)


@every_publisher
@given(baskets=lists(), p=st.integers(2, 6))
@settings(max_examples=40)
def test_empty_baskets_are_kept_only_as_a_group_in_which_none_stands_out(
    tmp_path_factory: pytest.TempPathFactory, make: Publisher, baskets: list[list[str]], p: int
) -> None:
    secrets = known(baskets)
    if not secrets:
        return
    bare = [one for one in baskets if not set(one) - set(SECRETS)]
    filled = [one for one in baskets if set(one) - set(SECRETS)]
    publisher = make(p, sensitive=secrets, keep_empty=True)
    too_many = [
        part
        for part in (bare, filled)
        if any(p * sum(name in one for one in part) > len(part) for name in secrets)
    ]
    if too_many:
        with pytest.raises(InfeasibleError, match="at most"):
            publisher.release(Baskets.from_lists(baskets))
        return
    release = publisher.release(Baskets.from_lists(baskets))
    files = oracles_cahd.Files(release.write(tmp_path_factory.mktemp("out") / "release", report=False))
    assert not files.mixed_groups()
    assert files.degree() >= p
    assert files.baskets() == Counter(frozenset(one) - set(SECRETS) for one in baskets)
    assert release.verdict.ok
    assert release.evidence.suppressed == 0


@every_publisher
def test_what_left_out_baskets_hold_is_nowhere(make: Publisher, tmp_path: Path) -> None:
    """Two originals that differ in what a basket without ordinary items holds make the same public files."""
    written = []
    for name, bare in (("first", ["s"]), ("second", ["t"]), ("third", [])):
        baskets = Baskets.from_lists([*([["a", "b"], ["b", "c"]] * 10), ["a", "u"], bare, ["c", "s"]])
        publisher = make(
            4,
            sensitive=[one for one in ("s", "t", "u") if baskets.names.index(one).as_py() >= 0],
            random_state=1,
        )
        folder = publisher.release(baskets).write(tmp_path / name)
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
        record = json.loads((folder / "release.json").read_text())
        assert record["baskets"] == {"in": 23, "out": 22, "suppressed": 1}
        assert record["left_out"] == "baskets without any ordinary item"
        assert "1 basket without any ordinary item" in (folder / "report.html").read_text()
    assert written[0] == written[1] == written[2]


@every_publisher
@given(baskets=lists())
@settings(max_examples=25)
def test_p_1_keeps_every_estimate_exact(make: Publisher, baskets: list[list[str]]) -> None:
    secrets = known(baskets)
    if not secrets:
        return
    release = make(1, sensitive=secrets).release(Baskets.from_lists(baskets))
    assert release.verdict.ok
    for name in secrets:
        assert release.data.count(name) == pytest.approx(sum(name in one for one in baskets))


@every_publisher
def test_a_seed_gives_the_same_bytes_and_another_another_order(make: Publisher, tmp_path: Path) -> None:
    baskets = Baskets.from_lists(many())
    before = np.random.get_state()[1].copy()  # noqa: NPY002

    def written(name: str, seed: int) -> list[bytes]:
        folder = make(4, sensitive=SECRETS, random_state=seed).release(baskets).write(tmp_path / name)
        return [path.read_bytes() for path in sorted(folder.iterdir())]

    assert written("one", 7) == written("two", 7)
    assert written("three", 8)[0] != written("one-more", 7)[0]
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    assert make(4, sensitive=SECRETS).release(baskets).recipe["seed"] is None


@every_publisher
def test_the_files_say_that_there_was_a_seed_and_not_which(make: Publisher, tmp_path: Path) -> None:
    release = make(4, sensitive=SECRETS, random_state=SEED).release(Baskets.from_lists(many()))
    assert release.recipe["seed"] == SEED
    assert_seed_is_secret(release.write(tmp_path / "out"))
    unseeded = make(4, sensitive=SECRETS).release(Baskets.from_lists(many())).write(tmp_path / "other")
    assert json.loads((unseeded / "release.json").read_text())["seeded"] is False


@every_publisher
def test_the_input_stays_as_it_was(make: Publisher) -> None:
    baskets = Baskets.from_lists(many())
    before = (baskets.indptr.copy(), baskets.items.copy(), baskets.names)
    make(4, sensitive=SECRETS).release(baskets)
    assert (baskets.indptr == before[0]).all()
    assert (baskets.items == before[1]).all()
    assert baskets.names.equals(before[2])


@every_publisher
def test_the_order_of_groups_and_baskets_tells_nothing(make: Publisher) -> None:
    """The same baskets, numbered in order by an item of their own: the published order is no order of theirs."""
    n = 200
    baskets = Baskets.from_lists([[row, 1000 + row % 3] + ([5000] if row < 20 else []) for row in range(n)])
    largest = set()
    for seed in range(12):
        release = make(5, sensitive=[5000], random_state=seed).release(baskets)
        largest.add(int(release.data.sizes.argmax()))
    assert len(largest) > min(release.data.n_groups, 6) // 2
    own = np.array([basket[0] for basket in release.data.baskets.lists()])
    assert (np.diff(release.data.group) >= 0).all()
    for group in range(release.data.n_groups):
        inside = own[release.data.group == group]
        if inside.size > 10:
            assert (np.diff(inside) < 0).any()
            assert (np.diff(inside) > 0).any()


@every_publisher
def test_planted_names_never_appear(
    make: Publisher, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    lists = [[f"PLANTED-{row % 7}", "SECRET" if row % 10 == 0 else "x"] for row in range(60)]
    baskets = Baskets.from_lists(lists)
    release = make(4, sensitive=["SECRET"]).release(baskets)
    folder = release.write(tmp_path / "out")
    texts = [repr(release), repr(release.data), repr(release.evidence), str(release.verdict), caplog.text]
    texts += [repr(baskets), str(release.recipe), (folder / "release.json").read_text()]
    for text in texts:
        assert "PLANTED" not in text
        assert "SECRET" not in text
    assert "PLANTED" not in (folder / "report.html").read_text()
    with pytest.raises(InfeasibleError, match="'SECRET'") as caught:
        make(40, sensitive=["SECRET"]).release(baskets)
    assert "PLANTED" not in str(caught.value)
    with pytest.raises(InputError) as missing:
        make(2, sensitive=["PLANTED-99"]).release(baskets)
    assert "PLANTED" not in str(missing.value)


@every_publisher
def test_each_constraint_names_its_parameter(make: Publisher) -> None:
    baskets = Baskets.from_lists(many())
    letter = LETTERS.get(type(make(2, sensitive=SECRETS)).__name__, "p")
    for wrong in (0, 2.5, "2", None, True):
        with pytest.raises(ParameterError, match=f"'{letter}' parameter of"):
            make(wrong, sensitive=SECRETS).release(baskets)
    for wrong in ([], "st", None, 3):
        with pytest.raises(ParameterError, match="'sensitive' parameter of"):
            make(2, sensitive=wrong).release(baskets)
    with pytest.raises(ParameterError, match="'random_state' parameter of"):
        make(2, sensitive=SECRETS, random_state=-1).release(baskets)
    with pytest.raises(ParameterError, match="parameter of"):
        make(2, sensitive=SECRETS).release([["a", "s"]])


@every_publisher
def test_odd_baskets_are_published_or_refused_clearly(make: Publisher) -> None:
    only_secrets = Baskets.from_lists([["s"], ["t"], ["u"], ["s"], ["t"], ["u"]])
    with pytest.raises(InfeasibleError, match="keep_empty=True"):
        make(3, sensitive=SECRETS).release(only_secrets)
    release = make(3, sensitive=SECRETS, keep_empty=True).release(only_secrets)
    assert release.verdict.ok
    assert release.data.baskets.n_items == 0
    unused = Baskets.from_lists([["a"], ["b"], ["s"]]).take(np.array([0, 1]))
    release = make(10**9, sensitive=["s"]).release(unused)
    assert release.verdict.ok
    assert release.verdict.worst == float("inf")
    empty = Baskets.from_lists([[], [], ["s"], []])
    assert make(4, sensitive=["s"], keep_empty=True).release(empty).verdict.worst == 4.0
    with pytest.raises(InfeasibleError, match=r"=4 at most.*keep_empty=False"):
        make(5, sensitive=["s"], keep_empty=True).release(empty)
    alike = Baskets.from_lists([["a", "b"]] * 99 + [["a", "b", "s"]])
    assert make(20, sensitive=["s", "s"]).release(alike).verdict.ok
    with pytest.raises(InputError, match="no baskets"):
        make(1, sensitive=["s"]).release(empty.take(np.array([], np.int64)))


@every_publisher
def test_a_broken_promise_is_not_written(make: Publisher, tmp_path: Path) -> None:
    release = make(4, sensitive=SECRETS).release(Baskets.from_lists(many()))
    broken = replace(release, guarantee=PrivacyDegree(1000))
    with pytest.raises(PromiseBrokenError):
        broken.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    release.write(tmp_path / "out", report=False)
    with pytest.raises(OutputError, match="not empty"):
        release.write(tmp_path / "out")
    release.write(tmp_path / "out", overwrite=True, format="parquet")
    assert isinstance(read_published(tmp_path / "out"), GroupedBaskets)
    with pytest.raises(DiscreetError, match="format"):
        release.write(tmp_path / "other", format="xlsx")
