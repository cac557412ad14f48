"""A Kafka topic as a source of records, one a message; needs the extra ``kafka`` (confluent-kafka)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.core.errors import DiscreetError, InputError, NetworkError
from discreet.engines.streams.lines import empty_batch
from discreet.engines.streams.records import BadLineError, Batch, Records

_PATIENCE = 1.0
"""How many seconds to wait for a message before an empty batch is returned."""
_LONG = 10.0
"""How many seconds to wait for an answer of the servers."""
_JOINING = 30
"""How many times to wait so long for partitions before the source counts as idle."""
_UNREACHABLE = {"_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT", "_RESOLVE"}
_LOST = {
    "ILLEGAL_GENERATION",
    "UNKNOWN_MEMBER_ID",
    "REBALANCE_IN_PROGRESS",
    "FENCED_INSTANCE_ID",
    "_ASSIGNMENT_LOST",
}


class MissingExtraError(DiscreetError):
    """A library that comes with an extra is not installed."""


class LostPartitionsError(NetworkError):
    """The servers take no offsets from this collector now: partitions are moving, or have moved, to others."""


def settings_in(file: Path) -> dict[str, str]:
    """Read settings of the client from a file, a line each; lines that begin with # are comments."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise InputError(f"{file} cannot be read as settings of the Kafka client.") from None
    settings = {}
    for number, line in enumerate(lines, 1):
        name, equals, value = line.partition("=")
        if line.strip() and not line.lstrip().startswith("#"):
            if not equals:
                raise InputError(f"Line {number} of {file} is no setting: write name=value.")
            settings[name.strip()] = value.strip()
    return settings


def consumer_of(servers: str, topic: str, group: str, *, settings: Mapping[str, str] | None = None) -> Any:
    """Make a consumer that commits nothing by itself, begins at the oldest message and prints nothing."""
    try:
        from confluent_kafka import Consumer
    except ImportError:
        raise MissingExtraError(
            "Reading a Kafka topic needs confluent-kafka: pip install 'discreet[kafka]'."
        ) from None
    required = {
        "bootstrap.servers": servers,
        "group.id": group,
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        "auto.offset.reset": "earliest",
        # All partitions leave and arrive together, which is what `KafkaSource` counts on.
        "partition.assignment.strategy": "range,roundrobin",
        "log_level": "0",
    }
    with _translated_errors():
        consumer = Consumer({**(settings or {}), **required})
        try:
            metadata = consumer.list_topics(topic, _LONG).topics.get(topic)
        except BaseException:
            consumer.close()
            raise
    if metadata is None or metadata.error is not None:
        consumer.close()
        raise InputError(f"The Kafka servers have no topic '{topic}' that can be read.")
    return consumer


class KafkaSource:
    """Records from the messages of a topic.

    Messages are requested in bounded batches, and only when the earlier ones are condensed; what the client fetches
    ahead is bounded by its own settings. Which messages were counted is saved with the state, and committed only then.
    On the way back the later of the two is taken, so that no message counts twice. Before partitions go to another
    collector, ``on_leave`` is called, so that the state can be saved first, and ``on_loss`` when they went without a
    word. Both return the position of what stays counted.

    Parameters
    ----------
    consumer
        A confluent-kafka ``Consumer``, or an object with its ``subscribe``, ``consume``, ``committed``, ``assign``,
        ``commit`` and ``close``.
    topic
        The topic.
    records
        How messages are read; CSV has no first line with names here.
    position
        The position of an earlier source.
    """

    def __init__(
        self, consumer: Any, topic: str, records: Records, *, position: Mapping[str, Any] | None = None
    ) -> None:
        self._consumer = consumer
        self._topic = topic
        self._records = records
        self._ranges = _ranges(position or {}, topic)
        self._marks: dict[int, Any] = {}
        self._begins: set[int] = set()
        self._is_member = False
        self.ready_since = 0.0
        """When partitions arrived last, by the monotonic clock: a source that waits for some is not idle."""
        self._failure: BadLineError | None = None
        self.on_leave: Callable[[], Mapping[str, Any]] | None = None
        self.on_loss: Callable[[], Mapping[str, Any]] | None = None
        consumer.subscribe([topic], on_assign=self._arrive, on_revoke=self._leave, on_lost=self._lose)

    def next_batch(self, limit: int) -> Batch | None:
        """Return the records of at most ``limit`` next messages; an empty batch where none came in a second."""
        if self._failure is not None:
            raise self._failure
        received: list[Any] = []
        with _translated_errors():
            # Joining the group takes seconds in which no message can come.
            for _ in range(_JOINING):
                received = self._consumer.consume(limit, _PATIENCE)
                if received or self._is_member:
                    break
        messages = [message for message in received if not _is_idle(message.error())]
        if not messages:
            return empty_batch(len(self._records.columns))
        # A message without a value is a bad line; a blank one would be passed over.
        lines = [message.value() or b"null" for message in messages]
        batch, n_read, self._failure = self._records.read(lines, 1)
        for message in messages[:n_read]:
            self._count(message.partition(), message.offset())
        if self._failure is not None:
            bad = messages[n_read]
            where = f"Message {bad.offset()} of partition {bad.partition()}"
            self._failure = BadLineError(where + str(self._failure).partition(" of the stream")[2])
            # Records before the bad line come first, and the error with the next call.
            if not len(batch):
                raise self._failure
        return batch

    def _count(self, partition: int, offset: int) -> None:
        """Note that a message was counted; offsets between two messages of one assignment belong to no record."""
        ranges = self._ranges.setdefault(partition, [])
        if ranges and offset < ranges[-1][1]:
            raise InputError(
                f"Partition {partition} of the topic '{self._topic}' begins again at message {offset}, and the state "
                f"has those up to {ranges[-1][1] - 1}: the topic was made anew. Name a new state."
            )
        # What lies between was counted by others, so that a new range begins.
        if partition in self._begins or not ranges:
            ranges.append([offset, offset])
            self._begins.discard(partition)
        ranges[-1][1] = offset + 1

    def position(self) -> dict[str, Any]:
        """Return which messages of each partition were counted, as ranges of offsets."""
        return {
            "topic": self._topic,
            "ranges": {
                str(partition): [list(pair) for pair in pairs] for partition, pairs in self._ranges.items()
            },
        }

    def commit(self, position: Mapping[str, Any]) -> None:
        """Commit the offsets of the saved state to the servers."""
        marks = []
        for partition, ranges in _ranges(position, self._topic).items():
            # A partition that has gone to others has no mark, and its offset is theirs to commit.
            mark = self._marks.get(partition)
            if mark is not None:
                mark.offset = ranges[-1][1]
                marks.append(mark)
        if marks:
            with _translated_errors():
                self._consumer.commit(offsets=marks, asynchronous=False)

    def close(self) -> None:
        """Leave the group of consumers."""
        self._consumer.close()

    def _arrive(self, consumer: Any, partitions: Sequence[Any]) -> None:
        """Begin where the state or the servers say, whichever is later; in between others counted."""
        committed = {mark.partition: mark.offset for mark in consumer.committed(list(partitions), _LONG)}
        for mark in partitions:
            ranges = self._ranges.get(mark.partition)
            counted, others = ranges[-1][1] if ranges else -1, committed.get(mark.partition, -1)
            if max(counted, others) >= 0:
                mark.offset = max(counted, others)
            if others > counted:
                self._begins.add(mark.partition)
            self._marks[mark.partition] = mark
        consumer.assign(list(partitions))
        self._is_member, self.ready_since = True, time.monotonic()

    def _leave(self, consumer: Any, partitions: Sequence[Any]) -> None:
        """Save before others go on with some partitions."""
        del consumer
        self._let_go(partitions, self.on_leave)

    def _lose(self, consumer: Any, partitions: Sequence[Any]) -> None:
        """Forget what was not committed: who has the partitions now reads it again."""
        del consumer
        self._let_go(partitions, self.on_loss)

    def _let_go(self, partitions: Sequence[Any], settle: Callable[[], Mapping[str, Any]] | None) -> None:
        if settle is not None:
            self._ranges = _ranges(settle(), self._topic)
        for mark in partitions:
            self._marks.pop(mark.partition, None)
        self._is_member = False


