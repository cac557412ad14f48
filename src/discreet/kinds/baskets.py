"""Baskets: groups with sensitive counts, or plain baskets of generalized items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.arrays import FloatArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.figures import Caution, PrivateFigures, PublicFigures
from discreet.core.guarantee import Guarantee
from discreet.core.params import Constraint, InstanceOf, require
from discreet.core.registry import Method
from discreet.core.release import Release
from discreet.core.tables.publication import defused_text
from discreet.core.verdict import Verdict
from discreet.engines.baskets.published import FORMATS, read_published, write_published
from discreet.guarantees import RulesHidden
from discreet.kinds.hierarchies import hierarchy_from
from discreet.kinds.kind import TEXT, Input, Kind, Line
from discreet.kinds.tables import OWNERS_RULES
from discreet.kinds.wording import percent, refuse_unknown
from discreet.measure import BasketRisk, Reidentification, SensitiveTie, reidentification, sensitive_tie
from discreet.measure.spelling import twins_of_sensitive

if TYPE_CHECKING:
    from discreet.kinds.blocks import Block
    from discreet.kinds.judging import Judgment
    from discreet.kinds.wording import About
    from discreet.kinds.written import Written

KNOWN = (1, 2, 3)
"""The numbers of items that an attacker may know of a basket."""
SAMPLES = 5_000
_SEED = 1
_MOST_PRINTED = 2
"""The most known items for which a command prints the risk."""
LEFT_OUT = "baskets without any ordinary item"
"""Which baskets are left out, where some are."""
_GROUP_FORMING = {
    "Cahd": "Groups were formed around baskets with sensitive items, and each passes over baskets that hold the same. "
    "Whoever knows the method can repeat the order of the published baskets",
    "PermMondrian": "Groups were divided wherever their sensitive items allowed it. Whoever knows the method learns "
    "from each cut that was not made",
}
"""The methods whose groups depend on where in the order, or by which items, sensitive ones are held; and how."""


@public
@dataclass(frozen=True)
class BasketSection:
    """What a job says of baskets.

    Parameters
    ----------
    sensitive
        The names of the sensitive items, for a privacy degree.
    hierarchy
        The tree over the items, for k^m-anonymity; None joins neighboring items.
    """

    sensitive: Sequence[Any] = ()
    hierarchy: Any = None


class PublicBasketFigures(PublicFigures):
    """What published baskets show: how likely a few known items identify one, and what its group then reveals."""

    @property
    def n_released(self) -> int:
        """The number of released baskets."""
        return len(self.release.data)

    @property
    def grouped(self) -> GroupedBaskets | None:
        """The groups with their sensitive counts; None where plain baskets are published."""
        return self.release.data if isinstance(self.release.data, GroupedBaskets) else None

    @property
    def baskets(self) -> Baskets:
        """The published baskets, without the sensitive counts."""
        baskets: Baskets = self.release.data.ordinary
        return baskets

    @property
    def left_out(self) -> str | None:
        """Which baskets are left out since they hold no ordinary item; hiding rules removes others."""
        return LEFT_OUT if self.grouped is not None and self.release.evidence.suppressed else None

    @cached_property
    def risk(self) -> tuple[Reidentification, ...]:
        """The risk of published baskets, for each number of known items that one reaches."""
        return _risk(self.baskets)

    @cached_property
    def tie(self) -> SensitiveTie | None:
        """How surely an identified basket is tied to a sensitive item."""
        return sensitive_tie(self.release.data)

    @cached_property
    def grids(self) -> tuple[FloatArray, FloatArray] | None:
        """The density of the matrix of baskets and items, in any order and in band order; None for small data."""
        from discreet.kinds.sections.basket_estimates import page_grids

        return page_grids(self.baskets)

    def to_dict(self) -> dict[str, Any]:
        """Return the number of baskets, and which were left out."""
        why = {} if self.left_out is None else {"left_out": self.left_out}
        return {"baskets": self.counts.to_dict()} | why


class PrivateBasketFigures(PrivateFigures):
    """The risk before and after, and the loss where items were generalized."""

    def __init__(self, release: Release, public: PublicBasketFigures) -> None:
        super().__init__(release)
        self._public = public

    @cached_property
    def risk(self) -> BasketRisk:
        """The risk before and after."""
        return BasketRisk(_risk(self.release.original), self._public.risk, self._public.tie)

    @property
    def n_items(self) -> int:
        """The number of different items in the original."""
        return int(self.release.original.n_items)

    @property
    def loss(self) -> float | None:
        """The loss of detail, where items were generalized."""
        loss = self.release.evidence.details.get("loss")
        return None if loss is None else float(str(loss))

    def to_dict(self) -> dict[str, Any]:
        """Return the risk before and after, and the loss where items were generalized."""
        return {"risk": self.risk.to_dict(), **({} if self.loss is None else {"loss": self.loss})}


def _risk(baskets: Baskets) -> tuple[Reidentification, ...]:
    """Measure the risk of baskets; what is drawn depends on them alone, so that public figures do."""
    longest = int(baskets.lengths.max(initial=0))
    return tuple(
        reidentification(baskets, r, n_samples=SAMPLES, random_state=_SEED) for r in KNOWN if r <= longest
    )


class BasketKind(Kind):
    """Baskets: some items are sensitive, or a tree joins them."""

    name = "baskets"
    formats = FORMATS
    title = "Baskets"
    public_half = PublicBasketFigures
    private_half = PrivateBasketFigures
    not_for_rows = (
        "baskets, which are published anew as a whole: the groups and levels are those of the baskets at hand"
    )
    records_name = "baskets"
    section = "baskets"
    takes = "baskets"
    noun = "baskets"
    reading: ClassVar[Mapping[str, Constraint]] = dict.fromkeys(
        ("format", "basket", "item", "delimiter"), TEXT
    )

    def parse(self, section: Mapping[str, Any], folder: Path) -> BasketSection:
        """Read the sensitive items and the tree over the items."""
        refuse_unknown("[baskets]", section, ("sensitive", "hierarchy"))
        sensitive = section.get("sensitive", [])
        require("baskets", "sensitive", sensitive, InstanceOf((list, tuple), "a list of items"))
        tree = section.get("hierarchy")
        hierarchy = None if tree is None else hierarchy_from(tree, column="item", folder=folder)
        return BasketSection(list(sensitive), hierarchy)

    def check(self, job: Input, method: Method) -> None:
        """Refuse sensitive items or a hierarchy that the method has no use for."""
        section = job.section or BasketSection()
        if job.spreadsheet_safe and section.hierarchy is not None:
            raise ParameterError(
                "Items under a hierarchy are not renamed. Rename those that start as a formula does in the baskets and "
                "in the hierarchy, and leave spreadsheet_safe out."
            )
        if method.role == "hider":
            if section.sensitive or section.hierarchy is not None:
                raise ParameterError(
                    "The sensitive rules stand in the guarantee; [baskets] names no items and no hierarchy for them."
                )
        elif "sensitive" in method.supplied:
            if not section.sensitive:
                raise ParameterError("A privacy degree needs sensitive items, and the job names none.")
            if section.hierarchy is not None:
                raise ParameterError(
                    "A hierarchy of items belongs to km-anonymity; a privacy degree has no use for it."
                )
        elif section.sensitive:
            raise ParameterError("For km-anonymity no item is sensitive, or all are; name none.")

    def guarantee(self, guarantee: Guarantee | None, job: Input) -> Guarantee | None:
        """Return the guarantee; its rules name the items as those of the baskets are renamed."""
        if job.spreadsheet_safe and isinstance(guarantee, RulesHidden):
            return guarantee.renamed(defused_text)
        return guarantee

    def read(self, job: Input) -> Any:
        """Read the baskets."""
        from discreet.engines.baskets.files import read_baskets

        if job.is_file:
            baskets = read_baskets(job.data, **job.reading)
        else:
            require("Job", "data", job.data, InstanceOf((Baskets,), "the path of a file, or Baskets"))
            baskets = job.data
        return baskets.spreadsheet_safe() if job.spreadsheet_safe else baskets

    def arguments(self, job: Input, method: Method) -> dict[str, Any]:
        """Return the sensitive items or the tree over the items, whichever the method takes."""
        section = job.section or BasketSection()
        items = section.sensitive
        renamed = [defused_text(name) for name in items] if job.spreadsheet_safe else list(items)
        supplied = {"sensitive": renamed, "hierarchy": section.hierarchy}
        return {name: value for name, value in supplied.items() if name in method.supplied}

    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the baskets, and the sensitive counts where there are groups."""
        return write_published(release.data, folder, format)

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return the written baskets, where they are the released ones."""
        del format
        try:
            written = read_published(folder)
        except InputError:
            return None
        return written if _same(written, release.data) else None

    def read_released(self, written: Written, *, texts: bool) -> Any:
        """Return the baskets of a folder."""
        del texts
        return read_published(written.folder)

    def judge_written(
        self, written: Written, data: Any, guarantee: Guarantee | None, *, is_named: bool
    ) -> Judgment:
        """Judge baskets by a guarantee; hidden rules only the owner knows."""
        from discreet.kinds.judging import judge_baskets

        del is_named
        judgment = judge_baskets(data, guarantee, measured=written.is_measured)
        # A verdict is false where the guarantee is broken, so it is compared with None.
        if judgment.verdict is not None:
            return judgment
        return replace(judgment, verdict=written.claims(), why=OWNERS_RULES)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about the sensitive items of groups, and about how groups were formed."""
        del private
        data = public.grouped
        if data is None:
            return
        yield from twins_of_sensitive(data)
        forming = _GROUP_FORMING.get(release.recipe.get("method", ""))
        if forming is not None and len(data.sensitive.group) and release.guarantee.bound > 1:
            yield Caution(
                "group-forming",
                f"{forming}, and may tie a person to a sensitive item with more than the probability that the groups "
                "and counts allow. Anatomy draws its groups whatever the baskets hold otherwise, and shows no more "
                "than them.",
            )

    def blocks(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        """Return the sections of the report."""
        from discreet.kinds.sections import basket_risk as risks
        from discreet.kinds.sections import baskets, provenance
        from discreet.kinds.sections.risk import guarantee

        figures = release.figures
        grouped = figures.public.grouped
        return [
            guarantee(release.guarantee, release.verdict, checked=baskets.checked(figures.public)),
            baskets.basket_summary(release, internal=internal),
            *baskets.grouped_sections(release, internal=internal),
            risks.risk_section(figures.private.risk) if internal else risks.risk_left(figures.public),
            provenance.method(release, internal=internal),
            None if grouped is None else baskets.how_to_count(),
        ]

    def identifiability(self, release: Release) -> Sequence[Block]:
        """Return the counts, and the probability that baskets are found again."""
        from discreet.kinds.sections import basket_risk, baskets

        blocks = (
            baskets.basket_summary(release, internal=False),
            basket_risk.risk_left(release.figures.public),
        )
        return [block for block in blocks if block is not None]

    def terms(self, release: Release) -> Mapping[str, str]:
        """Return the terms of reports on baskets."""
        basket = {"Basket": "the items of one person or one purchase"}
        if release.figures.public.grouped is None:
            return basket | {
                "Generalized item": "a name for several items, of which a basket holds at least one"
            }
        return basket | {
            "Group": "baskets whose sensitive items are published together, and not basket by basket",
            "Sensitive item": "an item that must not be tied to a person",
        }

    def rerun(self, release: Release, about: About, method: Method) -> str | None:
        """Return code that reads the baskets and publishes them again; a tree over the items is not in the release."""
        from discreet.kinds.sections.provenance import code, constructor, expression, set_parameters

        values = {**release.recipe.get("parameters", {})}
        if values.pop("hierarchy", "even ranges") != "even ranges":
            return None
        values.pop("m", None)
        parameters = set_parameters(values, method.parameters(), release)
        grouped = release.figures.public.grouped
        if grouped is not None:
            parameters["sensitive"] = grouped.sensitive_names.to_pylist()
        guarantee = expression(release.guarantee)
        path = about.source or about.name or "baskets.dat"
        data = f"data = read_baskets({path!r})\n"
        call = constructor(method, guarantee, parameters)
        return code("from discreet import read_baskets\n", guarantee, "", method, data, call, about)

    def outcome(self, release: Release) -> dict[str, Any]:
        """Return the baskets, the groups, the items, the loss, and the risk before and after."""
        public, private = release.figures.public, release.figures.private
        sizes = None if public.grouped is None else public.grouped.sizes
        return {
            "baskets": public.counts.n_out,
            "suppressed": public.counts.suppressed,
            "groups": None
            if sizes is None
            else {"number": int(sizes.size), "smallest": int(sizes.min()), "largest": int(sizes.max())},
            "loss": private.loss,
            "items": {"before": private.n_items, "after": public.baskets.n_items},
            "risk": private.risk.up_to(_MOST_PRINTED).to_dict(),
        }

    def lines(self, release: Release) -> list[Line]:
        """Return the baskets, the groups or the items, and the risk before and after."""
        public, private = release.figures.public, release.figures.private
        n_left_out = public.counts.suppressed
        left_out = f"{n_left_out:,} without ordinary items" if n_left_out else "none"
        lines = [("", self.basis), ("baskets", f"{public.counts.n_out:,}, {left_out} left out")]
        if public.grouped is not None:
            sizes = public.grouped.sizes
            groups = f"{sizes.size:,}, of {sizes.min():,} to {sizes.max():,} baskets"
            lines += [("groups", groups), ("items", "ordinary ones are published exactly")]
        else:
            detail = "of the items' detail (normalized certainty penalty)"
            lines += [
                ("items", f"{private.n_items:,} → {public.baskets.n_items:,}"),
                ("loss", f"{percent(private.loss)} {detail}"),
            ]
        return [*lines, *_risk_lines(private.risk)]

    def groups_of(self, verdict: Verdict) -> str:
        """Return what is judged: groups of baskets, or combinations of items."""
        return "groups" if "degree" in verdict.measure else "combinations"


def _risk_lines(risk: BasketRisk) -> Iterator[Line]:
    """Say how likely a basket is found by a few known items, and is tied to a sensitive one."""
    printed = risk.up_to(_MOST_PRINTED)
    # The released baskets may be shorter than the originals, with no risk for as many known items.
    for before, after in zip(printed.before, printed.after, strict=False):
        items = "1 known item" if before.r == 1 else f"{before.r} known items"
        chance = f"{percent(before.probability)} → {percent(after.probability)}"
        yield "risk" if before.r == 1 else "", f"{chance}, the chance to find a basket by {items}"
    if risk.tie is not None:
        certain = f"{percent(risk.tie.before)} → {percent(risk.tie.highest)} at the most"
        tied = "the probability by groups and counts that ties a found basket to a sensitive item"
        yield "", f"{certain}, {tied}"


def _same(written: GroupedBaskets | Baskets, data: GroupedBaskets | Baskets) -> bool:
    """Return whether baskets were read as they were written; items that nobody holds are not in the files."""
    if isinstance(written, GroupedBaskets) and isinstance(data, GroupedBaskets):
        return (
            _same(written.baskets, data.baskets)
            and bool((written.group == data.group).all())
            and _totals(written) == _totals(data)
        )
    if isinstance(written, Baskets) and isinstance(data, Baskets):
        if len(written) != len(data) or (written.lengths != data.lengths).any():
            return False
        names = data.names.take(data.items)
        return bool(written.names.take(written.items).cast(names.type).equals(names))
    return False


def _totals(data: GroupedBaskets) -> tuple[list[int], list[Any], list[int]]:
    counts = data.sensitive
    names = data.sensitive_names.take(counts.values).to_pylist()
    return counts.indptr.tolist(), names, counts.counts.tolist()
