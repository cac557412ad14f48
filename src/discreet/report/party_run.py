"""The report of a run between parties: the guarantee, what the run reveals, the messages, and the cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from discreet.kinds.blocks import (
    Block,
    Bullets,
    Messages,
    Paragraph,
    Section,
    TableBlock,
    Tiles,
    VerdictBlock,
)
from discreet.kinds.sections.risk import guarantee
from discreet.kinds.wording import counted
from discreet.parties.network.running import Outcome
from discreet.parties.transcript import FrameShape, MeterStep
from discreet.report.page import page, render_template

_COLUMN, _ROW, _TOP, _SIDE = 240, 26, 56, 90
_MAX_LISTED = 12


def party_page(outcome: Outcome) -> str:
    """Return the report of a party's run as one HTML page; it holds no input and no output."""
    blocks = [
        _verdict(outcome),
        _session(outcome),
        _summary(outcome),
        _revealed(outcome),
        _messages(outcome),
        _cost(outcome),
    ]
    footer = "Everything in this report follows from the session file and the shapes of the frames; no data is in it."
    return page(blocks, title=f"Run of {outcome.session.protocol.name}", footer=footer)


def message_chart(frames: Iterable[FrameShape], names: Sequence[str], *, in_order: bool = False) -> str:
    """Return an SVG picture of who sent what to whom, from the recorded frames of a run.

    Frames are grouped by kind, in the order in which the kinds first appear, and by sender within a kind; with
    ``in_order`` they stay in the order of the frames.

    >>> message_chart([FrameShape("a", "b", "keys", 64)], ("a", "b")).count("<line")
    3
    """
    return render_template("messages.svg", chart=_arrows(frames, names, in_order=in_order))


def merged(frames: Iterable[FrameShape]) -> list[FrameShape]:
    """Return frames of one kind between the same two parties as one with their bytes, for pictures of long runs.

    >>> merged([FrameShape("a", "b", "masked", 8), FrameShape("a", "b", "masked", 24)])
    [FrameShape(sender='a', receiver='b', kind='2 × masked', size=32)]
    """
    groups: dict[tuple[str, str, str], list[int]] = {}
    for frame in frames:
        groups.setdefault((frame.sender, frame.receiver, frame.kind), []).append(frame.size)
    return [
        FrameShape(sender, receiver, kind if len(sizes) == 1 else f"{len(sizes)} × {kind}", sum(sizes))
        for (sender, receiver, kind), sizes in groups.items()
    ]


def _arrows(frames: Iterable[FrameShape], names: Sequence[str], *, in_order: bool = False) -> Messages:
    """Return the places of the parties and of an arrow for each frame, with its label beside the sender."""
    rows, position = list(frames), {name: at for at, name in enumerate(names)}
    if not in_order:
        kinds = list(dict.fromkeys(frame.kind for frame in rows))
        rows.sort(key=lambda f: (kinds.index(f.kind), position[f.sender], position[f.receiver]))
    x = {name: _SIDE + _COLUMN * at for name, at in position.items()}
    arrows = []
    for at, frame in enumerate(rows, start=1):
        start, end = x[frame.sender], x[frame.receiver]
        middle = start + (_COLUMN if end > start else -_COLUMN) // 2
        arrows.append((start, end, middle, _TOP + _ROW * at, f"{frame.kind}, {frame.size:,} bytes"))
    width, height = 2 * _SIDE + _COLUMN * (len(names) - 1), _TOP + _ROW * (len(rows) + 1)
    return Messages(tuple(x.items()), arrows, width, height)


def _verdict(outcome: Outcome) -> VerdictBlock:
    """Return the verdict as every page shows it: what the run guarantees rests on an assumption about the parties."""
    session = outcome.session
    return guarantee(
        None,
        session.protocol.verdict(session.names),
        checked=f"{counted(len(session.names), 'party', 'parties')} took part, or were to.",
        described=f"Nobody learns more than the result and what is listed below, {session.protocol.assumption}.",
    )


def _session(outcome: Outcome) -> Section:
    session = outcome.session
    others = ", ".join(name for name in session.names if name != outcome.name)
    rows = [(key, parameter_text(value)) for key, value in session.protocol.parameters().items()]
    return Section(
        "session",
        "The session",
        f"{outcome.name} ran {session.protocol.name} with {others}.",
        [
            *([Bullets(outcome.cautions)] if outcome.cautions else []),
            TableBlock(("Parameter", "Value"), rows, "Public parameters of the session"),
        ],
    )


