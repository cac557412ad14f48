"""The pictures in the documentation show what is sent."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from discreet.parties.picture import message_picture
from discreet.parties.transcript import FrameShape
from parties_pictures import FOLDER, RUNS, drawn


@pytest.mark.parametrize("name", RUNS)
def test_pictures_of_the_documentation_are_recorded_runs(name: str) -> None:
    assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == drawn(name)


def test_names_are_escaped_and_every_arrow_is_drawn() -> None:
    frames = [
        FrameShape("<a>", "b&", "x", 1),
        FrameShape("b&", "<a>", "y", 2),
        FrameShape("<a>", "b&", "x", 3),
    ]
    root = ET.fromstring(message_picture(frames, ("<a>", "b&")))
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["<a>", "b&", "x, 1 bytes", "y, 2 bytes", "x, 3 bytes"]
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) == 3
