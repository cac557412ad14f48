"""Lines of whole numbers, parsed from bytes and written to bytes: one basket a line, its items between white space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import ragged
from discreet.kernels.compiled import compiled
from discreet.kernels.threads import in_threads

FINE, WIDE, TEXT = range(3)
"""What became of the lines: parsed; a number does not fit; something is no number, or no line is ended by a return."""
_PIECE = 1 << 22
_SPACE, _TAB, _RETURN, _NEWLINE, _MINUS, _ZERO = (np.uint8(ord(char)) for char in " \t\r\n-0")
_NINE = np.uint8(9)
_TEN = np.uint64(10)
_DIGITS = 19


def parse(data: NDArray[np.uint8]) -> tuple[int, NDArray[np.int64], NDArray[np.int32] | NDArray[np.int64]]:
    """Parse lines of whole numbers: a status, the row pointers, and the numbers as written.

    The last byte must be a newline. The numbers take 32 bits where all of them are between 0 and 2^31 - 1, else 64.
    A number is written without a plus and without leading zeros; anything else is text.
    """
    cuts = _cuts(data)
    counts = np.zeros((cuts.size, 2), np.int64)
    in_threads(lambda start, stop: _count(data, cuts, counts, start, stop), cuts.size - 1)
    offsets = np.cumsum(counts, axis=0)
    indptr = np.zeros(offsets[-1, 0] + 1, np.int64)
    state, numbers = _numbers(data, cuts, offsets, indptr, np.int32)
    if state == WIDE:
        state, numbers = _numbers(data, cuts, offsets, indptr, np.int64)
    return state, indptr, numbers


def encode(
    indptr: NDArray[np.int64], numbers: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Turn numbers from 0 on into codes, in place: the distinct numbers, and rows in order without repetition."""
    present = np.zeros(int(numbers.max()) + 1 if numbers.size else 0, np.bool_)
    in_threads(lambda start, stop: _mark(numbers, present, start, stop), numbers.size)
    code = np.cumsum(present, dtype=np.int32) - np.int32(1)
    size = indptr.size - 1
    repeated = sum(in_threads(lambda start, stop: _code(indptr, numbers, code, start, stop), size))
    if repeated:
        indptr, numbers = _without_repetition(indptr, numbers)
    return np.flatnonzero(present), indptr, numbers


def spell(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    ends: NDArray[np.int64],
    letters: NDArray[np.uint8],
    close: NDArray[np.uint8],
    *,
    cut: int,
) -> NDArray[np.uint8]:
    """Write rows as lines: item i is ``letters[ends[i]:ends[i + 1]]``, with what separates it from the next.

    After the last item of a row ``cut`` bytes are taken back; then the row is closed.
    """
    lengths = np.diff(indptr)
    sizes = ragged.bounds(np.diff(ends)[items])[indptr]
    sizes[1:] += np.cumsum(close.size - cut * (lengths > 0))
    text = np.empty(sizes[-1], np.uint8)
    in_threads(
        lambda start, stop: _spell(indptr, items, ends, letters, close, sizes, text, start, stop),
        lengths.size,
    )
    return text


