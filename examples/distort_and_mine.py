"""Distort baskets where they arise, and mine the distorted ones: the frequent itemsets are still found."""

from __future__ import annotations

from discreet.collect import EMask
from discreet.datasets import quest
from discreet.guarantees import LocalDP
from discreet.mine import Itemsets, MaskedItemsets


def main() -> None:
    """Compare the itemsets of true and of distorted baskets."""
    baskets = quest("T6.I3.D20K.N100", random_state=1)
    channel = EMask(p=0.5, q=0.97)
    print("each bit:", LocalDP(3).check(channel))
    distorted = channel.perturb(baskets, as_bits=True)
    true = Itemsets(0.05).mine(baskets).as_dict()
    found = MaskedItemsets(channel, 0.05).mine(distorted).as_dict()
    both = true.keys() & found.keys()
    print(
        f"{len(true)} frequent itemsets, {len(both)} of them found, {len(found.keys() - true.keys())} others"
    )
    error = sum(abs(found[items] / true[items] - 1) for items in both) / len(both)
    print(f"mean error of their supports: {error:.1%}")


if __name__ == "__main__":
    main()
