"""The stores and documents that a session reads and writes, as values."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from relay.audit import AuditEntry
from relay.errors import RelayError, StoreUnreachable
from relay.ha import Assignment
from relay.model.message import OutboundMessage
from relay.model.names.mapping_name import MappingName
from relay.model.records.position_record import PositionRecord
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.settings import RelaySettings
from relay.state import StartNote, SwitchNote
from tests.support.rows.publishers import Surroundings
from tests.unit.pipeline.checkpoint.test_commit_steps import MAPPING
from tests.unit.pipeline.supervision.leader.memory_kafka import MemoryKafka


def settings(transaction: Mapping[str, object] | None = None) -> RelaySettings:
    """Return settings of one instance, `shop`; its servers are not there."""
    return RelaySettings.model_validate(
        {
            "kafka": {"bootstrap_servers": "nowhere:1"},
            "zookeeper": {"hosts": "nowhere:1"},
            "instances": [
                {
                    "name": "shop",
                    "source": {"host": "nowhere", "user": "u"},
                    "transaction": transaction or {},
                }
            ],
        }
    )


class Around(Surroundings):
    """The stores of a session: position, mapping, topics and audit trail."""

    topic = "position"
    name = MappingName(1)

    def refuse_left(self, _: str) -> None:
        """Refuse nothing: no newer set was saved."""

    def __init__(self, kafka: MemoryKafka, journal: list[str]) -> None:
        super().__init__(MAPPING, {"shop": 1})
        self._kafka = kafka
        self._journal = journal
        self.mapping_error: RelayError | None = None

    def message(self, record: PositionRecord | AuditEntry) -> OutboundMessage:
        if isinstance(record, AuditEntry):
            return OutboundMessage("audit", 0, None, record.act.encode(), ())
        return self._kafka.note(record)

    def ensure_topic(self) -> bool:
        """Return whether the topic was made just now."""
        return False

    def read(self, *_: object, **__: object) -> Any:
        self._journal.append("record")
        return self._kafka.record

    def kept_mapping(self, _: str) -> None:
        return None

    def published_set(self, *_: object) -> None:
        """Return no set: the record names the active one."""
        return

    def begin(self, *_: object) -> None:
        if self.mapping_error is not None:
            raise self.mapping_error


class Notes:
    """The documents of the instance in ZooKeeper. `away`: it cannot be reached."""

    topics: Any = None
    key_forms: Any = None

    def __init__(self) -> None:
        self.note: StartNote | None = None
        self.away = False

    def leave(self) -> None:
        """From now on ZooKeeper cannot be reached."""
        self.away = True

    def started(self, _: str) -> StartNote | None:
        self._reach()
        return self.note

    def note_start(self, _: str, note: StartNote) -> None:
        self._reach()
        self.note = note

    def _reach(self) -> None:
        if self.away:
            raise StoreUnreachable("ZooKeeper does not answer.")


class Failover:
    """Chooses the only server there is; `switches` are told to the session once."""

    def __init__(self, journal: list[str], server: Any) -> None:
        self._journal = journal
        self._server = server
        self.switches: tuple[SwitchNote, ...] = ()
        self.before_choice: Callable[[], None] = lambda: None

    def choose(self, record: PositionRecord | None) -> SourceChoice:
        self.before_choice()
        self._journal.append("choice")
        return SourceChoice({"": self._server}, record, self.switches)

    def switched(self, switch: SwitchNote) -> None:
        self._journal.append(f"switched to {switch.to}")

    @contextmanager
    def streaming(self) -> Iterator[None]:
        yield


class Spooling:
    """A spool that is not used."""

    enabled = False

    @contextmanager
    def spool_if_slow(self) -> Iterator[None]:
        yield


class ManualAssignments:
    """Lets the relay take the instance; `wanted` is another relay that should lead."""

    wanted: Assignment | None = None

    def may_take(self, _: str) -> bool:
        return self.wanted is None

    def assignment(self, _: str) -> Assignment | None:
        return self.wanted

    def taken(self, _: str, tried_by: Assignment | None) -> None: ...

    def on_change(self, _: str, __: Callable[[], None]) -> None: ...

    def forget(self, _: str, __: Callable[[], None]) -> None: ...

    def gives_way(self, _: str) -> Assignment | None:
        return self.wanted


class Sizes:
    def new_client(self) -> Any:
        return None
