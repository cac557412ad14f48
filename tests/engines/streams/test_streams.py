"""Streams: lines and Kafka messages in bounded batches, saved with their position, and gone on with."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import DiscreetError, InfeasibleError, InputError, ParameterError, SchemaError
from discreet.engines.streams.kafka import KafkaSource, MissingExtraError, consumer_of
from discreet.engines.streams.lines import LineSource, RecordSource, open_lines
from discreet.engines.streams.records import BadLineError, Batch, Records
from discreet.publish import StreamCondensation
from discreet.publish.pseudo.stream_running import condense_stream

SECRET = "Zyzzogeton-4711"


def rows(n: int, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 2)).round(3)


def csv_of(values: np.ndarray, *, header: str = "name,a,b\n") -> bytes:
    return (header + "".join(f"{SECRET},{a},{b}\n" for a, b in values.tolist())).encode()


def json_of(values: np.ndarray) -> list[bytes]:
    return [json.dumps({"b": b, "name": SECRET, "a": a, "p": 3}).encode() for a, b in values.tolist()]


def drained(source: RecordSource, limit: int = 7) -> list[Batch]:
    found = []
    while (batch := source.next_batch(limit)) is not None:
        assert len(batch) <= limit
        found.append(batch)
    return found


def same(one: StreamCondensation, other: StreamCondensation) -> bool:
    mine, theirs = one._begun().to_arrays(), other._begun().to_arrays()
    return all(np.array_equal(mine[name], theirs[name]) for name in mine)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("end", [True, False])
def test_csv_lines_become_rows(newline: bytes, end: bool) -> None:
    values = rows(50)
    data = b"\xef\xbb\xbf" + csv_of(values).replace(b"\n", newline)
    data = data if end else data[: -len(newline)]
    source = LineSource(io.BytesIO(data), Records(["b", "a"]))
    found = np.concatenate([batch.values for batch in drained(source)])
    np.testing.assert_array_equal(found, values[:, ::-1])


def test_json_lines_become_rows_with_levels() -> None:
    values = rows(20)
    data = b"\n\n".join(json_of(values))
    found = drained(LineSource(io.BytesIO(data), Records(["a", "b"], level="p", format="jsonl")))
    np.testing.assert_array_equal(np.concatenate([batch.values for batch in found]), values)
    assert all((batch.levels == 3).all() for batch in found)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f'x,1,"{SECRET}"', "column 'b'"),
        (f"x,{SECRET},1", "column 'a'"),
        ("x,1", "2 cells where 3"),
        ("x,1,2,3", "4 cells where 3"),
        ("x,,2", "column 'a'"),
        ("x,nan,2", "column 'a'"),
        ("x,inf,2", "column 'a'"),
        ("x,1e200,2", "column 'a'"),
        ("x,1_000,2", "column 'a'"),
        (f'"{SECRET},1,2', "cannot be read as cells"),
    ],
)
def test_a_bad_csv_line_is_named_and_what_came_before_is_kept(line: str, words: str) -> None:
    data = csv_of(rows(5)) + line.encode() + b"\n" + csv_of(rows(5), header="")
    source = LineSource(io.BytesIO(data), Records(["a", "b"]))
    first = source.next_batch(100)
    assert first is not None
    assert len(first) == 5
    for _ in range(2):
        with pytest.raises(BadLineError, match="Line 7 of the stream") as caught:
            source.next_batch(100)
        assert words in str(caught.value)
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None
    skipping = drained(LineSource(io.BytesIO(data), Records(["a", "b"], bad="skip")))
    assert sum(map(len, skipping)) == 10
    assert sum(batch.skipped for batch in skipping) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "no JSON"),
        ("[1, 2]", "no JSON object"),
        ("null", "no JSON object"),
        ('{"a": 1}', "no column 'b'"),
        ('{"a": true, "b": 1, "p": 2}', "column 'a'"),
        (f'{{"a": "{SECRET}", "b": 1, "p": 2}}', "column 'a'"),
        ('{"a": null, "b": 1, "p": 2}', "column 'a'"),
        ('{"a": NaN, "b": 1, "p": 2}', "column 'a'"),
        ('{"a": ' + "9" * 400 + ', "b": 1, "p": 2}', "column 'a'"),
        ('{"a": 1, "b": 1, "p": 0}', "column 'p'"),
        ('{"a": 1, "b": 1, "p": 2.5}', "column 'p'"),
        ('{"a": 1, "b": 1, "p": 99}', "above 50 in column 'p'"),
    ],
)
def test_a_bad_json_line_is_named(line: str, words: str) -> None:
    records = Records(["a", "b"], level="p", format="jsonl", max_level=50)
    with pytest.raises(BadLineError, match="Line 1 of the stream") as caught:
        LineSource(io.BytesIO(line.encode()), records).next_batch(5)
    assert words in str(caught.value)
    assert SECRET not in str(caught.value)


def test_headers_and_parameters_are_checked() -> None:
    with pytest.raises(SchemaError, match="no column 'c'"):
        LineSource(io.BytesIO(csv_of(rows(3))), Records(["a", "c"]))
    with pytest.raises(InputError, match="no line"):
        LineSource(io.BytesIO(b""), Records(["a"]))
    with pytest.raises(SchemaError, match="different names"):
        Records(["a", "a"])
    with pytest.raises(ParameterError, match="'delimiter' parameter of Records"):
        Records(["a"], delimiter=";;")
    plain = LineSource(io.BytesIO(b"1;2;3\n"), Records(["a", "b"], level="p", delimiter=";"), header=False)
    batch = plain.next_batch(9)
    assert batch is not None
    assert batch.values.tolist() == [[1.0, 2.0]]
    with pytest.raises(InputError, match="longer than 1 MiB"):
        LineSource(io.BytesIO(b"1" * 3_000_000), Records(["a"]), header=False).next_batch(1)


def test_a_slow_pipe_holds_no_record_back() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb", buffering=0) as sender:
        sender.write(b"a\n1\n2\n3")
        source = LineSource(stream, Records(["a"]))
        batch = source.next_batch(1000)
        assert batch is not None
        assert batch.values.ravel().tolist() == [1.0, 2.0]
        threading.Timer(0.05, lambda: sender.write(b"4\n")).start()
        batch = source.next_batch(1000)
        assert batch is not None
        assert batch.values.ravel().tolist() == [34.0]
        assert source.position() == {}


def test_nothing_is_read_before_it_is_requested() -> None:
    class Counted(io.BytesIO):
        taken = 0

        def read1(self, size: int = -1) -> bytes:
            data = super().read1(size)
            Counted.taken += len(data)
            return data

    stream = Counted(csv_of(rows(100_000)))
    source = LineSource(stream, Records(["a", "b"]))
    for _ in range(3):
        source.next_batch(100)
    assert Counted.taken <= 2 * 65536


def new_stream() -> StreamCondensation:
    return StreamCondensation(4, init_number=50, columns=["a", "b"], random_state=1)


def test_a_stopped_run_goes_on_where_its_snapshot_was(tmp_path: Path) -> None:
    values = rows(2000)
    path = tmp_path / "stream.csv"
    path.write_bytes(csv_of(values))
    steady = new_stream()
    condense_stream(steady, open_lines(path, Records(["a", "b"])))
    state = tmp_path / "state.bin"
    told = condense_stream(
        new_stream(), open_lines(path, Records(["a", "b"])), state=state, snapshot_every=300, records=1234
    )
    assert (told.records, told.snapshots) == (1234, 5)
    again = StreamCondensation.load(state)
    assert again.n_records_ == 1234
    rest = open_lines(path, Records(["a", "b"]), position=again.position_)
    assert condense_stream(again, rest, state=state).records == 766
    assert same(steady, again)
    assert same(steady, StreamCondensation.load(state))
    other = tmp_path / "other.csv"
    other.write_bytes(csv_of(rows(10)))
    more = open_lines(other, Records(["a", "b"]), position=again.position_)
    assert sum(map(len, drained(more))) == 10  # another file is read from its beginning
    more.close()
    path.write_bytes(csv_of(values[:20]))
    with pytest.raises(InputError, match="shorter"):
        open_lines(path, Records(["a", "b"]), position=again.position_)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_state_is_private_after_a_run_without_a_record(tmp_path: Path) -> None:
    path, state = tmp_path / "stream.csv", tmp_path / "state.bin"
    path.write_bytes(csv_of(rows(200)))
    condense_stream(new_stream(), open_lines(path, Records(["a", "b"])), state=state)
    state.chmod(0o644)
    again = StreamCondensation.load(state)
    rest = open_lines(path, Records(["a", "b"]), position=again.position_)
    assert condense_stream(again, rest, state=state).snapshots == 0
    assert stat.S_IMODE(state.stat().st_mode) == 0o600


class Faulty:
    """A source that breaks, or is interrupted, after some batches."""

    def __init__(self, values: np.ndarray, error: BaseException, after: int) -> None:
        self.values, self.error, self.after = values, error, after
        self.given = 0
        self.closed = False
        self.committed: list[Any] = []

    def next_batch(self, limit: int) -> Batch | None:
        if self.given >= self.after:
            raise self.error
        found = self.values[self.given : self.given + min(limit, 100)]
        self.given += len(found)
        return Batch(found)

    def position(self) -> dict[str, Any]:
        return {"given": self.given}

    def commit(self, position: Any) -> None:
        self.committed.append(position)

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("error", [KeyboardInterrupt(), InputError("broken"), OSError("gone")])
def test_when_something_breaks_what_went_in_is_saved(tmp_path: Path, error: BaseException) -> None:
    values = rows(1000)
    source = Faulty(values, error, 700)
    with pytest.raises(type(error)):
        condense_stream(new_stream(), source, state=tmp_path / "state", snapshot_every=250)
    assert source.closed
    found = StreamCondensation.load(tmp_path / "state")
    assert found.position_ == {"given": 700}
    assert found.n_records_ == 700
    assert [one["given"] for one in source.committed] == [300, 600, 700]


def test_a_batch_that_is_refused_is_in_no_snapshot(tmp_path: Path) -> None:
    class Greedy(Faulty):
        def next_batch(self, limit: int) -> Batch | None:
            batch = super().next_batch(limit)
            if self.given == 500 and batch is not None:
                return Batch(batch.values, np.full(len(batch), 10_000))
            return batch

    with pytest.raises(InfeasibleError):
        condense_stream(
            new_stream(), Greedy(rows(900), ValueError(), 900), state=tmp_path / "state", snapshot_every=200
        )
    found = StreamCondensation.load(tmp_path / "state")
    assert found.position_ == {"given": 400}
    assert found.n_records_ == 400


def test_the_first_records_are_saved_in_no_way_until_they_are_condensed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        condense_stream(
            new_stream(),
            Faulty(rows(40), KeyboardInterrupt(), 40),
            state=tmp_path / "state",
            snapshot_every=5,
        )
    assert not list(tmp_path.iterdir())
    few = LineSource(io.BytesIO(csv_of(rows(30))), Records(["a", "b"]))
    condense_stream(new_stream(), few, state=tmp_path / "state")
    assert StreamCondensation.load(tmp_path / "state").n_records_ == 30
    with pytest.raises(InfeasibleError):
        condense_stream(new_stream(), LineSource(io.BytesIO(csv_of(rows(3))), Records(["a", "b"])))


class Mark:
    """Stands for confluent-kafka's TopicPartition."""

    def __init__(self, partition: int, offset: int = -1001) -> None:
        self.partition, self.offset = partition, offset


