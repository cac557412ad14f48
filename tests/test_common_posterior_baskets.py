"""The attack with the method known, on every publisher of grouped baskets in the registry."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from discreet import Release
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from tests.oracles.method_knowledge import Holders, Outcome, guess, outcome_of
from tests.publishing import Publisher, discovered, every

PUBLISHERS = discovered(
    "baskets", "baskets", {"cahd": [{}, {"randomize_groups": False}]}, keeps="PrivacyDegree"
)
BARE = -1
"""The number of a basket of a sensitive item alone, if it is published."""
P, N, N_HOLDERS, RUNS = 3, 9, 2, 24
DEVIATIONS = 5
"""Beyond these a sound method comes once in three million attacks."""

every_publisher = every(PUBLISHERS)


def releases(make: Publisher) -> Iterator[tuple[Holders, Outcome, Release]]:
    """Publish all originals of nine baskets with two holders, and of one basket with the sensitive item alone."""
    rng = np.random.default_rng(3)
    ordinary = [[f"id{row}", *(name for name in "abcdef" if rng.random() < 0.4)] for row in range(N)]
    for holders in map(frozenset, combinations(range(N), N_HOLDERS)):
        lists = [[*items, "s"] if row in holders else items for row, items in enumerate(ordinary)]
        baskets = Baskets.from_lists([*lists, ["s"]])
        for _ in range(RUNS):
            release = make(P, sensitive=["s"], random_state=int(rng.integers(2**31))).release(baskets)
            yield holders | {BARE}, _outcome(release.data), release


def _outcome(data: GroupedBaskets) -> Outcome:
    ids = [
        next((int(name[2:]) for name in basket if name.startswith("id")), BARE)
        for basket in data.baskets.lists()
    ]
    counts = zip(data.sensitive.group.tolist(), data.sensitive.counts.tolist(), strict=True)
    return outcome_of(ids, data.group.tolist(), dict(counts))


@every_publisher
def test_what_the_forming_of_groups_reveals_is_said(make: Publisher) -> None:
    """A guess by all that the method could have made is no better than the counts, or a caution says that it is."""
    made = list(releases(make))
    runs = [(holders, outcome) for holders, outcome, _ in made]
    found = guess(runs[::2], runs[1::2])
    assert found.n_groups > 300
    assert not any(BARE in members for _, outcome, _ in made for members, _ in outcome)
    said = all(
        "group-forming" in {caution.code for caution in release.cautions} for *_, release in made[::50]
    )
    assert said or found.deviations < DEVIATIONS, f"{found.right} right, by counts {found.by_counts:.0f}"
