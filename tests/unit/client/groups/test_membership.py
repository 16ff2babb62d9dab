"""Where a group begins."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from confluent_kafka import OFFSET_END, KafkaError, KafkaException, TopicPartition

from roma_client.errors import KafkaRefused, TableMoved
from roma_client.kafka.membership import Membership
from roma_client.kafka.options import FeedOptions, Start
from roma_client.records.decoding import Reading
from roma_client.records.moved import Departure, Followed
from roma_client.records.selection import Selection
from tests.support.clients.fake_consumer import WAIT_COORD

NO_COMMIT = -1001
ENDS = {0: 7, 1: 9}


class Group:
    """A consumer of a group with these commits of the topic `shop`, and one of other topics.

    `refusal`: error of partition 1 in the answer to a commit.
    """

    newest: "Group"

    def __init__(self, commits: dict[int, int], others: dict[str, int] | None = None) -> None:
        self.commits = {("shop", number): at for number, at in commits.items()}
        self.commits |= {(topic, 0): at for topic, at in (others or {}).items()}
        self.topics = {"shop": ENDS, **{topic: {0: 5} for topic in others or {}}}
        self.note = ""
        self.refusal: KafkaError | None = None
        self.noted: list[tuple[str, int, int, str | None]] = []
        self.callbacks: dict[str, Any] = {}
        Group.newest = self

    def subscribe(self, _: list[str], **callbacks: Any) -> None:
        self.callbacks = callbacks

    def committed(self, partitions: list[TopicPartition], *_: Any, **__: Any) -> Any:
        return [
            TopicPartition(
                each.topic,
                each.partition,
                self.commits.get((each.topic, each.partition), NO_COMMIT),
                self.note,
            )
            for each in partitions
        ]

    def commit(self, offsets: list[TopicPartition], **_: Any) -> list[Any]:
        self.commits.update({(each.topic, each.partition): each.offset for each in offsets})
        self.noted += [(e.topic, e.partition, e.offset, e.metadata) for e in offsets]
        return [SimpleNamespace(error=self.refusal if each.partition else None) for each in offsets]

    def listed(self, topic: str | None = None, **_: Any) -> Any:
        names = self.topics if topic is None else [topic]
        return SimpleNamespace(
            topics={each: SimpleNamespace(partitions=self.topics[each]) for each in names}
        )

    def get_watermark_offsets(self, at: TopicPartition, **_: Any) -> tuple[int, int]:
        return 2, self.topics[at.topic][at.partition]

    def incremental_assign(self, partitions: list[TopicPartition]) -> None:
        self.assigned = [(each.topic, each.partition, each.offset) for each in partitions]


@pytest.fixture(autouse=True)
def _admin_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only admin clients list topics: a consumer that does in a callback ends its process."""
    monkeypatch.setattr(
        "roma_client.kafka.topics.AdminClient",
        lambda _: SimpleNamespace(list_topics=Group.newest.listed),
    )


def listening() -> Mock:
    return Mock(begin=lambda at: at, note=lambda partition, offset: f"{partition[0]}@{offset}")


@pytest.mark.parametrize(
    ("start", "commits", "begins", "unread"),
    [
        ("latest", {}, [7, 9], {0, 1}),
        ("latest", {0: 3}, [3, 2], {1}),
        ("earliest", {}, [2, 2], {0, 1}),
        ("earliest", {0: 3, 1: 4}, [3, 4], set()),
    ],
)
def test_a_group_begins_at_its_commits_and_otherwise_all_partitions_at_the_same_side(
    start: Start, commits: dict[int, int], begins: list[int], unread: set[int]
) -> None:
    group, listener = Group(commits), listening()
    options = FeedOptions("group", ("shop",), Selection(bool), Reading(), {}, start)
    membership = Membership(group, options, listener)  # type: ignore[arg-type]
    membership.join()
    group.callbacks["on_assign"](group, [TopicPartition("shop", number) for number in ENDS])
    (starts,) = listener.assigned.call_args.args
    assert [each.offset for each in starts] == begins
    assert membership.unread == {("shop", number) for number in unread}


