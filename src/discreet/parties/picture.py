"""Pictures of a protocol's messages: lifelines and arrows, drawn from the frames of a recorded run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from discreet.parties.transcript import FrameShape

_LEFT, _TOP, _STEP, _WIDTH = 90, 56, 34, 360
_STYLE = (
    "text{font:13px sans-serif;fill:#37474f}"
    ".name{font-weight:bold;text-anchor:middle}"
    ".kind{text-anchor:middle}"
    "line{stroke:#90a4ae}"
    ".arrow{stroke:#00796b;stroke-width:1.5}"
    "path{fill:#00796b}"
)


def message_picture(frames: Iterable[FrameShape], names: Sequence[str]) -> str:
    """Return an SVG of who sends what to whom; successive frames of one kind are drawn as one arrow.

    It shows kinds and sizes, which are functions of public parameters, and no payload.

    >>> picture = message_picture([FrameShape("a", "b", "keys", 32)] * 3, ("a", "b"))
    >>> "keys, 3 × 32 bytes" in picture
    True
    """
    places = {name: _LEFT + _WIDTH * index for index, name in enumerate(names)}
    arrows = [_arrow(places, _TOP + _STEP * row, list(same)) for row, same in enumerate(_grouped(frames))]
    width = 2 * _LEFT + _WIDTH * (len(names) - 1)
    height = _TOP + _STEP * len(arrows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
        f"<style>{_STYLE}</style>",
    ]
    for name, x in places.items():
        lines.append(f'<text class="name" x="{x}" y="20">{escape(name)}</text>')
        lines.append(f'<line x1="{x}" y1="30" x2="{x}" y2="{height}"/>')
    return "\n".join([*lines, *arrows, "</svg>", ""])


def _grouped(frames: Iterable[FrameShape]) -> Iterable[Iterable[FrameShape]]:
    return (same for _, same in groupby(frames, key=lambda one: (one.sender, one.receiver, one.kind)))


def _arrow(places: dict[str, int], y: int, frames: list[FrameShape]) -> str:
    first = frames[0]
    start, stop = places[first.sender], places[first.receiver]
    back = 8 if start < stop else -8
    label = f"{first.kind}, {_sizes([frame.size for frame in frames])}"
    return (
        f'<text class="kind" x="{(start + stop) // 2}" y="{y - 6}">{escape(label)}</text>'
        f'<line class="arrow" x1="{start}" y1="{y}" x2="{stop - back}" y2="{y}"/>'
        f'<path d="M{stop} {y}l{-back} -4v8z"/>'
    )


def _sizes(sizes: list[int]) -> str:
    """Return the sizes of successive frames as text.

    >>> _sizes([1000]), _sizes([8, 8]), _sizes([8, 3])
    ('1,000 bytes', '2 × 8 bytes', '2 frames, 11 bytes')
    """
    if len(sizes) == 1:
        return f"{sizes[0]:,} bytes"
    if len(set(sizes)) == 1:
        return f"{len(sizes)} × {sizes[0]:,} bytes"
    return f"{len(sizes)} frames, {sum(sizes):,} bytes"
