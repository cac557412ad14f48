"""The job of mining: the itemsets or rules of baskets, true or distorted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import BOOL, NONE, Constraint, Constraints, FloatIn
from discreet.job.learning import own_options
from discreet.job.verbs import Made, Progress, VerbJob
from discreet.kinds.baskets import BasketKind

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.core.baskets.grouped import GroupedBaskets
    from discreet.mine.itemsets.found import FoundItemsets

_TOP = 10
_PREDICTED, _PROBABILITY = "predicted", "probability"


@public
@dataclass(frozen=True, kw_only=True)
class MineJob(VerbJob):
    """Find the itemsets, or the rules, of baskets: true ones, distorted ones, or a release of baskets.

    Parameters
    ----------
    min_support
        The least support: a share of the baskets, or a whole number of them.
    p
        The baskets were distorted: the probability that an item in the basket stayed.
    q
        The probability that an item not in the basket stayed away.
    rules
        Return association rules instead of itemsets.
    metric
        The measure of a rule: confidence (the default), lift, leverage, conviction, jaccard, …
    min_threshold
        The least measure of a rule; 0.8 by default.
    options
        The other parameters of `Itemsets`, or of `MaskedItemsets` for distorted baskets, by name.

    Examples
    --------
    >>> MineJob("shop.dat", min_support=0.01, options={"kind": "closed"}).miner().kind
    'closed'
    """

    min_support: float
    p: float | None = None
    q: float | None = None
    rules: bool = False
    metric: str | None = None
    min_threshold: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    verb = "mine"
    stages = ("Reading", "Mining", "Writing")
    reading_keys: ClassVar[Mapping[str, Constraint]] = BasketKind.reading
    constraints: ClassVar[Constraints] = {
        "p": (FloatIn(), NONE),
        "q": (FloatIn(), NONE),
        "rules": BOOL,
        "min_threshold": (FloatIn(), NONE),
    }

    @classmethod
    def option_names(cls) -> Iterable[str]:
        """Return the parameters of both miners; the one that is used refuses what is not its own."""
        return own_options("itemsets", "masked-itemsets")

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.p is None) != (self.q is None):
            raise ParameterError("Distorted baskets need both probabilities.", fix={"p": 0.5, "q": 0.97})
        if self.p is None and "margin" in self.options:
            raise ParameterError("A margin is for distorted baskets.", fix={"p": 0.5, "q": 0.97, "margin": 2})
        if self.p is not None and "kind" in self.options:
            raise ParameterError("The kind of itemsets is for baskets that were not distorted.")
        if not self.rules and (self.metric is not None or self.min_threshold is not None):
            raise ParameterError("A metric and its threshold are for rules.", fix={"rules": True})

    def miner(self, names: pa.Array | None = None) -> Any:
        """Return the miner; where the names of the baskets' items are numbers, so are those of the options."""
        from discreet.collect import EMask
        from discreet.mine import Itemsets, MaskedItemsets

        options = dict(self.options)
        for name in ("include", "exclude"):
            if options.get(name) is not None and names is not None:
                options[name] = _items(options[name], names, name)
        if self.p is None or self.q is None:
            return Itemsets(self.min_support, **options)
        return MaskedItemsets(EMask(self.p, self.q), self.min_support, **options)

    def make(self, begin: Progress) -> Made:
        """Return the itemsets or the table of rules."""
        from discreet.core.baskets.grouped import GroupedBaskets

        begin("Reading")
        baskets = self._baskets()
        grouped = isinstance(baskets, GroupedBaskets)
        if grouped and self.p is not None:
            raise ParameterError("Probabilities are for distorted baskets; these are published in groups.")
        begin("Mining")
        itemsets = self.miner(baskets.sensitive_names if grouped else baskets.names).mine(baskets)
        table = self._rules(itemsets) if self.rules else itemsets.table
        figures = {
            "baskets": itemsets.n,
            "itemsets": len(itemsets),
            "by_length": _by_length(itemsets),
            "kind": itemsets.kind,
            "written": None if self.out is None else str(self.out),
        }
        if self.p is not None and len(itemsets):
            uncertain = int((~itemsets.frequent).sum()), int(itemsets.ill_conditioned.sum())
            figures["unsure"] = dict(zip(("only_may_be_frequent", "ill_conditioned"), uncertain, strict=True))
        if self.rules:
            figures["rules"] = table.num_rows
            if not table.num_rows:
                figures["highest"] = self._highest(itemsets)
        figures["top"] = self._top(table).to_pylist()
        kind = "rules" if self.rules else "itemsets"
        return Made(kind, table if self.rules else itemsets, figures, self.written(self._writable(table)))

    def _baskets(self) -> Any:
        """Read the baskets; bit columns are mined as they lie in their file, a folder is a release of baskets."""
        from discreet.engines.baskets.bits import is_bit_file, read_bits
        from discreet.engines.baskets.files import read_baskets
        from discreet.engines.baskets.published import read_published

        path = Path(self.data)
        if path.is_dir():
            published: GroupedBaskets | Any = read_published(path)
            return published
        if self.reading.get("format") in (None, "bits") and path.is_file() and is_bit_file(path):
            return read_bits(path)
        return read_baskets(path, **self.reading)

    def _rules(self, itemsets: FoundItemsets) -> pa.Table:
        from discreet.mine import rules

        threshold = 0.8 if self.min_threshold is None else self.min_threshold
        metric = self.metric or "confidence"
        table = rules(itemsets, metric=metric, min_threshold=threshold)
        return table.sort_by([(metric, "descending"), ("support", "descending")])

    def _highest(self, itemsets: FoundItemsets) -> float | None:
        """Return the highest metric that any rule reaches; None where there is no rule at all."""
        import pyarrow.compute as pc

        from discreet.mine import rules

        metric = self.metric or "confidence"
        every = rules(itemsets, metric=metric, min_threshold=-1e9)
        return pc.max(every[metric]).as_py() if every.num_rows else None

    def _top(self, table: pa.Table) -> pa.Table:
        """Return the first rules as they come, or itemsets of several items by their support first."""
        import pyarrow.compute as pc

        if self.rules:
            return table.slice(0, _TOP)
        several = table.append_column("several", pc.greater(table["length"], 1))
        ordered = several.sort_by([("several", "descending"), ("support", "descending")])
        return ordered.drop_columns("several").slice(0, _TOP)

    def _writable(self, table: pa.Table) -> pa.Table:
        """Return the table for a file: text has no lists and gets them as JSON; JSON has no infinity and gets null."""
        from discreet.engines.formats import format_of, without_lists

        form = None if self.out is None else format_of(Path(self.out))
        if form is not None and form.reader in ("text", "sheets"):
            return without_lists(table)
        return _finite(table) if form is not None and form.reader == "json" else table


def _items(values: Any, names: pa.Array, key: str) -> list[Any]:
    """Return names of items; where the baskets' items are numbers, so are these."""
    import pyarrow as pa

    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ParameterError(f"'{key}' takes a list of items.")
    if not pa.types.is_integer(names.type):
        return list(values)
    try:
        return [int(value) for value in values]
    except (TypeError, ValueError):
        raise ParameterError(f"'{key}' takes whole numbers, since the items are.") from None


def _finite(table: pa.Table) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    for index, column in enumerate(table.schema):
        if pa.types.is_floating(column.type):
            values = table.column(index)
            finite = pc.if_else(pc.is_finite(values), values, pa.scalar(None, column.type))
            table = table.set_column(index, column.name, finite)
    return table


def _by_length(itemsets: FoundItemsets) -> dict[str, int]:
    """Count the sets of each length."""
    counts = dict.fromkeys(map(str, sorted(set(itemsets.lengths.tolist()))), 0)
    for length in itemsets.lengths.tolist():
        counts[str(length)] += 1
    return counts
