"""Changes how rows of a topic are assigned to partitions. A plan shows the effect on consumers
before the change.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from relay.errors import MoveRefused
from relay.ha import Election
from relay.kafka import TopicAdmin
from relay.model.records.hashed_forms import ONE_MORE
from relay.model.records.position_record import PositionRecord
from relay.model.records.topic_partitioning import TopicPartitioning, repartitioned_share
from relay.operations.fenced_record import Act, FencedRecord
from relay.operations.who import Who
from relay.settings import InstanceSettings, RelaySettings
from relay.state import KeyFormStore, Paths, TopicAgreementStore
from relay.zk import Session


@dataclass(frozen=True, slots=True)
class RepartitionPlan:
    """The effect of assigning the rows of a topic differently to partitions.

    before        the present number of partitions
    after         the new number and rules
    moved         the share of keys that get another partition because of the number alone
    rules_differ  whether the rules differ too, so that every key may move
    others        instances of the topic that assign rows differently from `after`: this instance
                  waits until they are changed too
    leader        the relay that leads the instance, None if none does
    table         the logical table whose keys alone may move, None: all rows
    forms         the text forms in which keys of that table were hashed
    is_compacted  whether the topic keeps the last row of each key in each partition
    """

    topic: str
    before: int
    after: TopicPartitioning
    moved: Fraction
    rules_differ: bool
    others: Mapping[str, TopicPartitioning]
    leader: str | None
    table: str | None = None
    forms: tuple[str, ...] = ()
    is_compacted: bool = False


class Repartition:
    """Plans and carries out a repartitioning of one instance's topics."""

    def __init__(
        self, settings: RelaySettings, instance: InstanceSettings, session: Session
    ) -> None:
        self.name = instance.name
        self._settings = settings
        self._instance = instance
        self._session = session
        self._paths = Paths.of(settings.zookeeper, settings.installation)
        self._record = FencedRecord(settings, instance, session)
        self._agreements = TopicAgreementStore(session, self._paths)
        self._key_forms = KeyFormStore(session, self._paths)

    def plan(
        self, topic: str, partitions: int | None = None, table: str | None = None
    ) -> RepartitionPlan:
        """Return the effect of assigning the rows of a topic to `partitions` partitions; nothing is
        changed.

        `partitions` None: the number in the settings. With `table`, the number stays, and keys of
        this logical table may be hashed in one more text form. Raises MoveRefused (also if both are
        given), BrokerUnreachable, PositionUnreadable, StoreUnreachable.
        """
        if table is not None and partitions is not None:
            raise MoveRefused(
                f"All tables of topic {topic} have one partition count; {table} cannot have "
                "another one.",
                remedy="Give the partition count or --table, not both.",
            )
        record = None if self._record.store.ensure_topic() else self._record.store.read()
        return self._plan(record, topic, partitions, table)

    def carry_out(
        self, plan: RepartitionPlan, who: Who, *, without: str | None = None
    ) -> RepartitionPlan:
        """Assign rows as planned from the next one on, and return the plan as it was carried out.

        `without` names another instance that is removed permanently, so that this instance need not
        wait for it. Raises MoveRefused if the record has changed since the plan.
        """
        self._check(plan, without)

        def change(record: PositionRecord | None) -> PositionRecord:
            now = self._plan(record, plan.topic, plan.after.partitions, plan.table)
            if record is None or replace(now, others={}, leader=None) != replace(
                plan, others={}, leader=None
            ):
                raise MoveRefused(
                    "The position record was changed after the plan was made.",
                    remedy="Make the plan again, and check it.",
                )
            return _changed(record, plan)

        self._record.write(
            Act("position.repartition", change, lambda record: _fields(record, plan, without)), who
        )
        if plan.table is not None:
            return plan
        # This instance joins the topic again with its next row, as do instances changed later.
        gone = (self.name, without)
        self._agreements.change(plan.topic, lambda agreement: agreement.without_feeders(gone))
        return _without(plan, without)

    def _check(self, plan: RepartitionPlan, without: str | None) -> None:
        if without is not None:
            if plan.table is not None:
                raise MoveRefused(
                    "--without has no effect on the keys of one table.",
                    remedy="Give --table or --without, not both.",
                )
            self._check_gone(plan, without)
        elif plan.table is None and plan.before == plan.after.partitions and not plan.rules_differ:
            raise MoveRefused(
                f"Rows of topic {plan.topic} are already partitioned like this.",
                remedy="Nothing to do.",
            )

    def _plan(
        self,
        record: PositionRecord | None,
        topic: str,
        partitions: int | None,
        table: str | None,
    ) -> RepartitionPlan:
        before = None if record is None else self._partitions(record, topic, table)
        if record is None or before is None:
            raise MoveRefused(
                f"{self.name} has published no row to topic {topic}.",
                remedy="Name a topic that it publishes to.",
            )
        # A part of a transaction contains no rows of a table that stopped the instance before it.
        if record.split is not None and table is None:
            raise MoveRefused(
                f"A part of the transaction at {record.split.begin} was published with the "
                "former assignment to partitions.",
                remedy="Restore the former settings until all of it is published; then try again.",
            )
        after = TopicPartitioning(
            self._wanted(topic, partitions, before), self._instance.partitioning_rules
        )
        compacted = self._check_topic(topic, after, table)
        digest = after.rules.digest
        return RepartitionPlan(
            topic,
            before,
            after,
            repartitioned_share(before, after.partitions),
            record.placed_by.get(topic, digest) != digest,
            self._agreements.read(topic).differing(self.name, after),
            self._record.leader,
            table,
            () if table is None else self._known_forms(record, topic, table),
            compacted,
        )

    def _partitions(self, record: PositionRecord, topic: str, table: str | None) -> int | None:
        """Return the partitions of the instance's rows.

        Keys of a table may also be accepted before the instance's first row, because other
        instances feed the topic then.
        """
        if topic in record.partitions or table is None:
            return record.partitions.get(topic)
        feeders = self._agreements.read(topic).feeders.values()
        return next((each.partitioning.partitions for each in feeders), None)

    def _known_forms(self, record: PositionRecord, topic: str, table: str) -> tuple[str, ...]:
        """Return the forms in which any instance of the topic hashed keys of a table.

        Raises MoveRefused if a further form is already accepted, or no key of the table is known.
        """
        own = record.hashed_forms.get(topic, {}).get(table, ())
        if ONE_MORE in own:
            raise MoveRefused(
                f"One further text form of the keys of {table} is accepted already.",
                remedy="Start the instance: its next rows of the table are published with the "
                "new form.",
            )
        rules = self._instance.partitioning_rules.digest
        shared = self._key_forms.read_all(topic, table, rules)
        forms = tuple(dict.fromkeys((*own, *shared)))
        if not forms:
            raise MoveRefused(
                f"No hashed key of the table {table} is recorded for topic {topic}.",
                remedy="Give the logical table that the error PARTITIONS_CHANGED names.",
            )
        return forms

    def _wanted(self, topic: str, partitions: int | None, before: int) -> int:
        setting = self._instance.partitions_of(topic)
        if partitions is not None and setting not in (None, partitions):
            reason = (
                f"partitions_num of {self.name} is {setting}, not {partitions}, so its relay "
                "would stop again."
            )
            raise MoveRefused(
                reason, remedy="Set partitions_num first, or do not give a number of partitions."
            )
        return partitions or setting or before

    def _check_topic(self, topic: str, after: TopicPartitioning, table: str | None) -> bool:
        """Return whether the topic is compacted. Refuse a topic whose rows cannot be assigned."""
        state = TopicAdmin(self._settings.kafka).state(topic)
        if state is None:
            raise MoveRefused(f"Kafka has no topic {topic}.", remedy="Create the topic first.")
        is_compacted = (
            "compact" in state.settings.get("cleanup.policy", "")
            or self._instance.topic.retention_of(topic) == "compact"
        )
        # An accepted form moves no key whose text has the same hash in both forms.
        if is_compacted and table is None:
            reason = (
                f"Topic {topic} is compacted: the last row of a moved key would stay in its "
                "former partition permanently."
            )
            raise MoveRefused(
                reason,
                remedy=(
                    "Publish to a new topic (mapping), and make new first copies of its tables."
                ),
            )
        if state.partitions < after.partitions:
            reason = (
                f"Topic {topic} has {state.partitions} partitions, and rows are to go to "
                f"{after.partitions}."
            )
            raise MoveRefused(
                reason,
                remedy=f"Raise the topic to {after.partitions} partitions first "
                "(kafka-topics.sh --alter).",
            )
        return is_compacted

    def _check_gone(self, plan: RepartitionPlan, instance: str) -> None:
        if instance not in plan.others:
            raise MoveRefused(
                f"Instance {instance} is not among the other instances that publish to "
                f"topic {plan.topic}.",
                remedy="Name an instance that the plan lists.",
            )
        leader = Election(self._session, self._paths.leader(instance), "by hand").leader()
        if leader is not None:
            raise MoveRefused(
                f"Relay {leader} leads instance {instance}, which publishes to the topic too.",
                remedy="Change the partition settings of that instance as well. If it is "
                "permanently removed, stop its relays first.",
            )