def _summary(outcome: Outcome) -> Tiles:
    meter, included = outcome.meter, outcome.covers
    seconds = sum(step.seconds for step in meter.steps)
    missing = ", ".join(name for name in outcome.session.names if name not in included)
    return Tiles([
        ("Parties", f"{len(included)}", f"without {missing}" if missing else "all of the session"),
        ("Rounds", f"{meter.rounds:,}", counted(len(outcome.frames), "frame")),
        ("Bytes", f"{meter.bytes_sent + meter.bytes_received:,}", f"{meter.bytes_sent:,} of them sent"),
        ("Seconds", f"{seconds:.2f}", "elapsed, including waiting"),
    ])  # fmt: skip


def _revealed(outcome: Outcome) -> Section:
    leaks = outcome.session.protocol.leaks
    content: list[Block] = [Bullets(leaks) if leaks else Paragraph("Nothing.")]
    if outcome.revealed:
        rows = [(key, parameter_text(value)) for key, value in outcome.to_dict()["revealed"].items()]
        content.append(TableBlock(("Fact", "Value"), rows, "Facts revealed to every party"))
    text = "What a party learns beyond its output, as the protocol declares it."
    return Section("leakage", "What the run reveals", text, content)


def _messages(outcome: Outcome) -> Section:
    chart = _arrows(merged(outcome.frames), outcome.session.names)
    text = f"The frames that {outcome.name} sent and received, before encryption; frames of one kind share an arrow."
    return Section("messages", "Messages", text, [chart])


def _cost(outcome: Outcome) -> Section:
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
    head = ("Step", "Rounds", "Bytes sent", "Bytes received", "Elapsed, s", "CPU, s")
    text = "Each step of the protocol, all its rounds together."
    return Section("cost", "Cost", text, [TableBlock(head, rows, "Cost", numbers=True)])


def _by_name(steps: list[MeterStep]) -> Iterator[MeterStep]:
    totals: dict[str, MeterStep] = {}
    for step in steps:
        total = totals.setdefault(step.name, MeterStep(step.name))
        for key, value in vars(step).items():
            if key != "name":
                setattr(total, key, getattr(total, key) + value)
    yield from totals.values()


def parameter_text(value: Any) -> str:
    """Return plain data as text; a long list or mapping as its length, nothing as a dash.

    >>> parameter_text(["flu", "cold"]), parameter_text({"age": [0, 120]}), parameter_text("")
    ('flu, cold', 'age: 0, 120', '–')
    """
    if isinstance(value, Mapping):
        value = [f"{key}: {parameter_text(part)}" for key, part in value.items()]
    if isinstance(value, list | tuple):
        long = len(value) > _MAX_LISTED
        value = counted(len(value), "entry", "entries") if long else ", ".join(map(str, value))
    return str(value) or "–"


def explanation_lines(explanation: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the explanation of a session as labeled lines."""
    n = len(explanation["parties"])
    lines = [
        ("protocol", f"{explanation['protocol']}: {explanation['summary']}"),
        ("session", explanation["session"]),
    ]
    for at, member in enumerate(explanation["parties"]):
        certificate = f"certificate {member['fingerprint']}, valid until {member['valid_until']}"
        lines.append(
            ("parties" if at == 0 else "", f"{member['name']} at {member['address']}, {certificate}")
        )
    for at, (key, value) in enumerate(explanation["parameters"].items()):
        lines.append(("parameters" if at == 0 else "", f"{key} = {parameter_text(value)}"))
    leaks = explanation["leaks"] or ["Nothing beyond the result."]
    lines += [("reveals" if at == 0 else "", leak) for at, leak in enumerate(leaks)]
    if n == 2 and explanation["two_parties_see_each_other"]:
        lines.append(("", "The two parties agree that each can compute the other's data from the result."))
    if explanation["collector"] is not None:
        lines.append(("collector", f"{explanation['collector']} receives what the others send under masks"))
    lines.append(("needs", _needed(explanation["threshold"], n)))
    lines.append(("rests on", f"{explanation['assumption']}; {_withstood(explanation['withstands'])}"))
    traffic = explanation["traffic"]
    sizes = "their number and sizes depend on what the run reveals on its way"
    if traffic is not None:
        size = f"{traffic['frames']:,} of all parties together, {traffic['bytes']:,} bytes"
        sizes = f"{size} beside the opening of the session, whatever the data is"
    return [*lines, ("frames", sizes)]


def _needed(threshold: int, n: int) -> str:
    if threshold == n:
        return f"all {n} parties to the end; if one is lost, all stop and nothing more is opened"
    return f"at least {threshold} of {n} parties to the end; the result then covers those who remain"


def _withstood(n: int) -> str:
    if n == 0:
        return "each party alone learns more than the result and what is listed here"
    pooled = "no two of them pool" if n == 1 else f"no more than {n} of them pool"
    return f"nothing else shows while {pooled} what they see"
