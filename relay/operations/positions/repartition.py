"""Rows of a topic placed otherwise from now on: what that means for consumers, and the change of
the position record.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from relay.errors import MoveRefused
from relay.ha import Election
from relay.kafka import TopicAdmin
from relay.model.records.position_record import PositionRecord
from relay.model.records.topic_placing import TopicPlacing, moved_share
from relay.operations.fenced_record import Act, FencedRecord
from relay.operations.who import Who
from relay.settings import InstanceSettings, RelaySettings
from relay.state import Paths, TopicAgreementStore
from relay.zk import Session


@dataclass(frozen=True, slots=True)
class RepartitionPlan:
    """What a change of the placing means.

    `before` are the partitions so far. `moved` is the share of keys that get another partition by
    the count alone; `rules_differ`: other rules may move every key. `others` are the instances that
    publish to the topic and place rows otherwise than `after`: this one waits until they do as
    well. `leader` is the relay that leads the instance, None where none does.
    """

    topic: str
    before: int
    after: TopicPlacing
    moved: Fraction
    rules_differ: bool
    others: Mapping[str, TopicPlacing]
    leader: str | None


class Repartition:
    """Plans and does it for one instance and one of its topics."""

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

    def plan(self, topic: str, partitions: int | None = None) -> RepartitionPlan:
        """Say what it means to place rows of a topic by so many partitions (None: as the settings
        say); nothing is changed.

        Raises MoveRefused, BrokerUnreachable, PositionUnreadable, StoreUnreachable.
        """
        record = None if self._record.store.ensure_topic() else self._record.store.read()
        return self._plan(record, topic, partitions)

    def carry_out(
        self, plan: RepartitionPlan, who: Who, *, without: str | None = None
    ) -> RepartitionPlan:
        """Place rows as planned from the next one on.

        Raises MoveRefused if the record says otherwise by now.

        `without` names another instance that is gone for good: the placing of this one need not be
        its own any more.
        """
        if without is not None:
            self._check_gone(plan, without)
        elif plan.before == plan.after.partitions and not plan.rules_differ:
            raise MoveRefused(
                f"Rows of topic {plan.topic} are placed so already.", remedy="Nothing to do."
            )

        def change(record: PositionRecord | None) -> PositionRecord:
            now = self._plan(record, plan.topic, plan.after.partitions)
            if record is None or replace(now, others={}, leader=None) != replace(
                plan, others={}, leader=None
            ):
                raise MoveRefused(
                    "The position was changed meanwhile.", remedy="Look at the plan again."
                )
            partitions = {**record.partitions, plan.topic: plan.after.partitions}
            return replace(
                record,
                partitions=partitions,
                placed_by={**record.placed_by, plan.topic: plan.after.rules.digest},
            )

        self._record.write(
            Act(
                "position.repartition", change, lambda record: _fields(record, plan.topic, without)
            ),
            who,
        )
        gone = (
            self.name,
            without,
        )  # this instance joins again with its next row, as the others do that are changed after it
        self._agreements.change(plan.topic, lambda agreement: agreement.without_feeders(gone))
        return _without(plan, without)

    def _plan(
        self, record: PositionRecord | None, topic: str, partitions: int | None
    ) -> RepartitionPlan:
        before = None if record is None else record.partitions.get(topic)
        if record is None or before is None:
            raise MoveRefused(
                f"{self.name} has placed no row of topic {topic}.",
                remedy="Name a topic that it publishes to.",
            )
        if record.split is not None:
            reason = (
                f"A part of the transaction at {record.split.begin} is published as rows were "
                f"placed so far."
            )
            raise MoveRefused(
                reason, remedy="Let the relay end it with the former settings, then try again."
            )
        after = TopicPlacing(self._wanted(partitions, before), self._instance.placing_rules)
        self._check_topic(topic, after)
        noted = record.placed_by.get(topic)
        return RepartitionPlan(
            topic,
            before,
            after,
            moved_share(before, after.partitions),
            noted is not None and noted != after.rules.digest,
            self._agreements.read(topic).differing(self.name, after),
            self._record.leader,
        )

    def _wanted(self, partitions: int | None, before: int) -> int:
        setting = self._instance.partition.partitions_num
        if partitions is not None and setting not in (None, partitions):
            reason = (
                f"partitions_num of {self.name} is {setting}, not {partitions}: its relay would "
                f"stop again."
            )
            raise MoveRefused(reason, remedy="Set partitions_num first, or leave the number out.")
        return partitions or setting or before

    def _check_topic(self, topic: str, after: TopicPlacing) -> None:
        state = TopicAdmin(self._settings.kafka).state(topic)
        if state is None:
            raise MoveRefused(f"Topic {topic} is not there.", remedy="Make it first.")
        if (
            "compact" in state.settings.get("cleanup.policy", "")
            or self._instance.topic.retention == "compact"
        ):
            reason = (
                f"Topic {topic} is compacted: the last row of a moved key would stay in its former "
                f"partition for ever."
            )
            raise MoveRefused(
                reason,
                remedy=(
                    "Publish to a new topic (mapping), and take first copies of its tables from "
                    "there."
                ),
            )
        if state.partitions < after.partitions:
            reason = (
                f"Topic {topic} has {state.partitions} partitions, and rows are to be placed by "
                f"{after.partitions}."
            )
            raise MoveRefused(
                reason, remedy=f"Raise the topic to {after.partitions} partitions first."
            )

    def _check_gone(self, plan: RepartitionPlan, instance: str) -> None:
        if instance not in plan.others:
            raise MoveRefused(
                f"Instance {instance} does not keep topic {plan.topic}.",
                remedy="Name one that the plan lists.",
            )
        leader = Election(self._session, self._paths.leader(instance), "by hand").leader()
        if leader is not None:
            raise MoveRefused(
                f"Instance {instance} is led by {leader}.",
                remedy="Change it as well, or remove it first.",
            )


def _without(plan: RepartitionPlan, instance: str | None) -> RepartitionPlan:
    return replace(
        plan, others={name: each for name, each in plan.others.items() if name != instance}
    )


def _fields(record: PositionRecord | None, topic: str, without: str | None) -> Mapping[str, Any]:
    if record is None:
        return {}
    fields = {
        "topic": topic,
        "partitions": record.partitions.get(topic),
        "rules": record.placed_by.get(topic, ""),
    }
    return fields if without is None else {**fields, "without": without}
