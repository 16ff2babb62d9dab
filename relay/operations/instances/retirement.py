"""Retires an instance that will never publish again: removes it from the documents in ZooKeeper
that name the instances of a topic.
"""

from relay.audit import AuditEntry, AuditTrail
from relay.errors import MoveRefused
from relay.ha import Election
from relay.operations.who import Who
from relay.settings import RelaySettings
from relay.state import Paths, TopicAgreementStore, rows_of
from relay.zk import Session


class Retirement:
    """Retires one instance, so that no other instance waits for it (ADR 81)."""

    def __init__(self, settings: RelaySettings, instance: str, session: Session) -> None:
        paths = Paths.of(settings.zookeeper, settings.installation)
        self._instance = instance
        self._agreements = TopicAgreementStore(session, paths)
        self._election = Election(session, paths.leader(instance), "by hand")
        self._trail = AuditTrail(settings.kafka, settings.installation)

    def topics(self) -> tuple[str, ...]:
        """Return the topics to which the instance publishes rows, or statements about them, sorted.

        Raises StoreUnreachable.
        """
        return tuple(sorted(set(map(rows_of, self._names()))))

    def _names(self) -> tuple[str, ...]:
        return tuple(
            name
            for name in self._agreements.names()
            if self._instance in self._agreements.read(name).feeders
        )

    def carry_out(self, who: Who) -> tuple[str, ...]:
        """Remove the instance from the documents of its topics, and return the topics. If the
        instance starts again, it is added again.

        The audit entry is written first. Raises MoveRefused if a relay leads the instance, or if
        the instance publishes to no topic.
        """
        if leader := self._election.leader():
            raise MoveRefused(
                f"Relay {leader} leads instance {self._instance}.",
                remedy="Remove the instance from the configuration of its relays, then retire "
                "it again.",
            )
        names, topics = self._names(), self.topics()
        if not topics:
            raise MoveRefused(
                f"Instance {self._instance} publishes to no topic.",
                remedy="Check the name of the instance: `roma status` lists all instances.",
            )
        before: dict[str, object] = {"topics": list(topics)}
        after: dict[str, object] = {"topics": []}
        self._trail.append(
            AuditEntry(who.name, "instance.retired", self._instance, before, after, who.comment)
        )
        for name in names:
            self._agreements.change(name, lambda found: found.without_feeders((self._instance,)))
        return topics
