"""The checks that every publisher of the registry passes, whatever it takes and makes; none is exempt.

What differs between kinds of data is in a case for each kind: data, the guarantee of a strength, a slow judgment of the
release, and how it is read as plain values.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet import Baskets, LinkedTables, Table, identifier, other, person, quasi, sensitive
from discreet.core.errors import (
    DiscreetError,
    InfeasibleError,
    InputError,
    OutputError,
    ParameterError,
    PromiseBrokenError,
)
from discreet.core.registry import METHODS, RELEASING, Method, methods
from discreet.guarantees import (
    CellProtection,
    DeltaAnonymity,
    ExpectedAnonymity,
    Guarantee,
    Indistinguishability,
    KAnonymity,
    KmAnonymity,
    KVariance,
    MInvariance,
    PerUnit,
    PrivacyDegree,
    RulesHidden,
)
from discreet.output.tabular import CellTable, Tabulation
from discreet.publish import SketchFamily
from tests.oracles import hiding as oracles_hiding
from tests.oracles import k_variance as oracles_k_variance
from tests.oracles import km as oracles_km
from tests.oracles import linked as oracles_linked
from tests.oracles import sketches as oracles_sketches
from tests.oracles import tables as oracles_tables
from tests.oracles import uncertain as oracles_uncertain
from tests.oracles.tabular import consistent_tables, is_safe

PLANTED = "Wilhelmina-4711"
SECRETS = ["pill", "test"]
N = 60


@dataclass(frozen=True)
class Case:
    """How a kind of data is made, published and judged.

    ``guarantee`` makes the guarantee of a strength, where 2 is easily kept and 1000 is out of reach; ``letter`` is its
    shortcut. ``rows`` reads a release as plain values in no order, and ``kept`` judges it by slow definitions.
    """

    data: Callable[[], Any]
    guarantee: Callable[[int], Guarantee]
    letter: Callable[[int], Any]
    arguments: Callable[[], dict[str, Any]]
    release: Callable[[Any, Any], Any]
    rows: Callable[[Any], Counter[Any]]
    kept: Callable[[Any, int], bool]
    infeasible: int = 1000


def people() -> Table:
    """Return a table with an identifying text that is planted in a column nobody publishes exactly."""
    rng = np.random.default_rng(3)
    frame = pa.table(
        {
            "age": rng.integers(20, 40, N),
            "height": rng.integers(150, 190, N),
            "disease": [f"d{one % 6}" for one in range(N)],
            "ward": ["w"] * N,
        }
    )
    return Table(frame, {"age": quasi(), "height": quasi(), "disease": sensitive(), "ward": other()})


def shop() -> Baskets:
    """Return baskets of a few ordinary items, and now and then a sensitive one."""
    rng = np.random.default_rng(4)
    items = np.array(["tea", "milk", "bread", "beer", PLANTED])
    return Baskets.from_lists(
        [
            [*items[rng.random(5) < 0.4].tolist(), *([SECRETS[one // 10 % 2]] if one % 10 == 0 else [])]
            for one in range(N)
        ]
    )


def numbers() -> np.ndarray:
    """Return correlated rows of numbers."""
    return np.random.default_rng(5).multivariate_normal([0, 0], [[2.0, 1.0], [1.0, 2.0]], N)


def measures() -> Table:
    """Return a table of numbers, with a planted identifier."""
    values = numbers()
    columns = {"name": [f"{PLANTED}-{one}" for one in range(N)], "x": values[:, 0], "y": values[:, 1]}
    return Table(pa.table(columns), {"name": identifier(), "x": quasi(), "y": sensitive()})


def records() -> Any:
    """Return sparse records, one with a planted name."""
    rng = np.random.default_rng(6)
    names = ["tea", "milk", "bread", "beer", "salt", PLANTED]
    held = rng.random((30, 6)) < 0.6
    held[:, :2] = True
    return [{name: 1 for name, has in zip(names, row, strict=True) if has} for row in held]


def table_rows(release: Any) -> Counter[Any]:
    return Counter(tuple(map(str, row.values())) for row in release.frame.to_pylist())


def has_classes(release: Any, k: int) -> bool:
    rows = release.frame.to_pylist()
    classes = oracles_tables.equivalence_classes(rows, ["age", "height"])
    return all(len(members) >= k for members in classes)


def has_anatomy(release: Any, l: int) -> bool:  # noqa: E741
    group = release.data.group
    sizes = Counter(row[group] for row in release.frame.to_pylist())
    return all(
        one["count"] * l <= sizes[one[group]] and one["count"] >= 1 for one in release.data.counts.to_pylist()
    )


def basket_rows(release: Any) -> Counter[Any]:
    data = release.data
    baskets = data.baskets if hasattr(data, "baskets") else data
    return Counter(tuple(sorted(one)) for one in baskets.lists())


def has_degree(release: Any, p: int) -> bool:
    data = release.data
    sizes = Counter(data.group.tolist())
    held = release.original.lists()
    totals = Counter(name for one in held for name in one if name in SECRETS)
    counts, names = data.sensitive, data.sensitive_names.to_pylist()
    counted: Counter[str] = Counter()
    for group, code, count in zip(counts.group, counts.values, counts.counts, strict=True):
        counted[names[int(code)]] += int(count)
        if count * p > sizes[int(group)]:
            return False
    return counted == totals


def is_km(release: Any, k: int) -> bool:
    return oracles_km.is_km_anonymous(release.data.lists(), k, 2)


def has_levels(release: Any, k: int) -> bool:
    return int(release.evidence.sizes.min()) >= k and int(release.evidence.sizes.sum()) == N


def has_anonymity(release: Any, k: int) -> bool:
    values = numbers()
    unit = [float(f"{column.std():.1e}") for column in values.T]
    spreads = np.empty(N)
    spreads[release.order] = release.frame["x_spread"].to_numpy() / unit[0]
    return oracles_uncertain.keeps_levels(
        values / unit, spreads.round(6).tolist(), [0] * N, [k] * N, "gaussian"
    )


def sketch_rows(release: Any) -> Counter[Any]:
    sketches = release.data
    return Counter(
        tuple(sketches.values[start:stop].tolist())
        for start, stop in zip(sketches.indptr[:-1], sketches.indptr[1:], strict=True)
    )


def is_delta(release: Any, delta: float) -> bool:
    kept = [records()[place] for place in release.order]
    return all(
        oracles_sketches.is_delta_anonymous(record, int(length), Fraction(delta))
        for record, length in zip(kept, release.data.lengths, strict=True)
    )


def is_k_variance(release: Any, k: int) -> bool:
    names = sorted({name for record in records() for name in record})
    rows = [[record.get(name, 0) for name in names] for record in records()]
    lengths = np.zeros(len(rows), np.int64)
    lengths[release.order] = release.data.lengths
    return all(
        oracles_k_variance.admissible(row, rows[near], int(min(lengths[place], lengths[near])))
        for place, row in enumerate(rows)
        for near in oracles_k_variance.cosine_order(row, rows, place)[:k]
    )


BASKET_RULE, TABLE_RULE = "tea => milk", "age=25 => disease=d1"
SHARES = {1: 0.1, 2: 0.05, 3: 0.04, 4: 0.03}
"""The least support of hidden rules by strength; all of them are found at any of these."""


def hidden(rule: str, everything: Callable[[], list[str]]) -> Callable[[int], Guarantee]:
    """Return how a guarantee that a rule is hidden is made; out of reach is that no item at all is found."""

    def make(strength: int) -> Guarantee:
        if strength in SHARES:
            return RulesHidden([rule], SHARES[strength], 0.2)
        return RulesHidden([[name] for name in everything()], 1 / N)

    return make


def is_hidden(rows: list[frozenset[str]], rule: str, strength: int) -> bool:
    left, right = (frozenset(side.strip().split(", ")) for side in rule.split("=>"))
    least = -(-Fraction(str(SHARES[strength])) * len(rows) // 1)
    return not oracles_hiding.is_found(rows, (left, right), int(least), "0.2")


def has_no_rule(release: Any, strength: int) -> bool:
    return is_hidden([frozenset(one) for one in release.data.lists()], BASKET_RULE, strength)


def clinic() -> Table:
    """Return a table in which a rule is found, with a planted identifier."""
    rng = np.random.default_rng(7)
    age = rng.integers(24, 27, N)
    ill = np.where((age == 25) & (rng.random(N) < 0.6), 1, rng.integers(0, 6, N))
    frame = pa.table(
        {
            "name": [f"{PLANTED}-{one}" for one in range(N)],
            "age": age,
            "height": rng.integers(150, 154, N),
            "disease": [f"d{one}" for one in ill],
            "ward": ["w"] * N,
        }
    )
    roles = {"name": identifier(), "age": quasi(), "height": quasi(), "disease": sensitive(), "ward": other()}
    return Table(frame, roles)


def items_of(row: dict[str, Any]) -> frozenset[str]:
    return frozenset(f"{name}={value}" for name, value in row.items() if value is not None and name != "ward")


def has_no_rule_in_rows(release: Any, strength: int) -> bool:
    return is_hidden([items_of(row) for row in release.frame.to_pylist()], TABLE_RULE, strength)


def every_item() -> list[str]:
    return sorted({name for one in shop().lists() for name in one})


def every_cell() -> list[str]:
    rows = clinic().frame.drop_columns("name").to_pylist()
    return sorted(frozenset().union(*map(items_of, rows)))


def counts() -> Tabulation:
    """Return a small table of counts with one small cell."""
    return Tabulation.of_cells(
        CellTable.of_leaves({"ward": ["v", "w"], "sex": ["f", "m"]}, np.array([[1, 9], [8, 7]]))
    )


def cell_rows(release: Any) -> Counter[Any]:
    return Counter(release.data.texts())


def is_safe_table(release: Any, strength: int) -> bool:
    small = 0 if release.data.base else strength - 1
    return is_safe(release.data, strength, strength, consistent_tables(release.data, small, 16))


def registered() -> Table:
    """Return the people with a key each, whose name is planted."""
    table = people()
    keyed = table.frame.drop_columns("ward").append_column("who", [[f"{PLANTED}-{one}" for one in range(N)]])
    return Table(
        keyed, {**{name: table.schema[name] for name in ("age", "height", "disease")}, "who": person()}
    )


def visited() -> LinkedTables:
    """Return the people, and the wards that some of them have been on."""
    who = [f"{PLANTED}-{one % 40}" for one in range(N)]
    visits = pa.table(
        {"who": who, "ward": ["v", "w"] * (N // 2), "drug": [f"m{one % 5}" for one in range(N)]}
    )
    roles = {"who": person(), "ward": quasi(), "drug": sensitive()}
    return LinkedTables({"people": registered(), "visits": Table(visits, roles)})


def linked_rows(release: Any) -> Counter[Any]:
    tables = release.data.tables.items()
    return Counter(
        (name, *map(str, row.values())) for name, table in tables for row in table.frame.to_pylist()
    )


def has_linked_classes(release: Any, k: int) -> bool:
    tables = {name: table.frame.to_pylist() for name, table in release.data.tables.items()}
    roles = {
        name: {column: role.role.value for column, role in table.schema.items()}
        for name, table in release.data.tables.items()
    }
    return oracles_linked.least_people(tables, roles, known=True) >= k


def is_m_unique(release: Any, m: int) -> bool:
    held: dict[int, list[Any]] = {}
    for row in release.data.counts.to_pylist():
        held.setdefault(row["group"], []).extend([row["disease"]] * row["count"])
    return all(len(set(values)) == len(values) >= m for values in held.values())


FAMILY = SketchFamily("a key of the checks", components=60)


def plain(publisher: Any, data: Any) -> Any:
    return publisher.release(data)


def hide(hider: Any, data: Any) -> Any:
    return hider.hide(data)


def streamed(publisher: Any, data: Any) -> Any:
    return publisher.fit(data).release()


def of_sensitive() -> dict[str, Any]:
    return {"sensitive": SECRETS}


CASES: dict[tuple[str, str, str], Case] = {
    ("table", "table", "KAnonymity"): Case(
        people, KAnonymity, KAnonymity, dict, plain, table_rows, has_classes
    ),
    ("table", "grouped-table", "PrivacyDegree"): Case(
        people, PrivacyDegree, int, dict, plain, table_rows, has_anatomy
    ),
    ("table", "grouped-table", "MInvariance"): Case(
        registered,
        lambda m: MInvariance(max(m, 2), of="disease"),
        lambda m: max(m, 2),
        dict,
        plain,
        table_rows,
        is_m_unique,
    ),
    ("linked-tables", "linked-tables", "KAnonymity"): Case(
        visited,
        lambda k: PerUnit(KAnonymity(k), "who"),
        lambda k: PerUnit(KAnonymity(k), "who"),
        dict,
        plain,
        linked_rows,
        has_linked_classes,
        infeasible=N + 1,
    ),
    ("baskets", "baskets", "PrivacyDegree"): Case(
        shop, PrivacyDegree, int, of_sensitive, plain, basket_rows, has_degree
    ),
    ("baskets", "baskets", "KmAnonymity"): Case(
        shop,
        lambda k: KmAnonymity(k, 2),
        lambda k: KmAnonymity(k, 2),
        dict,
        plain,
        basket_rows,
        is_km,
    ),
    ("table", "pseudo-data", "Indistinguishability"): Case(
        people, Indistinguishability, int, dict, plain, table_rows, has_levels
    ),
    ("table", "uncertain-records", "ExpectedAnonymity"): Case(
        measures, ExpectedAnonymity, int, dict, plain, table_rows, has_anonymity
    ),
    ("stream", "pseudo-data", "Indistinguishability"): Case(
        numbers, Indistinguishability, int, dict, streamed, table_rows, has_levels
    ),
    ("records", "sketches", "DeltaAnonymity"): Case(
        records, DeltaAnonymity, float, lambda: {"family": FAMILY}, plain, sketch_rows, is_delta
    ),
    ("records", "sketches", "KVariance"): Case(
        records, KVariance, int, lambda: {"family": FAMILY}, plain, sketch_rows, is_k_variance
    ),
    ("cells", "cells", "CellProtection"): Case(
        counts, CellProtection, int, dict, plain, cell_rows, is_safe_table
    ),
    ("baskets", "baskets", "RulesHidden"): Case(
        shop,
        hidden(BASKET_RULE, every_item),
        hidden(BASKET_RULE, every_item),
        dict,
        hide,
        basket_rows,
        has_no_rule,
    ),
    ("table", "table", "RulesHidden"): Case(
        clinic,
        hidden(TABLE_RULE, every_cell),
        hidden(TABLE_RULE, every_cell),
        dict,
        hide,
        table_rows,
        has_no_rule_in_rows,
    ),
}
"""A case for each kind of data, kind of release and first guarantee."""
BY_CONFIDENCE = ("1.a", "1.b", "wsda")
"""Hiders that lower the confidence of rules, and refuse itemsets; a rule by itself can always be hidden."""
REQUIRED: dict[str, dict[str, Any]] = {
    "generalization": {"levels": {"age": 1, "height": 1}},
    "stream-condensation": {"init_number": N // 2},
}
"""Parameters without a default, and what makes a guarantee within reach."""


@dataclass(frozen=True)
class Checked:
    """A publisher or hider of the registry on one kind of data."""

    method: Method
    takes: str
    case: Case

    def make(self, guarantee: Any, **more: Any) -> Any:
        """Make the publisher."""
        required = REQUIRED.get(self.method.name, {})
        given = {**self.method.fixed, **self.case.arguments(), **required, **more}
        return self.method.load()(guarantee, **given)

    def release(self, guarantee: Any, data: Any = None, **more: Any) -> Any:
        """Publish the data of the case, or other data."""
        return self.case.release(self.make(guarantee, **more), self.case.data() if data is None else data)

    @property
    def seeds(self) -> bool:
        """Whether anything is random."""
        return "random_state" in self.method.parameters()


def found() -> list[Any]:
    """Return every publisher and hider of the registry for every kind of data; one without a case is an error."""
    checked = []
    for method in methods(role=RELEASING):
        for takes in method.takes:
            if method.makes_of(takes) in ("synthetic-data", "sampled-table"):
                continue  # noise that nobody can draw again: test_common_synthetic, publish/tables/test_safe_pub
            case = CASES[takes, method.makes_of(takes), method.guarantees[0]]
            checked.append(pytest.param(Checked(method, takes, case), id=f"{method.name}-{takes}"))
    return checked


every_publisher = pytest.mark.parametrize("one", found())


@every_publisher
@pytest.mark.parametrize("strength", [1, 2, 3])
def test_the_promise_is_kept_by_the_slow_definition(one: Checked, strength: int) -> None:
    release = one.release(one.case.guarantee(strength))
    assert release.verdict.ok
    assert release.guarantee == one.case.guarantee(strength)
    assert one.case.kept(release, strength)


@every_publisher
def test_the_letter_and_the_guarantee_are_the_same(one: Checked) -> None:
    seeded = {"random_state": 1} if one.seeds else {}
    by_letter = one.release(one.case.letter(2), **seeded)
    by_guarantee = one.release(one.case.guarantee(2), **seeded)
    assert by_letter.guarantee == by_guarantee.guarantee
    assert one.case.rows(by_letter) == one.case.rows(by_guarantee)


@every_publisher
def test_infeasible_is_an_error(one: Checked) -> None:
    with pytest.raises(ParameterError if one.method.name in BY_CONFIDENCE else InfeasibleError):
        one.release(one.case.guarantee(one.case.infeasible))


@every_publisher
def test_a_stronger_parameter_gives_no_weaker_measure(one: Checked) -> None:
    seeded = {"random_state": 1} if one.seeds else {}
    worst = [one.release(one.case.guarantee(strength), **seeded).verdict for strength in (1, 2, 4)]
    assert all(verdict.ok for verdict in worst)
    bounds = [verdict.bound for verdict in worst]
    assert bounds == sorted(bounds)


@every_publisher
def test_a_seed_gives_the_same_release_and_global_generators_are_untouched(one: Checked) -> None:
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    if one.seeds:
        first, second = (one.release(one.case.guarantee(2), random_state=7) for _ in range(2))
        assert first.recipe["seed"] == 7
        assert one.release(one.case.guarantee(2)).recipe["seed"] is None
    else:
        first, second = (one.release(one.case.guarantee(2)) for _ in range(2))
    assert one.case.rows(first) == one.case.rows(second)
    assert before == (random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002


@every_publisher
def test_the_input_stays_as_it_was(one: Checked) -> None:
    data = one.case.data()
    before = _frozen(data)
    one.release(one.case.guarantee(2), data)
    assert _frozen(data) == before


@every_publisher
def test_planted_names_are_shown_by_no_text(one: Checked, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    publisher = one.make(one.case.guarantee(2))
    release = one.case.release(publisher, one.case.data())
    told = [repr(publisher), repr(release), repr(release.evidence), str(release.verdict), caplog.text]
    told += [str(release.recipe), release.guarantee.describe()]
    with pytest.raises(DiscreetError) as caught:
        one.release(one.case.guarantee(one.case.infeasible))
    told += [str(caught.value), str(caught.value.__cause__)]
    assert not [text for text in told if PLANTED in text]


@every_publisher
def test_every_declared_constraint_names_its_parameter(one: Checked) -> None:
    parameters = one.method.parameters()
    first = next(iter(parameters))
    for name, parameter in parameters.items():
        assert parameter.constraints or name in ("bounds", "columns"), f"{name} is not constrained"
        guarantee = one.case.guarantee(2)
        for wrong in (object(), ...):
            given = {} if name == first else {name: wrong}
            with pytest.raises(ParameterError, match=f"'{name}' parameter of {one.method.class_name}"):
                one.release(wrong if name == first else guarantee, **given)


@every_publisher
def test_foreign_folders_are_never_touched_and_broken_promises_never_written(
    one: Checked, tmp_path: Path
) -> None:
    release = one.release(one.case.guarantee(2))
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "mine.txt").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(OutputError):
            release.write(foreign, overwrite=overwrite)
    assert [path.name for path in foreign.iterdir()] == ["mine.txt"]
    folder = release.write(tmp_path / "out")
    assert (folder / "release.json").is_file()
    with pytest.raises(OutputError):
        release.write(folder)
    release.write(folder, overwrite=True)
    broken = dataclasses.replace(release, guarantee=one.case.guarantee(one.case.infeasible))
    with pytest.raises((PromiseBrokenError, InputError)):
        broken.write(tmp_path / "broken")
    assert not (tmp_path / "broken").exists()


def test_every_method_is_named_once_and_exported() -> None:
    import discreet.collect
    import discreet.mine
    import discreet.output.hiding
    import discreet.output.tabular
    import discreet.publish

    packages = {
        "publisher": discreet.publish,
        "collector": discreet.collect,
        "miner": discreet.mine,
        "hider": discreet.output.hiding,
    }
    verbs = {
        "publisher": ("release",),
        "collector": ("perturb",),
        "miner": ("mine", "predict", "fit"),
        "hider": ("hide",),
    }
    homes = [(method.home, *sorted(method.fixed.items())) for method in METHODS.values()]
    assert len(set(homes)) == len(homes)
    for method in METHODS.values():
        package = discreet.output.tabular if "cells" in method.makes else packages[method.role]
        assert getattr(package, method.class_name) is method.load()
        assert any(hasattr(method.load(), verb) for verb in verbs[method.role])
        assert len(method.takes) == len(method.makes)
    exported = {
        name
        for package, verb in (
            (discreet.publish, "release"),
            (discreet.collect, "perturb"),
            (discreet.output.hiding, "hide"),
            (discreet.output.tabular, "release"),
        )
        for name in package.__all__
        if hasattr(getattr(package, name), verb)
    }
    named = {
        method.class_name for role in ("publisher", "collector", "hider") for method in methods(role=role)
    }  # type: ignore[arg-type]
    assert exported == named


def test_every_method_declares_constraints() -> None:
    free = {"channels", "family", "items", "matrix", "covariance", "bounds", "columns", "key"}
    for method in METHODS.values():
        for name, parameter in method.parameters().items():
            assert parameter.constraints or name in free, f"{method.name}: {name}"
            assert all(math.isfinite(len(str(constraint))) for constraint in parameter.constraints)


def _frozen(data: Any) -> str:
    if isinstance(data, Baskets):
        return str(data.lists())
    if isinstance(data, Table):
        return str(data.frame.to_pydict())
    return str(data.tolist() if isinstance(data, np.ndarray) else data)