def joined_position(first: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the position of two merged states; where both counted a message, they are refused.

    >>> joined_position({"topic": "a", "ranges": {"0": [[0, 5]]}}, {"topic": "a", "ranges": {"0": [[5, 9]]}})
    {'topic': 'a', 'ranges': {'0': [[0, 9]]}}
    """
    topic = first.get("topic")
    if topic is None or topic != other.get("topic"):
        return {}
    joined = _ranges(first, topic)
    for partition, ranges in _ranges(other, topic).items():
        union: list[list[int]] = []
        for start, stop in sorted([*joined.get(partition, []), *ranges]):
            if union and start < union[-1][1]:
                raise InputError(
                    f"Both states have messages {start} to {min(stop, union[-1][1]) - 1} of partition {partition} of "
                    f"the topic '{topic}', whose records would count twice: a collector died before it could say how "
                    "far it was, or a state was merged before. Merge the states without one of the two."
                )
            if union and start == union[-1][1]:
                union[-1][1] = stop
            else:
                union.append([start, stop])
        joined[partition] = union
    return {"topic": topic, "ranges": {str(partition): ranges for partition, ranges in joined.items()}}


def _ranges(position: Mapping[str, Any], topic: str) -> dict[int, list[list[int]]]:
    """Return the ranges of a position; those of earlier versions began at the oldest message."""
    if position.get("topic") != topic:
        return {}
    if "offsets" in position:
        return {int(partition): [[0, offset]] for partition, offset in position["offsets"].items()}
    return {
        int(partition): [list(pair) for pair in pairs]
        for partition, pairs in position.get("ranges", {}).items()
    }


def _is_idle(error: Any) -> bool:
    """Whether a message holds no record: the end of a partition, or word that partitions are lost, which `_lose` gets.

    Any other error is raised, without its message.
    """
    if error is None:
        return False
    if error.name() in ("_PARTITION_EOF", "_MAX_POLL_EXCEEDED"):
        return True
    raise InputError(f"The Kafka servers answered with {error.name()}.")


@contextlib.contextmanager
def _translated_errors() -> Iterator[None]:
    """Turn the client's exceptions into ours."""
    try:
        from confluent_kafka import KafkaException
    except ImportError:
        yield
        return
    failure: DiscreetError | None = None
    try:
        yield
    except KafkaException as error:
        names = [inner.name() for inner in error.args if hasattr(inner, "name")]
        words = ", ".join(names) or type(error).__name__
        failure = InputError(f"The Kafka client failed: {words}.")
        if _LOST & set(names):
            failure = LostPartitionsError(f"The Kafka servers moved the partitions elsewhere ({words}).")
        elif _UNREACHABLE & set(names):
            failure = NetworkError(f"No Kafka server answers ({words}).")
    if failure is not None:
        raise failure from None
