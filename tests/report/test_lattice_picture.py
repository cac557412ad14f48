"""The picture of the lattice: the chosen node and the border are always on it, and its numbers are the nodes' own."""

from __future__ import annotations

import json
import re
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from tests.report.releases import EVIL, planted_columns, planted_frame, released

from discreet import Table, from_mapping, intervals, masked, quasi, sensitive
from discreet.core.release import Release
from discreet.datasets import hospital, hospital_columns
from discreet.guarantees import DistinctDiversity, KAnonymity
from discreet.kinds.sections import nodes as nodes_module
from discreet.kinds.sections.nodes import BORDER, BREAKS, CHOSEN, KEEPS, nodes_of
from discreet.publish import Generalization, OptimalLattice
from discreet.report import render

ROLES = {
    "age": quasi(intervals(5, 10, 20)),
    "zip": quasi(masked(levels=3)),
    "sex": quasi(),
    "sick": sensitive(),
}


def small_table(n: int = 150) -> Table:
    rng = np.random.default_rng(5)
    frame = pa.table({
        "age": rng.integers(20, 60, n),
        "zip": [f"{one:04d}" for one in rng.integers(1000, 1400, n)],
        "sex": rng.choice(["f", "m"], n),
        "sick": rng.choice(["flu", "gout", "cold"], n),
    })  # fmt: skip
    return Table(frame, ROLES)


@pytest.mark.parametrize("guarantee", [KAnonymity(3), KAnonymity(3) & DistinctDiversity(2, of="sick")])
@pytest.mark.parametrize("measure", ["loss", "entropy", "discernibility", "precision", "height"])
def test_points_are_what_releases_at_them_are(guarantee, measure: str) -> None:
    table = small_table()
    search = OptimalLattice(guarantee, measure=measure, max_suppressed=0.1, visit="all")
    release = search.release(table)
    nodes = nodes_of(release)
    assert nodes is not None
    assert nodes.kind.size == nodes.n_seen == nodes.n_nodes == 5 * 5 * 2
    assert nodes.kind[-1] == CHOSEN
    assert dict(zip(nodes.names, nodes.levels[-1].tolist(), strict=True)) == release.evidence.levels
    assert nodes.cost[-1] == pytest.approx(release.evidence.details["cost"])
    for at in range(0, nodes.kind.size, 7):
        levels = dict(zip(nodes.names, nodes.levels[at].tolist(), strict=True))
        keeps = nodes.kind[at] != BREAKS
        promise, share = (guarantee, 0.1) if keeps else (KAnonymity(1), 0.0)
        made = Generalization(promise, levels=levels, max_suppressed=share).release(table)
        sizes = made.groups().sizes
        assert nodes.risk[at] == pytest.approx(sizes.size / sizes.sum())
        if keeps:
            assert nodes.left_out[at] == pytest.approx(made.evidence.suppressed / table.n_rows)


def test_the_border_is_minimal() -> None:
    release = OptimalLattice(KAnonymity(4), max_suppressed=0.05, visit="all").release(small_table())
    seen = release.evidence.details["visited"]
    keeping = {tuple(levels) for levels in seen.levels[seen.feasible].tolist()}
    minimal = {
        node
        for node in keeping
        if not any(
            other != node and all(low <= up for low, up in zip(other, node, strict=True)) for other in keeping
        )
    }
    found = {tuple(levels) for levels in seen.levels[nodes_module.border_of(seen)].tolist()}
    assert found == minimal
    nodes = nodes_of(release)
    assert nodes is not None
    assert nodes.n_border == len(minimal)
    shown = {tuple(levels) for levels in nodes.levels[np.isin(nodes.kind, (BORDER, CHOSEN))].tolist()}
    assert shown >= minimal


def test_a_search_is_completed_where_that_is_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {"lowest": {"age": 1}, "highest": {"zip": 3}}
    release = OptimalLattice(KAnonymity(4), max_suppressed=0.05, **limits).release(small_table())
    n_searched = release.evidence.details["visited"].cost.size
    whole = nodes_of(release)
    assert whole is not None
    assert whole.n_seen == whole.n_nodes == release.evidence.details["n_nodes"]
    assert whole.levels[:, whole.names.index("age")].min() == 1
    monkeypatch.setattr(nodes_module, "_MOST_VISITED", 1)
    partial = nodes_of(release)
    assert partial is not None
    assert partial.n_seen == n_searched < partial.n_nodes
    assert partial.kind[-1] == CHOSEN
    assert f"{n_searched} nodes of {partial.n_nodes:,} were evaluated" in render(release, internal=True)


def test_many_nodes_are_thinned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes_module, "_MOST", {BREAKS: 4, KEEPS: 5, BORDER: 1})
    release = OptimalLattice(KAnonymity(4), max_suppressed=0.05, visit="all").release(small_table())
    nodes = nodes_of(release)
    assert nodes is not None
    assert {kind: int((nodes.kind == kind).sum()) for kind in (BREAKS, KEEPS, BORDER, CHOSEN)} == {
        BREAKS: 4,
        KEEPS: 5,
        BORDER: 1,
        CHOSEN: 1,
    }
    assert "An even sample of 11 is shown." in render(release, internal=True)


def spec_of(page: str) -> dict[str, object]:
    charts = map(json.loads, re.findall(r'"application/json">(.*?)</script>', page, re.DOTALL))
    (found,) = [one for one in charts if "of the lattice" in one["description"]]
    return found


def test_the_page_holds_one_sound_picture() -> None:
    import vl_convert

    release = OptimalLattice(KAnonymity(5), max_suppressed=0.02, random_state=1).release(
        Table(hospital(2_000), hospital_columns())
    )
    page = render(release, internal=True)
    assert render(release, internal=True) == page
    assert len(page.encode()) < 2_000_000
    spec = spec_of(page)
    assert vl_convert.vegalite_to_vega(spec)["marks"]
    assert page.index('id="cost"') < page.index('id="lattice"') < page.index('id="distributions"')
    assert 'href="#lattice"' in page
    written = json.dumps(spec)
    for words in ("minimal", "chosen", "breaks the guarantee", "rows suppressed", "mean risk"):
        assert words in written


@pytest.mark.parametrize("make", [lambda: released(planted_frame(), planted_columns())])
def test_a_release_without_nodes_has_no_picture(make) -> None:
    release: Release = make()
    assert nodes_of(release) is None
    page = render(release, internal=True)
    assert 'id="lattice"' not in page
    assert "#lattice" not in page


def test_names_cannot_break_out() -> None:
    values = [f"{one}{two}" for one, two in product("ab", "xyz")]
    frame = pa.table({EVIL[0]: values * 20, EVIL[1]: [EVIL[number % 3] for number in range(120)]})
    spec = from_mapping({value: f"{EVIL[2]} {value[0]}" for value in values})
    table = Table(frame, {EVIL[0]: quasi(spec), EVIL[1]: quasi()})
    page = render(OptimalLattice(KAnonymity(5), visit="all").release(table), internal=True)
    assert spec_of(page)
    for evil in EVIL[:2]:
        assert evil not in page
