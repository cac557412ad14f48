"""Kafka, played by librdkafka's own mock cluster: whatever becomes of collectors, every message is counted once."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.servers import Topic

from discreet.cli._app import app
from discreet.core.errors import InputError, NetworkError
from discreet.engines.streams.kafka import KafkaSource, consumer_of, joined_position
from discreet.engines.streams.records import Records
from discreet.publish import StreamCondensation
from discreet.publish.pseudo.stream_running import StreamProgress, condense_stream

GROUP = "collectors"
SOON = {"session.timeout.ms": "4000", "heartbeat.interval.ms": "500"}
"""The mock cluster waits for absent members for half of their time."""
IMPATIENT = SOON | {"max.poll.interval.ms": "4500"}
_names = itertools.count()


@pytest.fixture
def topic() -> Topic:
    """Return a new topic with four partitions."""
    return Topic(f"visits-{next(_names)}")


def messages(start: int, stop: int) -> list[bytes]:
    """Return messages whose numbers in the column ``a`` say which they are."""
    return [json.dumps({"a": number, "b": number % 17}).encode() for number in range(start, stop)]


def source_of(topic: Topic, *, position: Any = None, **settings: str) -> KafkaSource:
    consumer = consumer_of(topic.servers, topic.name, GROUP, settings=SOON | settings)
    return KafkaSource(consumer, topic.name, Records(["a", "b"], format="jsonl"), position=position)


def collect(
    topic: Topic,
    state: Path,
    *,
    init_number: int = 40,
    snapshot_every: int = 100,
    idle: float = 3.0,
    progress: Callable[[StreamProgress], None] | None = None,
    **settings: str,
) -> StreamProgress:
    """Run one collector until nothing comes any more."""
    stream = StreamCondensation(4, init_number=init_number, columns=["a", "b"], allow_unique=["a"])
    position = None
    if state.exists():
        stream = StreamCondensation.load(state)
        position = stream.position_
    source = source_of(topic, position=position, **settings)
    return condense_stream(
        stream, source, state=state, snapshot_every=snapshot_every, idle=idle, progress=progress
    )


def counted(*states: Path) -> tuple[int, float]:
    """Return how many records the merged states hold, and the sum of their numbers."""
    first, *others = (StreamCondensation.load(state) for state in states)
    for other in others:
        first.merge(other)
    statistics = first.statistics_
    return first.n_records_, float((statistics.mean[:, 0] * statistics.n).sum())


def expect(n: int, *states: Path) -> None:
    """Hold that the states together hold the messages 0, 1, …, n − 1, each once."""
    n_records, total = counted(*states)
    assert n_records == n
    assert total == pytest.approx(n * (n - 1) / 2, rel=1e-9)


class Collector(threading.Thread):
    """A collector in a thread of its own, and how it ended."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(daemon=True)
        self._call = (arguments, options)
        self.reads = threading.Event()
        self.failure: BaseException | None = None
        self.start()

    def run(self) -> None:
        arguments, options = self._call
        try:
            stall = options.pop("stall", lambda progress: None)

            def watch(progress: StreamProgress) -> None:
                if progress.records:
                    self.reads.set()
                stall(progress)

            collect(*arguments, progress=watch, **options)
        except BaseException as error:  # noqa: BLE001  # raised again where the thread is joined
            self.failure = error

    def ended(self) -> None:
        """Wait for the end, which must be a good one."""
        self.join(60)
        assert not self.is_alive()
        if self.failure is not None:
            raise self.failure


def test_partitions_are_read_to_their_ends_and_gone_on_with(tmp_path: Path, topic: Topic) -> None:
    state, expected = tmp_path / "state.bin", 0
    words = ["stream", "condense", "--kafka", topic.servers, "--topic", topic.name, "--input-format", "jsonl"]
    words += ["--columns", "a,b", "-k", "4", "--init-number", "50", "--allow-unique", "a", "--idle", "2"]
    words += ["--snapshot-every", "70", "--state", str(state), "--json"]
    settings = tmp_path / "client.properties"
    settings.write_text("# of the client\n" + "\n".join(f"{name} = {value}" for name, value in SOON.items()))
    words += ["--kafka-config", str(settings)]
    for sent in (300, 130, 0):
        topic.send(messages(expected, expected + sent))
        expected += sent
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        fields = json.loads(result.output)
        assert (fields["records"], fields["all_records"]) == (sent, expected)
        expect(expected, state)
    ranges = StreamCondensation.load(state).position_["ranges"]
    assert sum(stop for [[start, stop]] in ranges.values() if start == 0) == expected


def test_a_second_collector_takes_over_partitions_and_no_message_counts_twice(
    tmp_path: Path, topic: Topic
) -> None:
    topic.send(messages(0, 1000))
    states = [tmp_path / "north.bin", tmp_path / "south.bin"]
    first = Collector(topic, states[0], idle=6.0)
    assert first.reads.wait(30)
    second = Collector(topic, states[1], idle=6.0)
    for part in range(5):
        topic.send(messages(1000 + 400 * part, 1400 + 400 * part))
        time.sleep(1)
    first.ended()
    second.ended()
    assert all(StreamCondensation.load(state).n_records_ > 300 for state in states)
    expect(3000, *states)


