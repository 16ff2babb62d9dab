"""Finds a person in every store of an installation, and erases it there (ADR 67)."""

from collections.abc import Callable, Collection, Iterable, Iterator
from time import monotonic
from typing import Final

from relay.audit import ERASED, ERASED_ENTRIES, AuditEntry, AuditTrail
from relay.errors import ErasureRefused
from relay.kafka import TombstoneProducer, TopicAdmin, scan_topic
from relay.operations.erasure.instance_stores import InstanceStores
from relay.operations.erasure.left_settings import put_back_settings
from relay.operations.erasure.needles import Needles
from relay.operations.erasure.plan import ErasureChoice, ErasurePlan, Matches, TopicFinding
from relay.operations.erasure.row_topics import find_in_topic, known_topics
from relay.operations.instances.known_instances import defined_instances
from relay.operations.who import Who
from relay.settings import RelaySettings
from relay.state import ErasureTurn, InstanceStore, Paths
from relay.zk import Session

FRESH_SECONDS: Final = 300.0
"""Seconds during which a plan may be executed: later, a key may belong to another row."""
_OLD: Final = (
    f"The search ended more than {FRESH_SECONDS / 60:.0f} minutes ago. Meanwhile rows with its "
    "keys may have been published."
)
_SPOOLED: Final = "The spool of {} has {} bytes, which may contain rows of the person."
_COPIED: Final = (
    "{} copies tables now. Rows that were read before the person's were deleted may still be "
    "published: search again when the copy has ended."
)
_REMOVED: Final = (
    "{} is not defined any more. Its dead letters are read. If it had claims.url, search that "
    "store yourself."
)