def _cuts(data: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Cut bytes into pieces that end with a newline."""
    cuts = [0]
    while cuts[-1] < data.size:
        cuts.append(_after_newline(data, min(cuts[-1] + _PIECE, data.size) - 1))
    return np.array(cuts, np.int64)


def _numbers(
    data: NDArray[np.uint8],
    cuts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    indptr: NDArray[np.int64],
    dtype: type[np.int32] | type[np.int64],
) -> tuple[int, NDArray[np.int32] | NDArray[np.int64]]:
    numbers = np.empty(offsets[-1, 1], dtype)
    high = np.uint64(np.iinfo(dtype).max)
    low = high + np.uint64(1) if dtype is np.int64 else np.uint64(0)
    states = in_threads(
        lambda start, stop: _parse(data, cuts, offsets, indptr, numbers, high, low, start, stop),
        cuts.size - 1,
    )
    return max(states), numbers


def _without_repetition(
    indptr: NDArray[np.int64], codes: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    fresh = np.ones(codes.size, np.bool_)
    fresh[1:] = codes[1:] != codes[:-1]
    fresh[indptr[:-1][np.diff(indptr) > 0]] = True
    new_bounds = ragged.bounds(fresh)
    return new_bounds[indptr], codes[fresh]


@compiled
def _after_newline(data, position):
    while data[position] != _NEWLINE:
        position += 1
    return position + 1


# Branchless, over two slices a byte apart, and therefore vectorized. Prefix sums of the counts say where
# each piece writes, so that pieces are parsed by threads without a lock.
@compiled
def _count(data, cuts, counts, start, stop):
    """Count the newlines and the first bytes of numbers in each piece."""
    for piece in range(start, stop):
        late = data[cuts[piece] + 1 : cuts[piece + 1]]
        early = data[cuts[piece] : cuts[piece + 1] - 1]
        lines = 1
        numbers = np.int64(data[cuts[piece]] > _SPACE)
        for position in range(early.size):
            lines += early[position] == _NEWLINE
            numbers += (late[position] > _SPACE) & (early[position] <= _SPACE)
        counts[piece + 1, 0] = lines
        counts[piece + 1, 1] = numbers


# In unsigned bytes everything below '0' wraps round to above 9: one comparison finds both ends. The last
# newline ends the scan. 19 digits fit 64 bits; a longer number is refused by its length, as its value may
# have wrapped.
@compiled
def _digits(data, position):
    """Read digits: the number they make, and where they end."""
    number = np.uint64(0)
    digit = np.uint8(data[position] - _ZERO)
    while digit <= _NINE:
        number = number * _TEN + np.uint64(digit)
        position += 1
        digit = np.uint8(data[position] - _ZERO)
    return number, position


# A hand-written scanner: a byte is looked at once or twice, and whatever is no digit, space or sign ends the piece.
# O(bytes).
@compiled
def _parse(data, cuts, offsets, indptr, numbers, high, low, start, stop):
    """Parse pieces up to what is no number; one that does not fit is passed over, in case text comes after it."""
    state = FINE
    for piece in range(start, stop):
        position = cuts[piece]
        row = offsets[piece, 0]
        count = offsets[piece, 1]
        while position < cuts[piece + 1]:
            byte = data[position]
            if np.uint8(byte - _ZERO) <= _NINE:
                first = position
                number, position = _digits(data, first)
                if number > high or position - first > _DIGITS:
                    state = WIDE
                if (byte == _ZERO and position - first > 1) or data[position] > _SPACE:
                    return TEXT
                numbers[count] = np.int64(number)
                count += 1
                if data[position] == _SPACE:
                    position += 1
            elif byte == _NEWLINE:
                row += 1
                indptr[row] = count
                position += 1
            elif byte in (_SPACE, _TAB) or (byte == _RETURN and data[position + 1] == _NEWLINE):
                position += 1
            elif byte == _MINUS:
                first = position + 1
                number, position = _digits(data, first)
                if number > low or position - first > _DIGITS:
                    state = WIDE
                if position == first or data[first] == _ZERO or data[position] > _SPACE:
                    return TEXT
                # -2^63 comes out right: 2^63 wraps to it, and its negative is itself.
                numbers[count] = -np.int64(number)
                count += 1
            else:
                return TEXT
    return state


@compiled
def _mark(numbers, present, start, stop):
    for position in range(start, stop):
        present[numbers[position]] = True


# A row that is in order already, as in most files, is scanned and not sorted.
@compiled
def _code(indptr, numbers, code, start, stop):
    """Turn the numbers of rows into codes and put each row in order; count the items that a row repeats."""
    repeated = 0
    for row in range(start, stop):
        first = indptr[row]
        stays = True
        for position in range(first, indptr[row + 1]):
            numbers[position] = code[numbers[position]]
            stays = stays and (position == first or numbers[position] > numbers[position - 1])
        if not stays:
            numbers[first : indptr[row + 1]].sort()
            for position in range(first + 1, indptr[row + 1]):
                repeated += numbers[position] == numbers[position - 1]
    return repeated


# Every row has its own span of the text, from ``sizes``, so that threads may spell any of them. O(bytes).
@compiled
def _spell(indptr, items, ends, letters, close, sizes, text, start, stop):
    for row in range(start, stop):
        position = sizes[row]
        end = sizes[row + 1] - close.size
        for entry in range(indptr[row], indptr[row + 1]):
            for letter in range(ends[items[entry]], ends[items[entry] + 1]):
                # The separator after the last item would run into the close; it is cut here.
                if position < end:
                    text[position] = letters[letter]
                position += 1
        for byte in range(close.size):
            text[end + byte] = close[byte]