def test_first_records_that_no_state_holds_are_left_to_who_takes_the_partitions(
    tmp_path: Path, topic: Topic
) -> None:
    states = [tmp_path / "north.bin", tmp_path / "south.bin"]
    topic.send(messages(0, 100))
    first = Collector(topic, states[0], init_number=2000, idle=6.0)
    assert first.reads.wait(30)
    second = Collector(topic, states[1], init_number=2000, idle=6.0)
    for start in range(100, 600, 50):
        topic.send(messages(start, start + 50))
        time.sleep(1)
    first.ended()
    second.ended()
    collect(topic, tmp_path / "rest.bin", idle=4.0)
    expect(600, *tmp_path.glob("*.bin"))


_CHILD = """
import sys, time
from pathlib import Path
from tests.engines.streams.test_kafka import Topic, collect
topic = Topic.__new__(Topic)
topic.servers, topic.name = sys.argv[1:3]
def slowly(progress):
    print(progress.records, progress.snapshots, flush=True)
    time.sleep(0.05 if progress.records < 500 else 60)
collect(topic, Path(sys.argv[3]), snapshot_every=60, progress=slowly)
"""


def test_a_killed_collector_goes_on_from_its_snapshot_after_another_took_over(
    tmp_path: Path, topic: Topic
) -> None:
    topic.send(messages(0, 1200))
    states = [tmp_path / "north.bin", tmp_path / "south.bin"]
    arguments = [sys.executable, "-c", _CHILD, topic.servers, topic.name, str(states[0])]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=os.environ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if int(line.split()[0]) >= 500:
                break
        child.send_signal(signal.SIGKILL)
    snapshot = StreamCondensation.load(states[0]).n_records_
    assert 400 < snapshot < 600
    collect(topic, states[1], idle=6.0)
    assert StreamCondensation.load(states[1]).n_records_ == 1200 - snapshot
    topic.send(messages(1200, 1500))
    assert collect(topic, states[0]).records == 300
    expect(1500, *states)


@pytest.mark.parametrize("stalls", ["between batches", "before a snapshot"])
def test_a_collector_that_was_silent_goes_back_to_its_last_snapshot(
    tmp_path: Path, topic: Topic, stalls: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic.send(messages(0, 800))
    state, other = tmp_path / "north.bin", tmp_path / "south.bin"

    def stall(progress: StreamProgress) -> None:
        if progress.records == 500 and stalls == "between batches":
            time.sleep(7)

    save = StreamCondensation.save

    def slow_save(stream: StreamCondensation, path: Any, **options: Any) -> Path:
        if stream.n_records_ == 600 and stalls == "before a snapshot":
            time.sleep(7)
        return save(stream, path, **options)

    rolled_back: list[int] = []
    roll_back = StreamCondensation.roll_back

    def watched(stream: StreamCondensation, content: bytes | None) -> StreamCondensation:
        rolled_back.append(stream.n_records_)
        return roll_back(stream, content)

    monkeypatch.setattr(StreamCondensation, "save", slow_save)
    monkeypatch.setattr(StreamCondensation, "roll_back", watched)
    first = Collector(topic, state, snapshot_every=200, stall=stall, idle=6.0, **IMPATIENT)
    assert first.reads.wait(30)
    collect(topic, other, idle=8.0)
    first.ended()
    # Between batches, a rebalance may have saved everything before.
    assert rolled_back or stalls == "between batches"
    expect(800, *(path for path in (state, other) if path.exists()))


def test_states_that_counted_a_message_both_are_not_merged(tmp_path: Path, topic: Topic) -> None:
    topic.send(messages(0, 300))
    collect(topic, tmp_path / "state.bin", idle=2.0)
    twice = [StreamCondensation.load(tmp_path / "state.bin") for _ in range(2)]
    with pytest.raises(InputError, match="would count twice"):
        twice[0].merge(twice[1])
    assert twice[0].n_records_ == 300
    rng = np.random.default_rng(0)
    for _ in range(50):
        owners = rng.integers(0, 3, 30)
        positions = [_position(np.flatnonzero(owners == number)) for number in range(3)]
        joined = joined_position(joined_position(positions[0], positions[1]), positions[2])
        assert joined == _position(np.arange(30))


def _position(offsets: np.ndarray) -> dict[str, Any]:
    """Return the position of a state that counted some messages of one partition."""
    ranges: list[list[int]] = []
    for offset in offsets.tolist():
        if ranges and ranges[-1][1] == offset:
            ranges[-1][1] += 1
        else:
            ranges.append([offset, offset + 1])
    return {"topic": "a", "ranges": {"0": ranges}}


def test_a_topic_that_was_made_anew_is_not_added_to_the_old_one(tmp_path: Path, topic: Topic) -> None:
    topic.send(messages(0, 400))
    collect(topic, tmp_path / "state.bin", idle=2.0)
    anew = Topic(topic.name)
    anew.send(messages(0, 40))
    with pytest.raises(InputError, match="made anew"):
        collect(anew, tmp_path / "state.bin", idle=8.0)
    assert StreamCondensation.load(tmp_path / "state.bin").n_records_ == 400


def test_without_a_server_or_a_topic_there_is_one_line(topic: Topic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.engines.streams.kafka._LONG", 1.0)
    with pytest.raises(NetworkError, match=r"^No Kafka server answers \(_TRANSPORT\)\.$"):
        consumer_of("127.0.0.1:1", topic.name, GROUP)
