"""Maxwell, from a release that the caller has unpacked: the newest of Maven Central is from 2019.
Tuned like the other peer.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded import Unavailable
from tools.bench.measuring.workload import FINISH_SCHEMA, SCHEMA
from tools.bench.peers.contestant import RunSetup, Topics
from tools.bench.peers.java_peer import JavaPeer
from tools.bench.peers.modern_java import newest_java

HOME: Final = "ROMA_MAXWELL_HOME"
_NEEDS_JAVA: Final = 17
_MAIN: Final = "com.zendesk.maxwell.Maxwell"
_JDBC_OPTIONS: Final = "useSSL=false&allowPublicKeyRetrieval=true&sessionVariables=sql_log_bin=0"
"""Maxwell's own tables stay out of the binlog, which other programs read in the same run: Canal
1.1.7 does not parse the statuses of Maxwell's DDL on MariaDB 11.4.
"""


def maxwell_home() -> Path | None:
    """Return the folder of the unpacked release; None if none is configured."""
    named = os.environ.get(HOME)
    return Path(named).resolve() if named else None


class Maxwell(JavaPeer):
    """Maxwell, reading the binlog from the first row, with the tables' present schema."""

    name: ClassVar[str] = "maxwell"

    def __init__(self, setup: RunSetup) -> None:
        super().__init__(setup, Topics.by_table(f"maxwell_{setup.label}", setup.tables))

    @classmethod
    def fetch(cls) -> str:
        """Return the version of the unpacked release. Raises Unavailable if there is none."""
        found = sorted(_files().glob("maxwell-*.jar"))
        version = re.search(r"maxwell-([\d.]+)\.jar$", str(found[-1])) if found else None
        if version is None:
            raise Unavailable(
                "There is no Maxwell in the folder.",
                f"Unpack a release and name its folder by {HOME}.",
            )
        return version[1]

    def _prepare(self) -> None:
        super()._prepare()
        self._write("config.properties", {**self._source(), **self._sink()})

    def _command(self) -> Sequence[str | Path]:
        client = sorted((_files() / "kafka-clients").glob("*.jar"), key=_version)[-1]
        classpath = os.pathsep.join((f"{_files()}/*", str(client)))
        # Maxwell ignores this option in its configuration file
        start = f"{self.setup.written.file}:{self.setup.written.offset}"
        return self._java(
            newest_java(_NEEDS_JAVA),
            classpath,
            _MAIN,
            "--config",
            "config.properties",
            f"--init_position={start}",
        )

    def _source(self) -> dict[str, object]:
        database = self.setup.source
        return {
            "host": database.host,
            "port": database.port,
            "user": database.user,
            "password": database.password,
            "jdbc_options": _JDBC_OPTIONS,
            "schema_database": f"maxwell_{self.setup.label}",
            "client_id": self.setup.label,
            "replica_server_id": 800_000 + self.port,
            "filter": f"exclude: *.*, include: {SCHEMA}.*, include: {FINISH_SCHEMA}.*",
            "bootstrapper": "none",
        }

    def _sink(self) -> dict[str, object]:
        return {
            "producer": "kafka",
            "kafka_topic": f"maxwell_{self.setup.label}.%{{database}}.%{{table}}",
            "producer_partition_by": "primary_key",
            "kafka.bootstrap.servers": self.setup.kafka.bootstrap,
            "kafka.acks": "all",
            "kafka.compression.type": "lz4",
            "kafka.batch.size": 1_000_000,
            "kafka.linger.ms": 5 if self.setup.live else 20,
            "kafka.buffer.memory": 128 * 1024 * 1024,
        }


def _files() -> Path:
    home = maxwell_home()
    if home is None or not (home / "lib").is_dir():
        raise Unavailable(
            "Maxwell is not here.", f"Unpack a release and name its folder by {HOME}."
        )
    return home / "lib"


def _version(jar: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", jar.name)]
