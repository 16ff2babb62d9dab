"""Copies of existing tables, by the relay and by Debezium's incremental snapshot."""

from collections.abc import Mapping
from typing import ClassVar, Final

import orjson

from relay.operations import Snapshots, WantedSnapshot, Who
from tests.support.waiting import wait_until
from tools.bench.measuring.offsets import Offsets
from tools.bench.measuring.workload import FINISH_SCHEMA, FINISH_TABLE, SCHEMA
from tools.bench.peers.debezium import Debezium
from tools.bench.peers.java_peer import make_topics
from tools.bench.peers.relay import Relay

_READY_S: Final = 90.0
_SIGNALS: Final = "debezium_signal"
_CHUNK_ROWS: Final = 8192
"""Debezium's chunks; the default of 1,024 is slower."""


class RelayCopy(Relay):
    """A relay that copies existing tables on request, while the source has no other changes.

    `copies` is the number of requests, which run one after the other. The first copy goes to the
    topic of the tables, and each further copy to a separate topic.
    """

    copies = 1

    def start(self) -> None:
        """Start the relay and request the copy when it runs."""
        super().start()
        self._process.wait_for("RUNNING", seconds=_READY_S)
        self._snapshots = Snapshots(self._installation.settings, self._installation.session)
        table = f"{SCHEMA}.orders"
        for number in range(self.copies):
            topic = f"{self.topics.rows[0]}_{number}" if number else ""
            wanted = WantedSnapshot((table,), to_topic=topic)
            self._snapshots.start(Who("bench"), wanted, ["shop"])

    def done(self) -> bool:
        """Whether Kafka has committed every row of the first copy."""
        found = self._installation.snapshots.all_of("shop")
        return any(each.state.ended and not each.to_topic for each in found)


class DebeziumCopy(Debezium):
    """Debezium Server with an incremental snapshot, which a row in its signal table starts."""

    name: ClassVar[str] = "debezium-snapshot"

    def start(self) -> "DebeziumCopy":
        """Start the server, and insert the signal row when the server reads the binlog."""
        database, tables = self.setup.source, self.setup.tables
        signals = f"{FINISH_SCHEMA}.{_SIGNALS}"
        database.execute(
            f"CREATE TABLE IF NOT EXISTS {signals} "
            "(id VARCHAR(42) PRIMARY KEY, type VARCHAR(32) NOT NULL, data VARCHAR(2048))"
        )
        super().start()
        offsets, numbers = Offsets(self.setup.kafka), iter(range(1000, 2000))

        def reads() -> bool:
            finish = f"{FINISH_SCHEMA}.{FINISH_TABLE}"
            database.execute(f"INSERT IGNORE INTO {finish} VALUES ({next(numbers)})")
            return offsets.written([self.topics.finish]) > 1

        wait_until(reads, "Debezium to read the binlog", _READY_S)
        asked = {"data-collections": [f"{SCHEMA}.{each}" for each in tables], "type": "incremental"}
        data = orjson.dumps(asked).decode()
        database.execute(
            f"INSERT INTO {signals} VALUES ('{self.setup.label}', 'execute-snapshot', '{data}')"
        )
        return self

    def _prepare(self) -> None:
        super()._prepare()
        make_topics(self.setup.kafka, (f"{self._prefix}.{FINISH_SCHEMA}.{_SIGNALS}",))

    def _source(self) -> Mapping[str, object]:
        return {
            **super()._source(),
            "signal.data.collection": f"{FINISH_SCHEMA}.{_SIGNALS}",
            "incremental.snapshot.chunk.size": _CHUNK_ROWS,
        }
