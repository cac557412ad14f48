"""ItemBits: baskets stood on end, one bit column per item, the form that is mined."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError

if TYPE_CHECKING:
    from discreet.core.baskets.baskets import Baskets


@public
@dataclass(frozen=True, repr=False, eq=False)
class ItemBits:
    """Bit columns of baskets, block-major: ``blocks[block, item, word]``, 128 words of 64 baskets to a block.

    ``n`` counts the baskets; the bits beyond the last are zero. ``names`` gives the name of each column. The blocks
    may lie in a file that is mapped into memory. ``distorted`` holds the probabilities p and q by which the bits were
    distorted; None where nothing says so.
    """

    blocks: NDArray[np.uint64]
    n: int
    names: pa.Array
    distorted: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        from discreet.kernels.itemsets.bits import BASKETS, WORDS

        blocks = -(-self.n // BASKETS)
        if self.blocks.shape != (blocks, len(self.names), WORDS) or self.blocks.dtype != np.uint64:
            raise InputError("The bit columns do not fit the number of baskets and items.")
        object.__setattr__(self, "blocks", np.ascontiguousarray(self.blocks))
        used = self.n % BASKETS
        if used:
            word, bit = divmod(used, 64)
            beyond = self.blocks[-1, :, word:].copy()
            beyond[:, 0] >>= np.uint64(bit)
            if beyond.any():
                raise InputError("Bits are set beyond the last basket.")

    @property
    def n_items(self) -> int:
        """The number of columns."""
        return len(self.names)

    @cached_property
    def counts(self) -> IntArray:
        """The number of baskets that hold each item."""
        from discreet.kernels.itemsets.bits import counts_of

        return counts_of(self.blocks)

    def take(self, columns: CodeArray | IntArray) -> ItemBits:
        """Keep some columns, in the order given."""
        return ItemBits(
            np.take(self.blocks, columns, axis=1), self.n, self.names.take(pa.array(columns)), self.distorted
        )

    def baskets(self) -> Baskets:
        """Return the baskets again."""
        from discreet.core.baskets.baskets import Baskets
        from discreet.kernels.itemsets.bits import rows_of

        indptr, items = rows_of(self.blocks, self.n)
        return Baskets(indptr, items, self.names)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"ItemBits({self.n} baskets, {self.n_items} items)"