class Message:
    """Stands for confluent-kafka's Message."""

    def __init__(self, partition: int, offset: int, value: bytes | None, error: str | None = None) -> None:
        self._found = (partition, offset, value)
        self._error = error

    def partition(self) -> int:
        return self._found[0]

    def offset(self) -> int:
        return self._found[1]

    def value(self) -> bytes | None:
        return self._found[2]

    def error(self) -> Any:
        if self._error is None:
            return None
        named = self._error
        return type("KafkaError", (), {"name": staticmethod(lambda: named)})()


class FakeConsumer:
    """A consumer with confluent-kafka's interface over lists of messages; no server is behind it."""

    def __init__(self, partitions: Sequence[Sequence[bytes | None]], committed: dict[int, int]) -> None:
        self.partitions = partitions
        self.server = committed
        self.next: dict[int, int] = {}
        self.asked: list[int] = []
        self.closed = False
        self.errors: list[Message] = []
        self.revoke: Callable[..., None] | None = None

    def subscribe(self, topics: list[str], *, on_assign: Any, on_revoke: Any, on_lost: Any) -> None:
        assert topics == ["visits"]
        self.arrive, self.leave, self.lose = on_assign, on_revoke, on_lost

    def assign(self, marks: Sequence[Mark]) -> None:
        self.next = {mark.partition: max(mark.offset, 0) for mark in marks}

    def committed(self, marks: Sequence[Mark], timeout: float) -> list[Mark]:
        assert timeout > 0
        return [Mark(mark.partition, self.server.get(mark.partition, -1001)) for mark in marks]

    def consume(self, num_messages: int, timeout: float) -> list[Message]:
        assert timeout > 0
        if not self.next:
            self.arrive(self, [Mark(number) for number in range(len(self.partitions))])
        self.asked.append(num_messages)
        if self.errors:
            return [self.errors.pop()]
        found = []
        for partition, offset in sorted(self.next.items()):
            for at in range(offset, len(self.partitions[partition])):
                if len(found) < num_messages:
                    found.append(Message(partition, at, self.partitions[partition][at]))
                    self.next[partition] = at + 1
        return found

    def commit(self, *, offsets: Sequence[Mark], asynchronous: bool) -> None:
        assert not asynchronous
        self.server |= {mark.partition: mark.offset for mark in offsets}

    def close(self) -> None:
        self.closed = True


