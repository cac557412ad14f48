"""Picture: the messages of a run as a chart, one line for each party and one arrow for each frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from discreet.parties.transcript import FrameShape

_COLUMN, _ROW, _TOP, _SIDE = 240, 26, 56, 90
_INK, _ARROW, _LINE = "#5f6b6b", "#00897b", "#9aa5a5"


def message_chart(frames: Iterable[FrameShape], names: Sequence[str], *, in_order: bool = False) -> str:
    """Return an SVG picture of who sent what to whom, from the recorded frames of a run.

    Frames are grouped by kind, in the order in which the kinds first appear, and by sender within a kind; with
    ``in_order`` they stay in the order of the frames.

    >>> message_chart([FrameShape("a", "b", "keys", 64)], ("a", "b")).count("<line")
    3
    """
    rows = list(frames) if in_order else _ordered(list(frames), names)
    width = 2 * _SIDE + _COLUMN * (len(names) - 1)
    height = _TOP + _ROW * (len(rows) + 1)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="sans-serif" font-size="12" role="img">'
        ),
        f"<title>Messages between {escape(', '.join(names))}</title>",
        (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
            f'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="{_ARROW}"/></marker></defs>'
        ),
    ]
    parts += [_lifeline(name, _x(names, name), height) for name in names]
    parts += [_arrow(frame, names, _TOP + _ROW * (at + 1)) for at, frame in enumerate(rows)]
    return "\n".join([*parts, "</svg>\n"])


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


def _ordered(frames: list[FrameShape], names: Sequence[str]) -> list[FrameShape]:
    kinds = list(dict.fromkeys(frame.kind for frame in frames))
    place = {name: at for at, name in enumerate(names)}
    return sorted(frames, key=lambda f: (kinds.index(f.kind), place[f.sender], place[f.receiver]))


def _x(names: Sequence[str], name: str) -> int:
    return _SIDE + _COLUMN * list(names).index(name)


def _lifeline(name: str, x: int, height: int) -> str:
    return (
        f'<text x="{x}" y="24" text-anchor="middle" font-weight="bold" fill="{_INK}">{escape(name)}</text>'
        f'<line x1="{x}" y1="36" x2="{x}" y2="{height - 8}" stroke="{_LINE}" stroke-dasharray="4 3"/>'
    )


def _arrow(frame: FrameShape, names: Sequence[str], y: int) -> str:
    start, end = _x(names, frame.sender), _x(names, frame.receiver)
    near = start + (_COLUMN if end > start else -_COLUMN) // 2
    label = f"{frame.kind}, {frame.size:,} bytes"
    return (
        f'<line x1="{start}" y1="{y}" x2="{end}" y2="{y}" stroke="{_ARROW}" marker-end="url(#tip)"/>'
        f'<text x="{near}" y="{y - 5}" text-anchor="middle" fill="{_INK}">{escape(label)}</text>'
    )
