"""Proposals: look at a table and propose a role and a hierarchy for every column. A start, never a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import IntArray
from discreet.core.engine import Facts, engine_of
from discreet.core.errors import DiscreetError, InputError
from discreet.core.hierarchy.bound import HierarchySpec, domain_of
from discreet.core.hierarchy.knowledge import is_coded, recognized
from discreet.core.hierarchy.scales import is_unknown
from discreet.core.hierarchy.specs import Flat, Icd, Masked, Rows, suggest
from discreet.core.hierarchy.suggestion import FEW, OTHERS, begin_alike
from discreet.core.schema import Role
from discreet.core.tables.labels import STAR, texts
from discreet.job.nearby import hierarchy_file, meanings, n_uncovered
from discreet.job.roles import Proposal, blocks, few_values, is_label, may_be_records, role_of

MOST_QUASI = 64
"""More quasi-identifiers than these are not protected together."""
_MOST_VALUES = 20_000
_MOST_CATEGORIES = 200
_UNKNOWN = "unknown"
_ALONE = "; which values belong together is not known, so each is kept, pooled where rare, or hidden"


def propose(
    relation: Any, data: Path | None = None, *, named: bool = True, counted: Sequence[Facts] | None = None
) -> list[Proposal]:
    """Propose a role, and for quasi-identifiers a hierarchy, for every column of a table.

    Hierarchy files beside the data file, if its path is given, are used where they cover the column's values. Unless it
    is known that the columns are ``named``, a first line that may be a record is refused, and none of it is shown.
    ``counted`` are the facts of the columns, where they were counted before.
    """
    engine = engine_of(relation)
    columns = engine.facts(relation) if counted is None else counted
    if not named and may_be_records(columns):
        raise InputError(
            f"{data}: nothing tells the first line from the others, so it may be a record, and not the names of the "
            "columns. Say whether it holds names: --header or --no-header."
        )
    proposals = _one_person([role_of(facts) for facts in columns])
    proposals = blocks(_with_label(proposals), engine.value_sets(relation, few_values(proposals)))
    if not any(proposal.role is Role.QUASI for proposal in proposals):
        proposals = _with_some_quasi(proposals)
    proposals = _at_most(proposals, MOST_QUASI)
    lists = {} if data is None else meanings(data, [proposal.name for proposal in proposals])
    return [_with_hierarchy(proposal, relation, data, lists.get(proposal.name)) for proposal in proposals]


def _one_person(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Keep the finest of several columns that look like a person's id; the others are plain identifiers."""
    persons = [proposal for proposal in proposals if proposal.person]
    if not persons:
        return list(proposals)
    finest = max(persons, key=lambda proposal: proposal.facts.n_distinct)
    reason = "an id of a unit with several rows, beside that of the person"
    return [
        replace(proposal, role=Role.IDENTIFIER, reason=reason, person=False, confidence="low")
        if proposal.person and proposal is not finest
        else proposal
        for proposal in proposals
    ]