def topic(values: np.ndarray) -> list[list[bytes | None]]:
    messages = json_of(values)
    return [list(messages[0::2]), list(messages[1::2])]


def kafka(consumer: FakeConsumer, **more: Any) -> KafkaSource:
    return KafkaSource(consumer, "visits", Records(["a", "b"], level="p", format="jsonl"), **more)


def test_offsets_are_committed_only_after_the_state_is_saved(tmp_path: Path) -> None:
    server: dict[int, int] = {}
    consumer = FakeConsumer(topic(rows(900)), server)
    state = tmp_path / "state"
    kept: list[dict[int, int]] = []

    class Watched(StreamCondensation):
        def save(self, path: Any, *, position: Any = None) -> Path:
            kept.append(dict(server))
            return super().save(path, position=position)

    stream = Watched(4, init_number=50, random_state=1)
    told = condense_stream(stream, kafka(consumer), state=state, snapshot_every=250, idle=0.0)
    assert told.records == 900
    assert max(consumer.asked) <= 250
    assert server == {0: 450, 1: 450}
    assert kept[0] == {}
    assert all(sum(before.values()) < 900 for before in kept)
    assert consumer.closed
    assert StreamCondensation.load(state).position_ == {
        "topic": "visits",
        "ranges": {"0": [[0, 450]], "1": [[0, 450]]},
    }