class PersonErasure:
    """Erases data with given keys and texts from the stores of one installation.

    `topics` are topics of rows to search besides those to which an instance publishes. `told` is
    called with a short text before each step that may take long. `turn` is this session's right to
    erase; None: a new one.
    """

    def __init__(
        self,
        settings: RelaySettings,
        session: Session,
        needles: Needles,
        topics: Iterable[str] = (),
        told: Callable[[str], object] = str,
        turn: ErasureTurn | None = None,
    ) -> None:
        paths = Paths.of(settings.zookeeper, settings.installation)
        self._turn = turn or ErasureTurn(session, paths, settings.installation)
        self._settings = settings
        self._needles = needles
        self._told = told
        self._named = tuple(topics)
        self._instances = defined_instances(settings, session).settings
        self._store = InstanceStore(session, paths)
        self._admin = TopicAdmin(settings.kafka)
        self._trail = AuditTrail(settings.kafka, settings.installation)
        self._stores = InstanceStores(
            settings, self._instances, self._admin.partition_counts(), needles
        )

    def plan(self) -> ErasurePlan:
        """Search all stores, and return what was found. Nothing is changed."""
        findings: list[TopicFinding] = []
        erased: set[str] = set()
        staying: set[str] = set()
        states = known_topics(self._admin, (*self._named, *self._store.topics.topics()))
        for state in states:
            self._told(f"reading {state.name}")
            finding, claims = find_in_topic(self._settings.kafka, state, self._needles)
            (erased if finding.compacted else staying).update(each.url for each in claims)
            if finding.records or finding.others or finding.alike:
                findings.append(finding)
        self._told("reading dead letters and values outside of Kafka")
        of_keys, of_records, by_text = self._stores.find(erased, staying)
        self._told("reading the audit trail")
        entries = self._trail.holding(self._needles.key_in_any)
        others = self._trail.holding(self._needles.in_any)
        return ErasurePlan(
            tuple(findings),
            of_keys + Matches(audit_entries=entries),
            of_records,
            by_text + Matches(audit_entries=tuple(e for e in others if e not in entries)),
            dict(self._internal({each.name for each in states})),
            tuple(self._notes()),
        )

    def erase(self, plan: ErasurePlan, who: Who, choice: ErasureChoice) -> None:
        """Erase what a plan found; the audit entry before it contains none of the keys and texts.

        Data that was written after the plan was made stays, and the next plan finds it. An
        interrupted erasure can be repeated with a new plan, because values outside of Kafka are
        deleted before the records that point to them. Raises ErasureRefused before anything is
        changed if the plan is older than FRESH_SECONDS, the actor's name or comment contains a key
        or text, an instance has rows in its spool, or another process erases. Raises
        ErasureInterrupted if the ZooKeeper session ends meanwhile.
        """
        self._refuse(who, plan)
        with self._turn.held(who.name):
            self._told("putting back settings of an interrupted erasure")
            put_back_settings(self._settings, self._turn, who.name)
            entry = AuditEntry(who.name, ERASED, "", {}, _told(plan, choice), who.comment)
            self._trail.append(entry)
            self._erase(plan, choice)

    def _erase(self, plan: ErasurePlan, choice: ErasureChoice) -> None:
        chosen = plan.chosen(choice)
        self._told("deleting values outside of Kafka")
        self._stores.remove_values(chosen)
        self._told("writing tombstones and deleting records")
        self._erase_rows(plan.topics, delete_records=choice.delete_records)
        self._told("rewriting dead letters")
        self._stores.remove_letters(chosen, self._turn)
        if chosen.audit_entries:
            self._told("rewriting the audit trail")
            self._trail.erase(chosen.audit_entries, self._turn)

    def _erase_rows(self, topics: Iterable[TopicFinding], *, delete_records: bool) -> None:
        for each in topics:
            if each.compacted:
                producer = TombstoneProducer(self._settings.kafka, self._turn)
                producer.write(each.topic, each.tombstones, each.ends)
            elif delete_records and each.last:
                self._admin.delete_records(each.topic, each.last)

    def _refuse(self, who: Who, plan: ErasurePlan) -> None:
        if monotonic() - plan.made_s > FRESH_SECONDS:
            raise ErasureRefused(_OLD, remedy="Search again, and erase what the search finds.")
        if self._needles.are_in(f"{who.comment}\n{who.name}"):
            raise ErasureRefused(
                "The comment or the actor contains a key or text that is to be erased.",
                remedy="Name the request by a ticket number instead.",
            )
        for status in self._store.statuses():
            if status.spool_bytes:
                raise ErasureRefused(
                    _SPOOLED.format(status.name, status.spool_bytes),
                    remedy="Wait until the spool is empty, then search again.",
                )

    def _internal(self, rows: Collection[str]) -> Iterator[tuple[str, int]]:
        """Yield the internal topics that contain a key or text, except audit and dead letters."""
        prefix = f"{self._settings.installation}."
        read = {self._trail.topic, *self._stores.letter_topics, *rows}
        for topic, partitions in sorted(self._admin.partition_counts().items()):
            if not topic.startswith(prefix) or topic in read:
                continue
            records = scan_topic(self._settings.kafka, topic, partitions)
            count = sum(self._needles.in_any(each.key, each.value) for each in records)
            if count:
                yield topic, count

    def _notes(self) -> Iterator[str]:
        statuses = self._store.statuses()
        reported = {each.name for each in statuses}
        for status in statuses:
            if status.snapshot:
                yield _COPIED.format(status.name)
        for each in self._instances:
            if each.name not in reported:
                yield (
                    f"{each.name} has not reported its status, so it is unknown whether its "
                    "spool has rows."
                )
        for name in self._stores.removed:
            yield _REMOVED.format(name)


def _told(plan: ErasurePlan, choice: ErasureChoice) -> dict[str, object]:
    """Return the audit fields of an erasure: counts and locations, no key and no text."""
    chosen = plan.chosen(choice)
    return {
        "topics": {each.topic: each.records for each in plan.topics if each.records},
        "deleted_records": choice.delete_records,
        "by_text": choice.by_text,
        "dead_letters": {name: len(ids) for name, ids in chosen.dead_letters.items()},
        "claims": {name: len(paths) for name, paths in chosen.claims.items()},
        ERASED_ENTRIES: [str(each.reference) for each in chosen.audit_entries if each.reference],
    }
