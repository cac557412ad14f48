"""k-variance as a guarantee: what it measures, and releases that break it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import k_variance as oracle

from discreet.core.errors import InputError, ParameterError, PromiseBrokenError
from discreet.core.release import Release
from discreet.core.verdict import Basis
from discreet.guarantees import KVariance, guarantee_from_dict
from discreet.guarantees.sketches import Gap
from discreet.publish import KVarianceSketch, SketchFamily

FAMILY = SketchFamily("a key for tests", components=20)


def sparse(seed: int, n: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = (rng.random((n, 8)) < 0.4).astype(np.float64)
    rows[~rows.any(axis=1), 0] = 1
    return rows


def with_lengths(release: Release, rows: np.ndarray, lengths: np.ndarray) -> Release:
    kept = np.flatnonzero(lengths)
    sketches = FAMILY.sketch(rows[kept], lengths=lengths[kept])
    evidence = dataclasses.replace(release.evidence, order=kept)
    return dataclasses.replace(release, data=sketches, evidence=evidence)


@given(st.integers(0, 2**32), st.sampled_from(["whole", "root", "distance"]), st.data())
@settings(max_examples=60)
def test_any_lengths_are_judged_as_the_oracle_does(seed: int, gap: Gap, data: st.DataObject) -> None:
    rows = sparse(seed)
    k = data.draw(st.integers(1, 5))
    release = KVarianceSketch(k, family=FAMILY, gap=gap).release(rows)
    near = release.evidence.arrays["neighbors"].tolist()
    lengths = np.array(data.draw(st.lists(st.integers(0, 8), min_size=12, max_size=12).filter(any)))
    verdict = KVariance(k, gap).check(with_lengths(release, rows, lengths))
    plain = rows.tolist()
    bad = [
        (i, j)
        for i in range(12)
        for j in near[i]
        if not oracle.admissible(plain[i], plain[j], int(min(lengths[i], lengths[j])), reach=gap)
    ]
    assert verdict.ok == (not bad)
    assert verdict.failing_groups == len(bad)
    assert verdict.failing_rows == len({place for pair in bad for place in pair})
    assert verdict.basis is Basis.CONSTRUCTION


def test_a_broken_release_is_not_written(tmp_path) -> None:
    rows = sparse(1)
    release = KVarianceSketch(3, family=FAMILY).release(rows)
    broken = with_lengths(release, rows, np.full(12, 20))
    assert not broken.verdict.ok
    with pytest.raises(PromiseBrokenError):
        broken.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    release.write(tmp_path / "out")


def test_what_cannot_be_judged_is_refused() -> None:
    release = KVarianceSketch(3, family=FAMILY).release(sparse(1))
    with pytest.raises(ParameterError, match="release of sketches"):
        KVariance(3).check(release.data)
    bare = dataclasses.replace(release, evidence=dataclasses.replace(release.evidence, arrays={}))
    with pytest.raises(InputError, match="does not hold"):
        KVariance(3).check(bare)
    with pytest.raises(ParameterError, match="'k' parameter"):
        KVariance(0)
    with pytest.raises(ParameterError, match="'gap' parameter"):
        KVariance(3, "half")  # type: ignore[arg-type]


def test_plain_data_and_words() -> None:
    assert guarantee_from_dict(KVariance(4).to_dict()) == KVariance(4)
    assert guarantee_from_dict(KVariance(4, "root").to_dict()) == KVariance(4, "root")
    assert "square root" in KVariance(4, "root").describe()
    assert guarantee_from_dict(KVariance(4, "distance").to_dict()) == KVariance(4, "distance")
    assert "squared distance" in KVariance(4, "distance").describe()
    assert KVariance(4, "distance").measured == "variance over distance"
    assert "4 nearest neighbors" in KVariance(4).describe()


def test_the_deviation_is_that_of_simulated_estimates() -> None:
    """Estimates by 1,500 keys spread at least as the promise says; a sound method fails here once in 10^6 runs."""
    rows = sparse(5, 6)
    release = KVarianceSketch(1, family=FAMILY).release(rows)
    lengths = np.zeros(len(rows), release.data.lengths.dtype)
    lengths[release.order] = release.data.lengths
    near = release.evidence.arrays["neighbors"][:, 0]
    keys = 1500
    found = np.empty((keys, 6))
    for key in range(keys):
        made = SketchFamily(f"key {key}", components=20).sketch(rows, lengths=lengths)
        found[key] = made.dot(made.take(near), paired=True)
    norms = np.sqrt((rows**2).sum(axis=1))
    gaps = norms * norms[near] - np.abs((rows * rows[near]).sum(axis=1))
    assert (found.std(axis=0) * (1 + 5 * np.sqrt(3 / keys)) >= gaps).all()
