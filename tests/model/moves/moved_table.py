"""A table that mapping edits give other topics: instances that publish it, and two clients of a
group that follow it, one step after the other in any order.

The moves are the relay's, the judgement of markers is the client's. Each instance has a key of its
own in each partition, whose rows are counted from 1.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from itertools import pairwise
from random import Random
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

from confluent_kafka import TopicPartition

from relay.envelope import MovedMarker
from relay.route import DATA_IDS, MappingSet, early_returns, table_arrivals, table_moves
from roma_client.errors import TableMoved
from roma_client.kafka.commit_notes import CommitNote
from roma_client.kafka.former_topics import chosen_topic
from roma_client.kafka.move_follower import MoveFollower
from roma_client.records.moved import Departure, Followed
from roma_client.records.record import MOVED, Record

TOPICS: Final = ("a", "b", "c")
PARTITIONS: Final = (0, 1)
Key = tuple[str, int]
Place = tuple[str, int]


class Rules(NamedTuple):
    """What the protocol relies on; a mutation takes one rule away."""

    all_feeders: bool = True
    """A client waits for the markers of all instances that feed the topic."""
    each_set: bool = True
    """An instance that skips sets writes the markers of each."""
    next_joined: bool = True
    """An instance that leaves a topic feeds the next one from then on, also without a row."""
    late_joiner: bool = True
    """An instance changes over before its first row in a topic that a newer set leaves."""
    all_partitions: bool = True
    """A group changes to another topic only when every partition is read to its end."""
    from_first_marker: bool = True
    """A restarted client reads the markers before its commit again."""
    return_waits: bool = True
    """An instance gives a table no former topic before all others have left that topic."""
    commits_decide: bool = True
    """A restarted group begins where its commits are, not in the topic of the mapping."""
    returns_noted: bool = True
    """Commits name the set that brought the table: clients see that others came back."""
    returns_marked: bool = True
    """An instance that comes back to a topic says so there: clients see that it is too early."""


class Outcome(Enum):
    """The rows that a group gets from a history."""

    WHOLE = "every row once, in the order of its key"
    STOPPED = "an error by name, and nothing wrong before"
    WRONG = "rows that are lost, repeated or out of order, in silence"


class Row(NamedTuple):
    key: Key
    number: int


def compiled(number: int, topic: str) -> MappingSet:
    """Return the set that sends database `shop` to a topic."""
    bodies = {
        "dbs": [{"logicDb": "shop", "realDbs": "shop"}],
        "topics": [{"logicDb": "shop", "topic": topic}],
    }
    return MappingSet.compile(
        number, {each: json.dumps(bodies.get(each.rsplit(".")[-1], [])) for each in DATA_IDS}
    )


class World:
    """Kafka, the saved sets, and the instances."""

    def __init__(self, rules: Rules, *, retired: bool = False) -> None:
        """`retired`: instance y ends at the first edit, and no other one waits for it."""
        self.rules = rules
        self.retired = retired
        self.sets = [compiled(0, "a")]
        self.records: dict[Place, list[Row | MovedMarker]] = defaultdict(list)
        self.feeders: dict[str, set[str]] = defaultdict(set, {"a": {"x"}})
        self.active = {"x": 0, "y": 0}
        self.published: dict[Key, int] = defaultdict(int)

    @property
    def mapped(self) -> str:
        return topic_of(self.sets[-1])

    def save(self, topic: str) -> None:
        self.sets.append(compiled(len(self.sets), topic))

    def has_ended(self, instance: str) -> bool:
        return self.retired and instance == "y" and len(self.sets) > 1

    def publish(self, instance: str, partition: int) -> None:
        if self.has_ended(instance):
            return
        number = self.active[instance]
        topic = topic_of(self.sets[number])
        if instance not in self.feeders[topic]:
            self.feeders[topic].add(instance)
            if self.rules.late_joiner and topic != self.mapped:
                self.change_over(instance)
                others = self._others(instance, topic).values()
                if self.active[instance] != number or any(each != number for each in others):
                    self.feeders[topic].discard(instance)
                    return
        key = (instance, partition)
        self.published[key] += 1
        self.records[topic, partition].append(Row(key, self.published[key]))

    def change_over(self, instance: str) -> None:
        if self.has_ended(instance):
            return
        at = self.active[instance]
        sets = self.sets[at:] if self.rules.each_set else [self.sets[at], self.sets[-1]]
        for before, after in pairwise(sets):
            if (
                self.rules.return_waits
                and not self.retired
                and self._is_early(instance, before, after)
            ):
                return
            fed = [topic for topic, names in self.feeders.items() if instance in names]
            for move in table_moves(before, after, fed):
                marker = MovedMarker(*move, instance, tuple(sorted(self.feeders[move.topic])))
                for each in PARTITIONS:
                    self.records[move.topic, each].append(marker)
                if self.rules.next_joined:
                    self.feeders[move.to[0]].add(instance)
            if self.rules.returns_marked:
                for move in table_arrivals(before, after, fed):
                    marker = MovedMarker(*move, instance, tuple(sorted(self.feeders[move.topic])))
                    for each in PARTITIONS:
                        self.records[move.topic, each].append(marker)
            self.active[instance] = after.number

    def _is_early(self, instance: str, before: MappingSet, after: MappingSet) -> bool:
        found = early_returns(
            before,
            after,
            TOPICS,
            lambda topic: self._others(instance, topic),
            self.sets.__getitem__,
        )
        return any(found)

    def _others(self, instance: str, topic: str) -> dict[str, int]:
        return {each: self.active[each] for each in self.feeders[topic] if each != instance}


class Group:
    """Two clients of a consumer group: what they have read, and their commits."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.commits: dict[Place, tuple[int, str]] = {}
        self.seen: dict[Key, list[int]] = defaultdict(list)
        self.members = [Member(self), Member(self)]
        self.clock = 0.0

    def committed(self, place: Place) -> TopicPartition:
        """Return a commit as Kafka's client does."""
        offset, text = self.commits.get(place, (0, ""))
        note = CommitNote.read(text)
        if note is not None and not self.world.rules.returns_noted:
            text = note._replace(after=0).text()
        return TopicPartition(*place, offset, text)

    def chosen(self) -> tuple[str, Departure | None]:
        """Return where a client that starts begins."""
        if not self.world.rules.commits_decide:
            return self.world.mapped, None
        notes: dict[str, dict[int, CommitNote]] = defaultdict(dict)
        for topic, partition in self.commits:
            note = CommitNote.read(self.committed((topic, partition)).metadata)
            if note is not None:
                notes[topic][partition] = note
        return chosen_topic(notes, dict.fromkeys(TOPICS, len(PARTITIONS)), self.world.mapped)

    def rebalance(self, random: Random | None = None) -> None:
        """Assign each partition to a member that subscribes to its topic: at random, or without
        `random` as Kafka does, which moves few partitions and balances them.
        """
        for topic in TOPICS:
            members = [each for each in self.members if each.followed.topic == topic]
            fair = len(PARTITIONS) // max(1, len(members))
            for partition in PARTITIONS if members else ():
                holder = [each for each in members if partition in each.at and len(each.at) <= fair]
                owner = (holder or [min(members, key=lambda each: len(each.at))])[0]
                if random is not None:
                    owner = random.choice(members)
                for each in members:
                    if each is not owner:
                        each.revoke(partition)
                if partition not in owner.at:
                    owner.assign(partition)

    def move_on(self) -> None:
        """Let members change topics if they are allowed to."""
        for each in self.members:
            self.clock += 60
            each.move_on(self.clock)
            self.rebalance()


