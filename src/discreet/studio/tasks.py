"""Tasks: what can be done in the studio, each with the sections of the job that a form fills in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.registry import METHODS, VERBS, methods, releasable_guarantees
from discreet.core.spec import GuaranteeSpec, Method, Role, Spec
from discreet.studio.documents import FOLDER, Document
from discreet.studio.forms import FormField, FormGroup, Pairs, filled_in, group_of_spec


@dataclass(frozen=True)
class Task:
    """One thing to do: what the home page says of it, and what its job is made of.

    Attributes
    ----------
    data
        What is opened: ``"table"``, ``"baskets"``, ``"records"``, or ``"earlier"`` for what was made before.
    takes
        What methods take, where the job makes a release.
    role
        What the methods are.
    sections
        Sections of the job that a form fills in, with the classes that describe them.
    guarantee
        The guarantee that a new job begins with, where it is none of ``init``.
    ending
        The ending of the file that a verb writes.
    action
        What its button does, where the job has roles: ``"release"`` or ``"judge"``.
    """

    name: str
    title: str
    words: str
    data: str
    takes: str = ""
    role: Role = "publisher"
    sections: tuple[Spec, ...] = ()
    guarantee: str = ""
    ending: str = ".csv"
    action: str = "release"

    @property
    def makes_release(self) -> bool:
        """Whether the job makes a release."""
        return bool(self.takes)

    @property
    def has_roles(self) -> bool:
        """Whether the columns have roles."""
        return self.takes == "table"

    def guarantees(self) -> dict[str, GuaranteeSpec]:
        """Return the guarantees that some method of the task keeps and a form can name."""
        names = {name for method in self.methods() for name in method.guarantees}
        return {
            name: spec
            for name, spec in releasable_guarantees().items()
            if spec.class_name in names and not spec.takes_population
        }

    def methods(self) -> list[Method]:
        """Return the methods of the task."""
        return list(methods(role=self.role, takes=self.takes))


def _section(name: str, home: str, *supplied: str) -> Spec:
    return Spec(name, home, "verb", supplied=supplied)


_ALL = (
    Task(
        "table",
        "Protect a table",
        "Rows about people: generalize what others may know of them until nobody stands out.",
        "table",
        takes="table",
    ),
    Task(
        "numbers",
        "Draw artificial rows",
        "Rows of numbers: publish new rows that have the statistics of groups of people, and nobody's own.",
        "table",
        takes="table",
        guarantee="indistinguishability",
    ),
    Task(
        "baskets",
        "Protect baskets",
        "What people bought, watched or were diagnosed with, as lists of items.",
        "baskets",
        takes="baskets",
        sections=(_section("baskets", "kinds.baskets:BasketSection", "hierarchy"),),
        guarantee="privacy-degree",
    ),
    Task(
        "hide",
        "Hide rules in baskets",
        "Change as little as possible, so that rules you name are no longer found.",
        "baskets",
        takes="baskets",
        role="hider",
        guarantee="rules-hidden",
    ),
    Task(
        "cells",
        "Publish a table of counts",
        "Count or sum by some columns; small cells are left out so that they cannot be worked out.",
        "table",
        takes="cells",
        sections=(_section("cells", "kinds.cells:CellsSection", "hierarchies"),),
        guarantee="cell-protection",
    ),
    Task(
        "sketches",
        "Publish sketches",
        "Texts or numbers as random projections that still tell who is like whom.",
        "records",
        takes="records",
        sections=(_section("sketches", "kinds.sketches:SketchSection"),),
        guarantee="delta-anonymity",
    ),
    Task(
        "perturb",
        "Collect with noise",
        "Hide single columns by public chance, so that shares can still be recovered.",
        "table",
    ),
    Task(
        "reconstruct",
        "Recover a distribution",
        "From noisy values, with a known noise, back to shares.",
        "table",
    ),
    Task(
        "distort",
        "Collect baskets with noise",
        "Flip items with known probabilities.",
        "baskets",
        ending=".bits",
    ),
    Task("mine", "Mine itemsets or rules", "In true baskets, distorted ones, or released ones.", "baskets"),
    Task(
        "check",
        "Check a table",
        "Whoever made it: does it keep a guarantee, and how exposed are the people in it?",
        "table",
        takes="table",
        action="judge",
    ),
    Task(
        "earlier",
        "Look at what was made",
        "A release to check, attack or apply, a vault's log, a session between parties, an experiment.",
        "earlier",
    ),
)
ALLOW = "output.allow"
"""The field for columns in which direct identifiers and free text may be published."""
_ALLOWED = (
    "A release is refused while a column has free text, direct identifiers such as e-mail addresses, or a value "
    "of its own in nearly every row. Drop such a column, or mark it here if it may be published all the same."
)
TASKS: Mapping[str, Task] = {task.name: task for task in _ALL}
"""Every task by its name, in the order of the home page."""


def first_document(task: Task, name: str) -> Document:
    """Return the job that a task begins with, for everything but columns with roles."""
    document: Document = {"input": {"path": name}}
    if task.data == "earlier":
        return document
    if not task.makes_release:
        spec = VERBS[task.name]
        target = spec.load().target_key
        return {**document, task.name: first_values(spec), "output": {target: f"result{task.ending}"}}
    for spec in task.sections:
        document[spec.name] = {}
    if not task.sections:
        document["baskets"] = {}
    promise = task.guarantees().get(task.guarantee)
    document["guarantee"] = [{"kind": task.guarantee} | ({} if promise is None else first_values(promise))]
    document["method"] = {"name": method_for(task, document["guarantee"])}
    return {**document, "output": {"folder": FOLDER}}


def method_for(task: Task, guarantees: Sequence[Mapping[str, Any]], name: str | None = None) -> str | None:
    """Return the named method if it keeps the guarantees, else the first that does; None where none does."""
    keeping = [method.name for method in keeping_methods(task, guarantees)]
    return name if name in keeping else next(iter(keeping), None)


def keeping_methods(task: Task, guarantees: Sequence[Mapping[str, Any]]) -> list[Method]:
    """Return the methods that keep all the guarantees at once."""
    specs = releasable_guarantees()
    names = [specs[guarantee["kind"]].class_name for guarantee in guarantees if guarantee["kind"] in specs]
    return [method for method in task.methods() if not names or method.keeps(names)]


def groups_of_form(
    task: Task, document: Document, columns: Sequence[str], sensitive: Sequence[str]
) -> list[FormGroup]:
    """Return the fields of a job, group by group: sections, guarantees, method, or those of a verb."""
    if not task.makes_release:
        spec, without = VERBS[task.name], VERBS[task.name].load().output_keys
        values = document[task.name]
        slider = task.name == "distort"
        return [
            group_of_spec(task.name, spec, values, columns, title=task.title, without=without, slider=slider)
        ]
    groups = [
        group_of_spec(spec.name, spec, document[spec.name], columns, title="What it is about")
        for spec in task.sections
    ]
    specs = task.guarantees()
    for number, guarantee in enumerate(document["guarantee"]):
        spec = specs[guarantee["kind"]]
        groups.append(
            group_of_spec(
                f"guarantee{number}", spec, guarantee, sensitive, title=title_of(spec.name), slider=True
            )
        )
    method = document["method"].get("name") if task.action == "release" else None
    if method is not None:
        names = columns if task.has_roles else ()
        groups.append(
            group_of_spec("method", METHODS[method], document["method"], names, title="The method's settings")
        )
    if task.has_roles and task.action == "release":
        allowed = FormField(
            ALLOW, "Columns", "names", document["output"].get("allow"), "", options=tuple(columns)
        )
        groups.append(
            FormGroup("output", "Columns published although they name people", _ALLOWED, (allowed,))
        )
    return groups


def document_from_form(
    task: Task, document: Document, pairs: Pairs, columns: Sequence[str], sensitive: Sequence[str]
) -> Document:
    """Return the document with what a form was filled in with."""
    if not task.makes_release:
        spec, without = VERBS[task.name], VERBS[task.name].load().output_keys
        return {**document, task.name: filled_in(task.name, spec, pairs, columns, without=without)}
    changed = dict(document)
    for spec in task.sections:
        changed[spec.name] = filled_in(spec.name, spec, pairs, columns)
    specs = task.guarantees()
    changed["guarantee"] = [
        {"kind": guarantee["kind"]}
        | filled_in(f"guarantee{number}", specs[guarantee["kind"]], pairs, sensitive)
        for number, guarantee in enumerate(document["guarantee"])
    ]
    names = dict(pairs)
    name = document["method"].get("name")
    settings = {}
    if name is not None:
        settings = filled_in("method", METHODS[name], pairs, columns if task.has_roles else ())
    chosen = method_for(task, changed["guarantee"], names.get("method") or name)
    changed["method"] = {"name": chosen} | (settings if chosen == name else {})
    if task.has_roles:
        allowed = [text for name, text in pairs if name == ALLOW and text in columns]
        rest = {name: value for name, value in document["output"].items() if name != "allow"}
        changed["output"] = rest | ({"allow": allowed} if allowed else {})
        changed["columns"] = {
            name: {key: value for key, value in entry.items() if key != "allow_unique"}
            | ({"allow_unique": True} if name in allowed and entry["role"] in ("quasi", "other") else {})
            for name, entry in document["columns"].items()
        }
    if chosen == "generalization" and "levels" not in changed["method"]:
        changed["method"]["levels"] = {}
    return changed


def title_of(name: str) -> str:
    """Return the name of a guarantee as people write it.

    >>> title_of("k-anonymity"), title_of("entropy-l-diversity")
    ('k-anonymity', 'entropy l-diversity')
    """
    first, dash, rest = name.partition("-")
    return f"{first} {rest}" if dash and len(first) > 2 and len(rest.partition("-")[0]) <= 2 else name


def first_values(spec: Spec) -> dict[str, Any]:
    """Return what the required parameters of a guarantee, or of a verb, begin with."""
    group = group_of_spec("first", spec, {}, ())
    return {
        field.name.partition(".")[2]: field.value
        for field in group.fields
        if field.required and field.value is not None
    }