def _without(plan: RepartitionPlan, instance: str | None) -> RepartitionPlan:
    return replace(
        plan, others={name: each for name, each in plan.others.items() if name != instance}
    )


def _changed(record: PositionRecord, plan: RepartitionPlan) -> PositionRecord:
    forms = record.hashed_forms
    if plan.table is not None:
        tables = {**forms.get(plan.topic, {}), plan.table: (*plan.forms, ONE_MORE)}
        return replace(record, hashed_forms={**forms, plan.topic: tables})
    if plan.rules_differ:
        # The forms describe the keys that the former rules hashed.
        forms = {topic: each for topic, each in forms.items() if topic != plan.topic}
    return replace(
        record,
        partitions={**record.partitions, plan.topic: plan.after.partitions},
        placed_by={**record.placed_by, plan.topic: plan.after.rules.digest},
        hashed_forms=forms,
    )


def _fields(
    record: PositionRecord | None, plan: RepartitionPlan, without: str | None
) -> Mapping[str, Any]:
    if record is None:
        return {}
    fields: dict[str, Any] = {
        "topic": plan.topic,
        "partitions": record.partitions.get(plan.topic),
        "rules": record.placed_by.get(plan.topic, ""),
    }
    if plan.table is not None:
        forms = record.hashed_forms.get(plan.topic, {}).get(plan.table, ())
        fields |= {"table": plan.table, "forms": list(forms)}
    return fields if without is None else {**fields, "without": without}