def _with_label(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Take the column that a table is about, such as its class, for sensitive where nothing else is."""
    labels = [
        proposal
        for proposal in proposals
        if proposal.role is Role.QUASI and proposal.cautious and is_label(proposal.facts)
    ]
    if not labels or any(proposal.role is Role.SENSITIVE for proposal in proposals):
        return list(proposals)
    reason = "it looks like what the table is about, and nothing else sounds sensitive"
    return [
        Proposal(proposal.facts, Role.SENSITIVE, reason, confidence="low")
        if proposal is labels[-1]
        else proposal
        for proposal in proposals
    ]


def _with_some_quasi(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Make the column with the fewest values a quasi-identifier, since a table without any cannot be protected."""
    open_ones = [proposal for proposal in proposals if proposal.role is not Role.SENSITIVE] or list(proposals)
    chosen = min(open_ones, key=lambda proposal: proposal.facts.n_distinct)
    warning = "no column looked like a quasi-identifier, and one is needed; please look again"
    return [
        Proposal(proposal.facts, Role.QUASI, "one is needed", warning, confidence="low")
        if proposal is chosen
        else proposal
        for proposal in proposals
    ]


def _at_most(proposals: Sequence[Proposal], most: int) -> list[Proposal]:
    """Drop the quasi-identifiers beyond a number, those taken as such only to be safe first."""
    quasi = [proposal for proposal in proposals if proposal.role is Role.QUASI]
    names = {proposal.name for proposal in sorted(quasi, key=lambda proposal: proposal.cautious)[:most]}
    reason = f"more than {most} quasi-identifiers cannot be protected together; dropped"
    return [
        proposal
        if proposal.role is not Role.QUASI or proposal.name in names
        else Proposal(proposal.facts, Role.IDENTIFIER, reason, confidence="low", surplus=True)
        for proposal in proposals
    ]


def _with_hierarchy(
    proposal: Proposal, relation: Any, data: Path | None, meant: tuple[Path, dict[str, str]] | None
) -> Proposal:
    facts = proposal.facts
    if proposal.role not in (Role.QUASI, Role.SENSITIVE) or not 1 < facts.n_distinct <= _MOST_VALUES:
        return proposal
    values, counts = engine_of(relation).value_counts(relation, facts.name)
    if proposal.role is Role.SENSITIVE:
        effective = (
            float(np.exp(-np.sum(shares * np.log(shares))))
            if (shares := counts / counts.sum()).size
            else None
        )
        proposal = replace(proposal, effective=effective)
        if not facts.is_text:
            return proposal
        hierarchy = recognized(facts.name, domain_of(values))
        spec = hierarchy.spec if hierarchy is not None and isinstance(hierarchy.spec, Icd) else None
        return replace(proposal, hierarchy=spec)
    proposal = _from_file(proposal, values, data)
    if proposal.file is not None:
        return proposal
    by_meaning = None if meant is None else _by_meaning(proposal, values, counts, *meant)
    return by_meaning or generalized(proposal, values, counts)


def _by_meaning(
    proposal: Proposal, values: pa.Array, counts: IntArray, path: Path, meanings_: dict[str, str]
) -> Proposal | None:
    """Put codes below their meanings, and those below meanings that begin alike; None where some have no meaning.

    A meaning that few rows have is pooled, and so is whatever says that nothing is known.
    """
    leaves = texts(values).to_pylist()
    if not all(meanings_.get(leaf) for leaf in leaves):
        return None
    rows_of: dict[str, int] = {}
    named = [_UNKNOWN if is_unknown(meanings_[leaf]) else meanings_[leaf] for leaf in leaves]
    for meaning, count in zip(named, counts.tolist(), strict=True):
        rows_of[meaning] = rows_of.get(meaning, 0) + count
    shown = tuple(meaning if rows_of[meaning] >= FEW else OTHERS for meaning in named)
    alike = begin_alike(shown, sentences=True)
    columns = [tuple(leaves), shown, *([] if alike is None else [alike]), (STAR,) * len(leaves)]
    reason = f"{proposal.reason.removesuffix('; taken so to be safe')}; meanings from {path.name}"
    return replace(proposal, hierarchy=Rows(tuple(columns)), reason=reason, confidence="medium")


def _from_file(proposal: Proposal, values: pa.Array, data: Path | None) -> Proposal:
    """Use the hierarchy file that lies beside the data, if it covers the values; say so where it does not."""
    path = None if data is None else hierarchy_file(data, proposal.name)
    if path is None:
        return proposal
    missing = n_uncovered(path, values)
    if missing == 0:
        reason = f"{proposal.reason}; hierarchy from {path.name}"
        return replace(proposal, reason=reason, file=path, confidence="high", cautious=False)
    if missing is None:
        return proposal
    warning = (
        f"the hierarchy file {path.name} leaves out {missing:,} of {len(values):,} values, so it is not used"
    )
    return replace(proposal, warning=proposal.warning or warning)


def generalized(proposal: Proposal, values: pa.Array, counts: IntArray) -> Proposal:
    """Choose a hierarchy by what is known about the column, or by what its values are."""
    facts = proposal.facts
    values = values if not pa.types.is_boolean(values.type) else values.cast(pa.string())
    hierarchy = recognized(facts.name, domain_of(values))
    if hierarchy is not None:
        reason = f"{proposal.reason.removesuffix('; taken so to be safe')}; {hierarchy.what}"
        return replace(
            proposal, reason=reason, hierarchy=hierarchy.spec, confidence=hierarchy.confidence, cautious=False,
            warning=proposal.warning or _uneven(hierarchy.spec, values),
        )  # fmt: skip
    sure = is_coded(facts.name, values) if facts.is_number else None
    if sure is not None:
        proposal = replace(proposal, reason=f"{proposal.reason}; codes for categories, not quantities")
    numeric = facts.is_number and sure is None
    try:
        spec = suggest(
            values,
            counts=counts,
            kind="text" if sure is not None else None,
            method="equal-width" if numeric else "pooled" if sure is not None else None,
        )
    except DiscreetError:
        return proposal
    if isinstance(spec, Rows) and facts.n_distinct > _MOST_CATEGORIES:
        warning = "it has many categories and no hierarchy; make one with `discreet hierarchy init`"
        return replace(proposal, warning=proposal.warning or warning)
    alone = isinstance(spec, Rows | Flat) and facts.n_distinct > 2
    return replace(
        proposal,
        hierarchy=spec,
        reason=proposal.reason + (_ALONE if alone else ""),
        confidence="medium" if alone and proposal.confidence == "high" else proposal.confidence,
        warning=proposal.warning or _uneven(spec, values),
    )


def _uneven(spec: HierarchySpec, values: pa.Array) -> str | None:
    """Return a warning where masks are for codes of several lengths: the shorter ones show more of themselves."""
    if not isinstance(spec, Masked):
        return None
    n_lengths = len({len(code) for code in texts(domain_of(values)).to_pylist() if code})
    if n_lengths < 2:
        return None
    return f"its codes have {n_lengths} lengths, and masks count from the longest, so that shorter codes show more"
