"""The page of a run between parties: what was promised, what it cost, what it reveals, and what travelled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.parties.meter import Step
from discreet.parties.network.running import Outcome
from discreet.parties.picture import merged, message_chart
from discreet.report.figures import Figures, counted, table
from discreet.report.markup import Markup, tag
from discreet.report.page import whole_page
from discreet.report.sections import section, tile

_PLACES = (("promise", "Promise"), ("reveals", "Reveals"), ("travelled", "Messages"), ("cost", "Cost"))


def party_page(outcome: Outcome) -> str:
    """Return the report of a party's run as one HTML page; it holds no input and no output."""
    main = tag(
        "main",
        _promise(outcome),
        _tiles(outcome),
        _reveals(outcome),
        _travelled(outcome),
        _cost(outcome),
        id="main",
    )
    footer = "Everything in this report follows from the session file and the shapes of the frames; no data is in it."
    return whole_page(
        main,
        Figures(),
        _PLACES,
        title=f"Run of {outcome.session.protocol.name}",
        footer=footer,
    )


def _promise(outcome: Outcome) -> Markup:
    session = outcome.session
    verdict = session.protocol.verdict(session.names)
    others = [name for name in session.names if name != outcome.name]
    told = f"The party {outcome.name} ran {session.protocol.name} with {', '.join(others)}."
    return section("promise", "What was promised", told, tag("p", str(verdict)), _parameters(outcome))


def _parameters(outcome: Outcome) -> Markup:
    rows = [(key, _shown(value)) for key, value in outcome.session.protocol.parameters().items()]
    return table(("parameter", "value"), rows, caption="The public parameters of the session")


def _tiles(outcome: Outcome) -> Markup:
    meter, covers = outcome.meter, outcome.covers
    seconds = sum(step.seconds for step in meter.steps)
    missing = [name for name in outcome.session.names if name not in covers]
    tiles = (
        ("Parties", f"{len(covers)}", f"without {', '.join(missing)}" if missing else "all of the session"),
        ("Rounds", f"{meter.rounds:,}", counted(len(outcome.frames), "frame")),
        ("Bytes", f"{meter.bytes_sent + meter.bytes_received:,}", f"{meter.bytes_sent:,} of them sent"),
        ("Seconds", f"{seconds:.2f}", "by the clock, waiting included"),
    )
    return tag("dl", *(tile(*one) for one in tiles), class_="tiles")


def _reveals(outcome: Outcome) -> Markup:
    leaks = outcome.session.protocol.leaks
    listed = tag("ul", *(tag("li", leak) for leak in leaks)) if leaks else tag("p", "Nothing.")
    facts = table(
        ("fact", "value"),
        [(key, _shown(value)) for key, value in outcome.to_dict()["revealed"].items()],
        caption="What the protocol made known to every party on its way",
    )
    told = "What a party learns beyond its output, as the protocol declares it."
    return section("reveals", "What the run reveals", told, listed, facts if outcome.revealed else "")


def _travelled(outcome: Outcome) -> Markup:
    names = outcome.session.names
    picture = Markup(message_chart(merged(outcome.frames), names))
    told = f"The frames that {outcome.name} sent and received, as they were before encryption; equal ones in one arrow."
    return section("travelled", "What travelled", told, tag("div", picture, class_="chart scroll"))


def _cost(outcome: Outcome) -> Markup:
    rows = [
        (
            step.name,
            f"{step.rounds:,}",
            f"{step.bytes_sent:,}",
            f"{step.bytes_received:,}",
            f"{step.seconds:.3f}",
            f"{step.cpu_seconds:.3f}",
        )
        for step in _by_name(outcome.meter.steps)
    ]
    head = ("step", "rounds", "bytes sent", "bytes received", "seconds", "seconds of computing")
    return section(
        "cost", "What it cost", "Each step of the protocol, all its rounds together.", table(head, rows)
    )


def _by_name(steps: list[Step]) -> Iterator[Step]:
    found: dict[str, Step] = {}
    for step in steps:
        whole = found.setdefault(step.name, Step(step.name))
        for key, value in vars(step).items():
            if key != "name":
                setattr(whole, key, getattr(whole, key) + value)
    yield from found.values()


def _shown(value: Any) -> str:
    """Return plain data as text; long lists by their length."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) if len(value) <= 12 else counted(len(value), "entry", "entries")
    return str(value)
