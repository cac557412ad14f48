"""A Kafka topic as a source of records, one a message; needs the extra ``kafka`` (confluent-kafka)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from discreet.core.errors import DiscreetError, InputError
from discreet.engines.streams.lines import empty_batch
from discreet.engines.streams.records import BadLineError, Batch, Records

_PATIENCE = 1.0
"""How many seconds to wait for a message before an empty batch is returned."""
_LONG = 10.0
"""How many seconds to wait for an answer of the servers."""


class MissingExtraError(DiscreetError):
    """A library that comes with an extra is not installed."""


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
        "log_level": "0",
    }
    with _translated_errors():
        consumer = Consumer({**(settings or {}), **required})
        metadata = consumer.list_topics(topic, _LONG).topics.get(topic)
    if metadata is None or metadata.error is not None:
        consumer.close()
        raise InputError(f"The Kafka servers have no topic '{topic}' that can be read.")
    return consumer


class KafkaSource:
    """Records from the messages of a topic.

    Messages are requested in bounded batches, and only when the earlier ones are condensed; what the client fetches
    ahead is bounded by its own settings. The offsets are saved with the state, and committed only then. On the way back
    the later of the two is taken, so that no message counts twice. Before partitions go to another collector,
    ``on_leave`` is called, so that the state can be saved first.

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
        The offsets an earlier source said.
    """

    def __init__(
        self, consumer: Any, topic: str, records: Records, *, position: Mapping[str, Any] | None = None
    ) -> None:
        self._consumer = consumer
        self._topic = topic
        self._records = records
        saved = (position or {}).get("offsets", {}) if (position or {}).get("topic") == topic else {}
        self._saved = {int(partition): int(offset) for partition, offset in saved.items()}
        self._offsets: dict[int, int] = {}
        self._marks: dict[int, Any] = {}
        self._failure: BadLineError | None = None
        self.on_leave: Callable[[], None] | None = None
        consumer.subscribe([topic], on_assign=self._arrive, on_revoke=self._leave)

    def next_batch(self, limit: int) -> Batch | None:
        """Return the records of at most ``limit`` next messages; an empty batch where none came in a second."""
        if self._failure is not None:
            raise self._failure
        with _translated_errors():
            received = self._consumer.consume(limit, _PATIENCE)
        messages = [message for message in received if not _is_idle(message.error())]
        if not messages:
            return empty_batch(len(self._records.columns))
        lines = [message.value() or b"null" for message in messages]
        batch, n_read, self._failure = self._records.read(lines, 1)
        for message in messages[:n_read]:
            self._offsets[message.partition()] = message.offset() + 1
        if self._failure is not None:
            bad = messages[n_read]
            where = f"Message {bad.offset()} of partition {bad.partition()}"
            self._failure = BadLineError(where + str(self._failure).partition(" of the stream")[2])
            if not len(batch):
                raise self._failure
        return batch

    def position(self) -> dict[str, Any]:
        """Return the next offset of each partition."""
        offsets = self._saved | self._offsets
        return {
            "topic": self._topic,
            "offsets": {str(partition): offsets[partition] for partition in offsets},
        }

    def commit(self, position: Mapping[str, Any]) -> None:
        """Commit the offsets of the saved state to the servers."""
        marks = []
        for partition, offset in position["offsets"].items():
            mark = self._marks.get(int(partition))
            if mark is not None:
                mark.offset = offset
                marks.append(mark)
        if marks:
            with _translated_errors():
                self._consumer.commit(offsets=marks, asynchronous=False)

    def close(self) -> None:
        """Leave the group of consumers."""
        self._consumer.close()

    def _arrive(self, consumer: Any, partitions: Sequence[Any]) -> None:
        """Begin where the saved state or the servers say, whichever is later."""
        committed = {mark.partition: mark.offset for mark in consumer.committed(list(partitions), _LONG)}
        for mark in partitions:
            later = max(self._saved.get(mark.partition, -1), committed.get(mark.partition, -1))
            if later >= 0:
                mark.offset = later
            self._marks[mark.partition] = mark
        consumer.assign(list(partitions))

    def _leave(self, consumer: Any, partitions: Sequence[Any]) -> None:
        """Save before others go on with some partitions, and forget where they were."""
        del consumer
        if self.on_leave is not None:
            self.on_leave()
        for mark in partitions:
            for offsets in (self._offsets, self._saved, self._marks):
                offsets.pop(mark.partition, None)


def _is_idle(error: Any) -> bool:
    """Whether a message is the mark at the end of a partition; any other error is raised, without its message."""
    if error is None:
        return False
    if error.name() == "_PARTITION_EOF":
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
    try:
        yield
    except KafkaException as error:
        names = [inner.name() for inner in error.args if hasattr(inner, "name")]
        raise InputError(f"The Kafka client failed: {', '.join(names) or type(error).__name__}.") from None