def test_a_crash_between_saving_and_committing_counts_no_message_twice(tmp_path: Path) -> None:
    values = rows(900)
    server: dict[int, int] = {}
    state = tmp_path / "state"
    steady = StreamCondensation(4, init_number=50, random_state=1)
    condense_stream(steady, kafka(FakeConsumer(topic(values), {})), snapshot_every=100, idle=0.0)

    class Lost(FakeConsumer):
        def commit(self, **given: Any) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        condense_stream(
            StreamCondensation(4, init_number=50, random_state=1),
            kafka(Lost(topic(values), server)),
            state=state,
            snapshot_every=100,
        )
    assert server == {}
    again = StreamCondensation.load(state)
    assert again.n_records_ == 100
    source = kafka(FakeConsumer(topic(values), server), position=again.position_)
    condense_stream(again, source, state=state, snapshot_every=100, idle=0.0)
    assert again.n_records_ == 900
    assert same(steady, again)


def test_the_state_is_saved_before_partitions_go_to_another_collector(tmp_path: Path) -> None:
    server: dict[int, int] = {}
    consumer = FakeConsumer(topic(rows(400)), server)
    source = kafka(consumer)
    state = tmp_path / "state"

    def leave_at_the_end(told: Any) -> None:
        if told.records == 400 and consumer.next:
            consumer.leave(consumer, [Mark(0)])
            assert server == {0: 200, 1: 200}
            assert StreamCondensation.load(state).n_records_ == 400
            assert source.position()["ranges"] == {"0": [[0, 200]], "1": [[0, 200]]}

    stream = StreamCondensation(4, init_number=50)
    condense_stream(stream, source, state=state, snapshot_every=10_000, idle=0.0, progress=leave_at_the_end)


def test_the_later_of_saved_and_committed_offsets_is_taken() -> None:
    consumer = FakeConsumer(topic(rows(40)), {0: 15, 1: 2})
    source = kafka(consumer, position={"topic": "visits", "offsets": {"0": 5, "1": 10}})
    batch = source.next_batch(100)
    assert batch is not None
    assert len(batch) == (20 - 15) + (20 - 10)
    elsewhere = kafka(FakeConsumer(topic(rows(40)), {}), position={"topic": "other", "offsets": {"0": 5}})
    batch = elsewhere.next_batch(100)
    assert batch is not None
    assert len(batch) == 40


def test_bad_messages_are_named_by_their_place() -> None:
    messages: list[list[bytes | None]] = [[*json_of(rows(3)), f'{{"a": "{SECRET}"}}'.encode(), None]]
    source = kafka(FakeConsumer(messages, {}))
    batch = source.next_batch(10)
    assert batch is not None
    assert len(batch) == 3
    assert source.position()["ranges"] == {"0": [[0, 3]]}
    with pytest.raises(BadLineError, match="Message 3 of partition 0 has no column 'b'") as caught:
        source.next_batch(10)
    assert SECRET not in str(caught.value)
    consumer = FakeConsumer(messages, {})
    skipping = KafkaSource(consumer, "visits", Records(["a", "b"], format="jsonl", bad="skip"))
    batch = skipping.next_batch(10)
    assert batch is not None
    assert (len(batch), batch.skipped) == (3, 2)


def test_errors_of_the_servers() -> None:
    consumer = FakeConsumer(topic(rows(4)), {})
    source = kafka(consumer)
    consumer.errors = [Message(0, 0, None, "_PARTITION_EOF")]
    batch = source.next_batch(5)
    assert batch is not None
    assert len(batch) == 0
    consumer.errors = [Message(0, 0, None, "TOPIC_AUTHORIZATION_FAILED")]
    with pytest.raises(InputError, match="TOPIC_AUTHORIZATION_FAILED"):
        source.next_batch(5)


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[kafka\]"):
        consumer_of("localhost:9092", "visits", "group")
    assert issubclass(MissingExtraError, DiscreetError)
