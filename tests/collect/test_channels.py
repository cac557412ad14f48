"""Channels from plain data: what ``to_dict`` gives comes back, and anything else is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from discreet.collect import (
    AdditiveNoise,
    Channels,
    Gaussian,
    Laplace,
    RandomizedResponse,
    UnaryResponse,
    Uniform,
)
from discreet.collect.channels import channel_from_dict, channels_from_dict
from discreet.core.errors import DiscreetError


@pytest.mark.parametrize("noise", [Uniform(2.5), Gaussian(0.1), Laplace(40.0)])
@pytest.mark.parametrize("ends", [(None, None), (0.0, 10.0), (None, 3.0)])
def test_noise_comes_back(noise, ends) -> None:
    channel = AdditiveNoise(noise, low=ends[0], high=ends[1])
    again = channel_from_dict(json.loads(json.dumps(channel.to_dict())))
    assert isinstance(again, AdditiveNoise)
    assert (again.noise, again.low, again.high) == (noise, *ends)


@pytest.mark.parametrize("categories", [["a", "b", "c"], [0, 1, 2]])
def test_categories_come_back(categories) -> None:
    channel = RandomizedResponse.k_ary(categories, epsilon=1)
    again = channel_from_dict(json.loads(json.dumps(channel.to_dict())))
    assert isinstance(again, RandomizedResponse)
    assert again.categories == tuple(categories)
    assert np.array_equal(again.matrix, channel.matrix)


def test_bits_come_back() -> None:
    channels = Channels({"town": UnaryResponse.optimal(["a", "b", "c"], epsilon=1)})
    again = channels_from_dict(json.loads(json.dumps(channels.to_dict())))
    assert again.to_dict() == channels.to_dict()
    assert again.epsilon == channels.epsilon


def test_several_come_back_also_as_the_command_line_prints_them() -> None:
    channels = Channels(
        {"age": AdditiveNoise(Gaussian(2.0), low=0, high=9), "columns": AdditiveNoise(Uniform(1.0))}
    )
    plain = channels.to_dict()
    assert channels_from_dict(plain).to_dict() == plain
    printed = {
        "command": "perturb",
        "columns": {name: {**one, "privacy": 0.5, "epsilon": None} for name, one in plain.items()},
    }
    assert channels_from_dict(printed).to_dict() == plain


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"age": None},
        {"age": {}},
        {"age": {"noise": "gaussian"}},
        {"age": {"noise": ["gaussian"], "spread": 1}},
        {"age": {"noise": "gaussian", "spread": "wide"}},
        {"age": {"noise": "gaussian", "spread": 1, "width": 2}},
        {"age": {"noise": "gaussian", "spread": 1, "categories": [], "matrix": []}},
        {"town": {"categories": ["a", "b"], "p": 0.5}},
        {"town": {"categories": ["a", "b"], "p": 0.5, "q": 0.5}},
        {"town": {"categories": ["a", "b"], "p": "x", "q": 0.9}},
        {"town": {"categories": "ab", "p": 0.5, "q": 0.9}},
        {"town": {"categories": "ab", "matrix": [[1, 0], [0, 1]]}},
        {"town": {"categories": ["a", "b"], "matrix": [[0.5, 0.5], [0.5, 0.5]]}},
    ],
)
def test_anything_else_is_refused(plain) -> None:
    with pytest.raises(DiscreetError):
        channels_from_dict(plain)
