"""Our relay as a contestant, as operators run it."""

from subprocess import TimeoutExpired
from typing import Any, Final, Literal

import psutil

from tests.support.relays.relay_process import Installation, RelayProcess
from tools.bench.measuring.workload import FINISH_SCHEMA, SCHEMA
from tools.bench.peers.contestant import PARTITIONS, BenchFailed, Stage, Topics

_UNCOMPILED: Final = "tools.bench.peers.uncompiled_relay"


class Relay:
    """The relay with a message per row or per event; `uncompiled` takes its compiled code away."""

    def __init__(
        self, stage: Stage, *, form: Literal["row", "event"] = "row", uncompiled: bool = False
    ) -> None:
        self.packed = form == "event"
        name = f"relay_{stage.label}"
        self.topics = Topics((name,), f"{name}_finish")
        self._installation = Installation(
            name,
            stage.folder,
            stage.source,
            stage.kafka,
            stage.zookeeper,
            session_timeout_seconds=6,
            **_instance(stage, form),
        )
        self._map(stage)
        self._process = RelayProcess(
            self._installation, module=_UNCOMPILED if uncompiled else "relay"
        )
        self._open = True
        self._started = False

    def _map(self, stage: Stage) -> None:
        logical, _, _ = stage.tables[0].rpartition("_")
        self._installation.map(
            topics=[
                {"logicDb": SCHEMA, "topic": self.topics.rows[0]},
                {"logicDb": FINISH_SCHEMA, "topic": self.topics.finish},
            ],
            dbs=[{"logicDb": schema, "realDbs": schema} for schema in (SCHEMA, FINISH_SCHEMA)],
            tbs=[{"logicTb": logical or stage.tables[0], "realTbs": ",".join(stage.tables)}],
        )

    @property
    def pid(self) -> int:
        """Return the process id of the relay."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Return False once the process has ended, also before its status is collected."""
        return psutil.Process(self.pid).status() != psutil.STATUS_ZOMBIE

    def start(self) -> None:
        """Start the relay and return when it answers."""
        self._process.start()
        self._started = True

    def close(self) -> None:
        """Stop the relay. Raises BenchFailed if it does not end in time."""
        if not self._open:
            return
        self._open = False
        self._installation.close()
        try:
            if self._started:
                self._process.stop()
        except TimeoutExpired as exc:
            raise BenchFailed(
                f"It did not end when it was told to. Its log ends:\n{self.log_tail()}"
            ) from exc

    def log_tail(self) -> str:
        """Return the end of the relay's log, for error messages."""
        return self._process.log_tail()


def _instance(stage: Stage, form: str) -> dict[str, Any]:
    """Everything else is as it comes: exactly once, lz4, the headers `order` and `tag`."""
    return {
        "filter": {"filter_regex": f"{SCHEMA}\\..*,{FINISH_SCHEMA}\\..*"},
        "start": {"at": "end" if stage.live else "oldest"},
        "partition": {"partitions_num": PARTITIONS},
        "message": {"rows_per_message": form},
    }