LATEST = FeedOptions("group", ("shop",), Selection(bool), Reading(), {}, "latest")


def begun(group: Group, options: FeedOptions, *, appeared: str = "") -> list[int]:
    """Join as a new client that gets partition 0 of each topic; return where it begins them."""
    listener = listening()
    membership = Membership(group, options, listener)  # type: ignore[arg-type]
    membership.join(frozenset([appeared] if appeared else []))
    group.callbacks["on_assign"](group, [TopicPartition(each, 0) for each in options.topics])
    (starts,) = listener.assigned.call_args.args
    return [each.offset for each in starts]


def test_a_topic_that_appears_later_begins_at_its_oldest_change() -> None:
    group = Group({}, {"former": 3})
    assert begun(group, LATEST) == [2], "the group has read the topic before a mapping edit"
    group = Group({}, {"statements": NO_COMMIT})
    assert begun(group, LATEST) == [7]
    assert begun(group, replace(LATEST, topics=("shop", "statements"))) == [7, 2]


def test_the_first_commit_of_a_group_has_the_ends_of_all_partitions_with_their_notes() -> None:
    group = Group({}, {"statements": NO_COMMIT})
    begun(group, replace(LATEST, topics=("shop", "statements")))
    assert group.noted == [
        ("shop", 0, 7, "shop@7"),
        ("shop", 1, 9, "shop@9"),
        ("statements", 0, 5, "statements@5"),
    ]


def test_a_client_that_waited_for_a_topic_reads_all_of_it() -> None:
    group = Group({}, {"late": NO_COMMIT})
    both = replace(LATEST, topics=("shop", "late"))
    assert begun(group, both, appeared="late") == [7, 2]
    group = Group({}, {"late": NO_COMMIT})
    assert begun(group, replace(both, appeared=frozenset({"late"}))) == [7, 2]


def test_a_first_commit_that_a_broker_takes_in_part_is_an_error() -> None:
    group = Group({})
    group.refusal = KafkaError(KafkaError.OFFSET_METADATA_TOO_LARGE)
    with pytest.raises(KafkaRefused):
        begun(group, LATEST)


def test_a_commit_brings_its_note_back() -> None:
    group, listener = Group({0: 3, 1: 4}), Mock(begin=lambda at: at)
    options = FeedOptions("group", ("shop",), Selection(bool), Reading(), {})
    Membership(group, options, listener).join()  # type: ignore[arg-type]
    group.note = "done 7"
    group.callbacks["on_assign"](group, [TopicPartition("shop", 0)])
    ((start,),) = listener.assigned.call_args.args
    assert (start.offset, start.metadata) == (3, "done 7")


def test_a_member_that_reads_elsewhere_begins_nothing_of_its_former_topics() -> None:
    commits = {0: 5, 1: 4}
    group, listener = (
        Group(commits),
        Mock(begin=lambda at: TopicPartition(at.topic, at.partition, 1)),
    )
    options = FeedOptions("group", ("former",), Selection(bool), Reading(), {})
    membership = Membership(group, options, listener)  # type: ignore[arg-type]
    membership.join()
    membership.read_elsewhere(replace(options, topics=("shop",)))
    given = [TopicPartition("former", 0), TopicPartition("shop", 0)]
    group.callbacks["on_assign"](group, given)
    (starts,) = listener.assigned.call_args.args
    assert [(each.topic, each.offset) for each in starts] == [("shop", 5)]
    expected = [("shop", 0, 2), ("former", 0, OFFSET_END)]
    assert group.assigned == expected, "markers before offset 2 have expired"


