"""The forms of oblivious transfer made from random ones: correlated messages and chosen messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.parties.ot.extension import TransferReceiver, TransferSender, random_frames, transfer_batches
from discreet.parties.transcript import FrameShape

_CORRECTIONS, _MESSAGES = "ot.corrections", "ot.messages"
BLOCK = 16
"""The bytes of one block of a random message."""


def correlated_frames(
    sender: str, receiver: str, n: int, *, n_words: int, malicious: bool, word_bytes: int = 8
) -> list[FrameShape]:
    """Return the frames of n correlated transfers of ``n_words`` words each."""
    size = word_bytes * n_words
    return _frames(sender, receiver, n, _CORRECTIONS, size, -(-size // BLOCK), malicious=malicious)


def chosen_frames(
    sender: str, receiver: str, n: int, *, message_bytes: int, malicious: bool
) -> list[FrameShape]:
    """Return the frames of n transfers of chosen messages."""
    blocks = -(-message_bytes // BLOCK)
    return _frames(sender, receiver, n, _MESSAGES, 2 * message_bytes, blocks, malicious=malicious)


def send_correlated(sender: TransferSender, differences: NDArray[Any]) -> NDArray[Any]:
    """Return random words x, of the shape of the differences; the receiver's are x, or x plus the difference.

    Sums are modulo 2^64, or modulo what a narrower type of unsigned integers holds.
    """
    n, n_words = differences.shape
    dtype = differences.dtype
    blocks = -(-differences.itemsize * n_words // BLOCK)
    words = np.empty((n, n_words), dtype)
    for start, stop in transfer_batches(n, blocks=blocks):
        pairs = sender.random(stop - start, blocks=blocks).view(dtype)[:, :, :n_words]
        words[start:stop] = pairs[:, 0]
        # The receiver with choice 1 holds the second message; plus x₀ − x₁ + d it is x₀ + d.
        corrections = pairs[:, 0] - pairs[:, 1]
        corrections += differences[start:stop]
        sender.party.send(sender.peer, _CORRECTIONS, corrections.view(np.uint8).reshape(-1).data)
    return words


def receive_correlated(
    receiver: TransferReceiver, choices: NDArray[np.bool_], *, n_words: int, dtype: Any = np.uint64
) -> NDArray[Any]:
    """Return the sender's random words, plus its differences where the choice is one."""
    size = np.dtype(dtype).itemsize
    blocks = -(-size * n_words // BLOCK)
    results = np.empty((choices.size, n_words), dtype)
    for start, stop in transfer_batches(choices.size, blocks=blocks):
        chosen = choices[start:stop]
        words = receiver.random(chosen, blocks=blocks).view(dtype)[:, :n_words]
        payload = receiver.party.recv(receiver.peer, _CORRECTIONS, words.shape[0] * n_words * size)
        corrections = np.frombuffer(payload, dtype).reshape(words.shape)
        np.multiply(corrections, chosen[:, None], out=results[start:stop])
        results[start:stop] += words
    return results


def send_chosen(sender: TransferSender, messages: NDArray[np.uint8]) -> None:
    """Send one message of each pair; the array has the shape (n, 2, bytes)."""
    n, _, size = messages.shape
    # A message that is longer than a block is masked by several, which one transfer yields.
    blocks = -(-size // BLOCK)
    for start, stop in transfer_batches(n, blocks=blocks):
        pads = sender.random(stop - start, blocks=blocks).view(np.uint8)[:, :, :size]
        hidden = np.bitwise_xor(messages[start:stop], pads)
        sender.party.send(sender.peer, _MESSAGES, hidden.reshape(-1).data)


def receive_chosen(
    receiver: TransferReceiver, choices: NDArray[np.bool_], *, message_bytes: int
) -> NDArray[np.uint8]:
    """Return the message of each pair that the choice names, of the shape (n, bytes)."""
    blocks = -(-message_bytes // BLOCK)
    messages = np.empty((choices.size, message_bytes), np.uint8)
    for start, stop in transfer_batches(choices.size, blocks=blocks):
        chosen = choices[start:stop]
        pads = receiver.random(chosen, blocks=blocks).view(np.uint8)[:, :message_bytes]
        payload = receiver.party.recv(receiver.peer, _MESSAGES, chosen.size * 2 * message_bytes)
        hidden = np.frombuffer(payload, np.uint8).reshape(chosen.size, 2, message_bytes)
        np.bitwise_xor(np.where(chosen[:, None], hidden[:, 1], hidden[:, 0]), pads, out=messages[start:stop])
    return messages


def _frames(
    sender: str, receiver: str, n: int, kind: str, row_bytes: int, blocks: int, *, malicious: bool
) -> list[FrameShape]:
    frames = []
    for start, stop in transfer_batches(n, blocks=blocks):
        frames += random_frames(sender, receiver, stop - start, malicious=malicious)
        frames.append(FrameShape(sender, receiver, kind, (stop - start) * row_bytes))
    return frames
