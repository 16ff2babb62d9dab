"""The relay as a contestant, with default settings."""

from subprocess import TimeoutExpired
from typing import Any, Final, Literal

from tests.support.relays.relay_process import Installation, RelayProcess
from tools.bench.measuring.usage import is_running
from tools.bench.measuring.workload import FINISH_SCHEMA, SCHEMA
from tools.bench.peers.contestant import PARTITIONS, BenchFailed, RunSetup, Topics

_UNCOMPILED: Final = "tools.bench.peers.uncompiled_relay"


class Relay:
    """A relay that publishes the rows of a run.

    The constructor's `form` says whether a message has one row or the rows of an event;
    `uncompiled`, whether compiled modules are hidden; `producers` is the setting of that name.
    """

    def __init__(
        self,
        setup: RunSetup,
        *,
        form: Literal["row", "event"] = "row",
        uncompiled: bool = False,
        producers: int = 1,
    ) -> None:
        self.packed = form == "event"
        name = f"relay_{setup.label}"
        self.topics = Topics((name,), f"{name}_finish")
        self._installation = Installation(
            name,
            setup.folder,
            setup.source,
            setup.kafka,
            setup.zookeeper,
            session_timeout_seconds=6,
            **_instance(setup, form, producers),
        )
        self._map(setup)
        self._process = RelayProcess(
            self._installation, module=_UNCOMPILED if uncompiled else "relay"
        )
        self._process.fresh = True
        self._open = True
        self._started = False

    def _map(self, setup: RunSetup) -> None:
        logical, _, _ = setup.tables[0].rpartition("_")
        self._installation.map(
            topics=[
                {"logicDb": SCHEMA, "topic": self.topics.rows[0]},
                {"logicDb": FINISH_SCHEMA, "topic": self.topics.finish},
            ],
            dbs=[{"logicDb": schema, "realDbs": schema} for schema in (SCHEMA, FINISH_SCHEMA)],
            tbs=[{"logicTb": logical or setup.tables[0], "realTbs": ",".join(setup.tables)}],
        )

    @property
    def pid(self) -> int:
        """Return the process id of the relay."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Return False once the process has ended."""
        return is_running(self.pid)

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


def _instance(setup: RunSetup, form: str, producers: int) -> dict[str, Any]:
    """Return the instance's settings. All others are defaults: exactly once, lz4, headers `order`
    and `tag`.
    """
    return {
        "filter": {"filter_regex": f"{SCHEMA}\\..*,{FINISH_SCHEMA}\\..*"},
        "start": {"at": "end" if setup.live else "oldest"},
        "partition": {"partitions_num": PARTITIONS},
        "message": {"rows_per_message": form},
        "transaction": {"producers": producers},
    }