class Member:
    """One client, with the real MoveFollower."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.at: dict[int, int] = {}
        self.next: dict[int, int] = {}
        topic, departure = group.chosen()
        self.open(topic, 0 if departure is None else departure.set)

    def open(self, topic: str, after: int) -> None:
        self.at.clear()
        self.followed = Followed("shop", "t", topic, after)
        self.follower = MoveFollower(self.followed, limit_seconds=0)

    def assign(self, partition: int) -> None:
        committed = self.group.committed((self.followed.topic, partition))
        begin = self.follower.begin(committed)
        read_again = self.group.world.rules.from_first_marker
        self.at[partition] = (begin if read_again else committed).offset
        self.next[partition] = committed.offset
        self.commit(partition)

    def revoke(self, partition: int) -> None:
        if partition in self.at:
            self.at.pop(partition)
            self.follower.forget((self.followed.topic, partition))

    def commit(self, partition: int) -> None:
        place, offset = (self.followed.topic, partition), self.next[partition]
        self.group.commits[place] = offset, self.follower.note(place, offset)

    def read(self, partition: int) -> None:
        """Read, process and acknowledge one record."""
        topic, offset = self.followed.topic, self.at.get(partition)
        records = self.group.world.records[topic, partition]
        if offset is None or offset >= len(records):
            return
        self.at[partition] += 1
        found = records[offset]
        headers = [] if isinstance(found, Row) else [(MOVED, self._told(found).header())]
        if not self.follower.passes(Record(topic, partition, offset, b"", None, headers)):
            if isinstance(found, Row):
                self.group.seen[found.key].append(found.number)
            self.next[partition] = offset + 1
            self.commit(partition)

    def _told(self, marker: MovedMarker) -> MovedMarker:
        all_feeders = self.group.world.rules.all_feeders
        return marker if all_feeders else replace(marker, feeders=(marker.instance,))

    def move_on(self, clock: float) -> None:
        """Change to the next topic if every partition is read to its end."""
        own = [(self.followed.topic, each) for each in self.at]
        asked: Any = self
        departure = self.follower.departure(asked, (self.followed.topic,), own, clock)
        if departure is not None:
            self.open(departure.to, departure.set)

    def refuse_late(self) -> None:
        """Raise TableMoved if markers are missing."""
        own = [(self.followed.topic, each) for each in self.at]
        self.follower.refuse_late(None, own, lambda: True)

    # The interface of Kafka's client that the follower uses.

    def list_topics(self, topic: str, **_: float) -> Any:
        needed = PARTITIONS if self.group.world.rules.all_partitions else PARTITIONS[:1]
        return SimpleNamespace(topics={topic: SimpleNamespace(partitions=needed)})

    def committed(self, asked: Sequence[TopicPartition], **_: float) -> list[TopicPartition]:
        return [self.group.committed((each.topic, each.partition)) for each in asked]


def topic_of(mapping: MappingSet) -> str:
    return mapping.topics("shop")[0]


def outcome(rules: Rules, seed: int, steps: int = 60, *, retired: bool = False) -> Outcome:
    """Return the outcome of one random history."""
    random, world = Random(seed), World(rules, retired=retired)
    group = Group(world)
    group.rebalance(random)
    busy = random.random()  # share of the steps that the first client takes
    try:
        for _ in range(steps):
            _step(random, world, group, busy)
        for _ in world.sets:
            for each in world.active:
                world.change_over(each)
        for _ in range(40):
            for member in group.members:
                for partition in PARTITIONS:
                    for _ in range(2 * steps):
                        member.read(partition)
            group.move_on()
        for member in group.members:
            member.refuse_late()
    except TableMoved:
        first = all(seen == list(range(1, len(seen) + 1)) for seen in group.seen.values())
        return Outcome.STOPPED if first else Outcome.WRONG
    whole = all(
        group.seen[key] == list(range(1, count + 1)) for key, count in world.published.items()
    )
    return Outcome.WHOLE if whole else Outcome.WRONG


def _step(random: Random, world: World, group: Group, busy: float) -> None:
    instance, partition = random.choice("xy"), random.choice(PARTITIONS)
    member = group.members[random.random() > busy]
    match random.randrange(13):
        case 0:
            world.save(random.choice(TOPICS))
        case 1:
            world.change_over(instance)
        case 2:
            group.members[random.randrange(2)] = Member(group)
            group.rebalance(random)
        case 3 | 4:
            group.clock += 60
            member.move_on(group.clock)
            group.rebalance(random)
        case number if number < 9:
            world.publish(instance, partition)
        case _:
            for _ in range(6):
                member.read(random.choice(PARTITIONS))
