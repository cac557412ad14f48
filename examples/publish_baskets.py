"""Publish baskets with sensitive items: ordinary items exact, sensitive ones counted per group."""

from __future__ import annotations

import tempfile
from pathlib import Path

from discreet import read_published
from discreet.datasets import quest
from discreet.measure import basket_risk
from discreet.publish import Cahd


def main() -> None:
    """Publish generated baskets by CAHD, read the files back and count in them."""
    baskets = quest("T8.I3.D5K.N200", random_state=1)
    rare = sorted(baskets.names.to_pylist(), key=lambda item: baskets.counts[baskets.codes_of([item])[0]])[
        20:24
    ]
    release = Cahd(10, sensitive=rare).release(baskets)
    print(release.verdict)
    print("tie of a found basket to a sensitive item:", basket_risk(release).tie)
    with tempfile.TemporaryDirectory() as folder:
        release.write(Path(folder) / "release")
        published = read_published(Path(folder) / "release")
        true = sum(rare[0] in basket for basket in baskets.lists())
        print(f"baskets with the first sensitive item: {published.count(rare[0]):.0f}, truly {true}")


if __name__ == "__main__":
    main()