@pytest.mark.parametrize(("oldest", "begins"), [(2, 2), (4, 4), (8, 5)])
def test_a_client_never_begins_beyond_its_commit_to_meet_its_first_marker_again(
    oldest: int, begins: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kafka then reports that the rows between the commit and the oldest one have expired."""
    group = Group({0: 5})
    monkeypatch.setattr(group, "get_watermark_offsets", lambda *_, **__: (oldest, 9))
    listener = Mock(begin=lambda at: TopicPartition(at.topic, at.partition, 1))
    options = FeedOptions("group", ("shop",), Selection(bool), Reading(), {})
    Membership(group, options, listener).join()  # type: ignore[arg-type]
    group.callbacks["on_assign"](group, [TopicPartition("shop", 0)])
    assert group.assigned == [("shop", 0, begins)]


class Exclusive(Group):
    """A member with an id, of a group whose members `oldest_member` answers."""

    def __init__(self, name: str) -> None:
        super().__init__({0: 3, 1: 4}, {"crm": 1, "tx": 1})
        self.name = name

    def memberid(self) -> str:
        return self.name

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.assigned = [(each.topic, each.partition, each.offset) for each in partitions]


@pytest.mark.parametrize("members", [["1", "2"], ["2"]])
def test_one_client_is_active_although_another_one_has_a_further_topic(
    members: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kafka's range assignor gives partition 0 of `crm` to the only one that subscribes to it."""
    monkeypatch.setattr("roma_client.kafka.membership.oldest_member", lambda *_: min(members))
    topics = {"1": ("shop", "tx"), "2": ("crm", "shop", "tx")}
    given = {"1": [("shop", 0), ("tx", 0)], "2": [("crm", 0), ("shop", 1)]}
    active = []
    for name in members:
        member, listener = Exclusive(name), listening()
        options = FeedOptions("g", topics[name], Selection(bool), Reading(), {}, exclusive=True)
        Membership(member, options, listener).join()  # type: ignore[arg-type]
        member.callbacks["on_assign"](member, [TopicPartition(*each) for each in given[name]])
        (starts,) = listener.assigned.call_args.args
        active += [name] if starts else []
        assert {each.topic for each in starts} in (set(), set(topics[name]))
    assert active == [min(members)]


def test_the_members_are_asked_for_when_the_coordinator_answers_the_consumer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An admin client whose question passes its limit without a coordinator ends the process."""
    member, asked = Exclusive("1"), []
    failures = [KafkaException(KafkaError(WAIT_COORD))]
    committed = member.committed

    def answer(partitions: list[TopicPartition], *_: Any, **__: Any) -> Any:
        if failures:
            raise failures.pop()
        asked.append("committed")
        return committed(partitions)

    def described(groups: list[str], *, request_timeout: float) -> Any:
        asked.append("members")
        assert request_timeout >= 120
        found = SimpleNamespace(members=[SimpleNamespace(member_id="1")])
        return {groups[0]: SimpleNamespace(result=lambda: found)}

    admin = SimpleNamespace(describe_consumer_groups=described)
    monkeypatch.setattr("roma_client.kafka.asking.AdminClient", lambda _: admin)
    monkeypatch.setattr(member, "committed", answer)
    options = FeedOptions("g", ("shop",), Selection(bool), Reading(), {}, exclusive=True)
    Membership(member, options, listening()).join()  # type: ignore[arg-type]
    member.callbacks["on_assign"](member, [TopicPartition("shop", 0)])
    assert (asked[:2], len(member.assigned)) == (["committed", "members"], 2)


@pytest.mark.parametrize(
    ("since", "commits", "refused"), [(1, {}, True), (1, {1: 4}, False), (5, {}, False)]
)
def test_a_group_does_not_read_the_history_of_a_topic_that_its_table_had_before_the_move(
    since: int, commits: dict[int, int], *, refused: bool
) -> None:
    """Topics "former,shop", then "shop" with set 5: both have had the same rows until then."""
    group = Group(commits)
    followed = Followed("shop", "orders", "former", had={"shop": since})
    former = FeedOptions("g", ("former",), Selection(bool), Reading(), {}, follow=followed)
    moved = former.moved(Departure(5, "shop"))
    Membership(group, moved, listening()).join()  # type: ignore[arg-type]
    if refused:
        with pytest.raises(TableMoved, match="has had it since set 1"):
            group.callbacks["on_assign"](group, [TopicPartition("shop", 0)])
    else:
        group.callbacks["on_assign"](group, [TopicPartition("shop", 0)])
        assert group.assigned == [("shop", 0, 2)]
