"""Changes an instance's position record on an operator's order.

A producer with the instance's own transactional id calls `init_transactions` and then writes the
change. From then on Kafka refuses messages of the leading relay. That relay stops its run, is
elected again, and reads the new record. The present record is read after `init_transactions`, when
no other process can write it. The audit entry is part of the same transaction. A leader with
`delivery = "at_least_once"` cannot be fenced, so a change is refused while it leads.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from time import time
from typing import Any, Final, TypeAlias

from relay.audit import AuditEntry, AuditTrail
from relay.errors import Fenced, MoveRefused, StoreUnreachable
from relay.ha import Election
from relay.model.records.position_record import PositionRecord
from relay.operations.who import Who
from relay.pipeline.delivery.new_producer import fenced_record, single_producer
from relay.position import KafkaPositionStore
from relay.settings import InstanceSettings, RelaySettings
from relay.state import InstanceStore, Paths
from relay.zk import Session

_COMMIT_SECONDS: Final = 30.0
_ATTEMPTS: Final = 5
"""Number of attempts: a fenced leader needs some tenths of a second to lead again, a change some
hundredths.
"""


@dataclass(frozen=True, slots=True)
class Act:
    """An operator's change of an instance's position record.

    name      its name in the audit trail
    change    makes the new record from the present one
    fields    returns the audit fields of a record
    contents  documents of mapping sets by digest, which the new record may name; None: it names no
              set that the position topic lacks
    """

    name: str
    change: Callable[[PositionRecord | None], PositionRecord]
    fields: Callable[[PositionRecord | None], Mapping[str, Any]]
    contents: Mapping[str, Mapping[str, str]] | None = None


Written: TypeAlias = tuple[PositionRecord | None, PositionRecord]
"""The record before and after a change."""


class FencedRecord:
    """Changes the position record of one instance. `store` reads the record."""

    def __init__(
        self, settings: RelaySettings, instance: InstanceSettings, session: Session
    ) -> None:
        paths = Paths.of(settings.zookeeper, settings.installation)
        self.store = KafkaPositionStore(settings.kafka, settings.installation, instance.name)
        self._settings = settings
        self._instance = instance
        self._notes = InstanceStore(session, paths)
        self._election = Election(session, paths.leader(instance.name), "by hand")

    @property
    def leader(self) -> str | None:
        """The relay that leads the instance now, None if none leads. Raises StoreUnreachable."""
        return self._election.leader()

    def write(self, act: Act, who: Who) -> Written:
        """Carry out a change, and return the record before and after it.

        If another producer fences this one before the commit, the change is tried again. Raises
        Fenced if that happens at every attempt; nothing was changed then. Raises MoveRefused if a
        relay leads an instance with `delivery = "at_least_once"`, and the errors of `act.change`.
        """
        self._refuse_without_fence()
        self._new_trail().ensure_topic()
        for attempts_left in reversed(range(_ATTEMPTS)):
            try:
                written = self._write_once(act, who)
                break
            except Fenced:
                if not attempts_left:
                    raise
        self._call()
        return written

    def _write_once(self, act: Act, who: Who) -> Written:
        trail = self._new_trail()
        trail.begin_chain()
        own = self._settings.installation, self._settings.kafka, self._instance
        with closing(single_producer(*own)) as producer:
            producer.open()
            before = fenced_record(*own, self.store.read)
            after, kept = self.store.keep_mappings(act.change(before), act.contents or {})
            entry = AuditEntry(
                who.name,
                act.name,
                self._instance.name,
                act.fields(before),
                act.fields(after),
                who.comment,
            )
            for message in (
                trail.message(entry),
                *self.store.history_messages(after, int(time() * 1000)),
                *kept,
            ):
                producer.send(message)
            producer.commit(self.store.message(after)).result(_COMMIT_SECONDS)
        return before, after

    def _new_trail(self) -> AuditTrail:
        """Return an audit trail for one attempt. An aborted transaction ends its hash chain."""
        return AuditTrail(self._settings.kafka, self._settings.installation)

    def _refuse_without_fence(self) -> None:
        """Refuse `at_least_once` while a relay leads.

        That mode has no fence: the leader would continue and overwrite this change with its own
        position.
        """
        if self._instance.transaction.delivery == "at_least_once" and (leader := self.leader):
            raise MoveRefused(
                f"{leader} leads {self._instance.name}. With transaction.delivery = "
                '"at_least_once" it cannot be fenced, and would overwrite this change.',
                remedy="Stop the relays of this instance, then repeat the command.",
            )

    def _call(self) -> None:
        """Ask the leader to read the record immediately.

        If ZooKeeper does not answer, the leader detects the change at its next commit.
        """
        try:
            self._notes.call(self._instance.name)
        except StoreUnreachable:
            return
