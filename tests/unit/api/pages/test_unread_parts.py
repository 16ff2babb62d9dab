"""Parts of a page that cannot be read: who does not answer, and which parts are missing."""

import pytest

from api.error_status import problem_of
from api.web.problem_words import title_of
from api.web.views.unread import Part, read_parts, unread_part
from relay.errors import (
    BrokerUnreachable,
    KafkaNotPermitted,
    RegistryUnreachable,
    RelayError,
    SourceUnreachable,
    StoreRefused,
    StoreUnreachable,
    TopicRefused,
)

GENERAL = ("A server does not answer", "A server refused the request")


def failing(error: RelayError) -> object:
    raise error


def test_each_error_leaves_out_only_its_own_part() -> None:
    found = read_parts(
        (
            Part("flow", "pause and limits", lambda: failing(StoreRefused("bad node"))),
            Part("place", "where it may run", lambda: 7),
            Part("dropped", "the tables left out", lambda: failing(StoreRefused("bad node"))),
            Part("failover", "the servers", lambda: failing(StoreRefused("another node"))),
        )
    )
    assert found.values == {"place": 7}
    assert [(each.title, each.sentence, each.missing) for each in found.unread] == [
        (
            "ZooKeeper refuses the request",
            "bad node",
            ("pause and limits", "the tables left out"),
        ),
        ("ZooKeeper refuses the request", "another node", ("the servers",)),
    ]


def test_after_a_server_that_does_not_answer_nothing_else_is_read() -> None:
    read: list[str] = []
    found = read_parts(
        (
            Part("a", "first", lambda: read.append("a")),
            Part("b", "second", lambda: failing(StoreUnreachable("No server answers at zk:1."))),
            Part("c", "third", lambda: read.append("c")),
        )
    )
    assert (read, list(found.values)) == (["a"], ["a"])
    (part,) = found.unread
    assert (part.title, part.missing) == ("ZooKeeper does not answer", ("second", "third"))
    assert (part.sentence, part.code) == ("No server answers at zk:1.", "ZOOKEEPER_UNREACHABLE")
    assert part.remedy


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (BrokerUnreachable("away"), "Kafka does not answer"),
        (SourceUnreachable("away"), "The source does not answer"),
        (RegistryUnreachable("away"), "The schema registry does not answer"),
        (KafkaNotPermitted("no"), "Kafka refuses the admin"),
        (TopicRefused("no"), "A topic of Kafka cannot be used"),
    ],
)
def test_a_part_names_the_server(error: RelayError, title: str) -> None:
    assert unread_part(error).title == title


def test_no_error_of_a_server_has_a_general_title() -> None:
    servers = ("KAFKA", "BROKER", "ZOOKEEPER", "SOURCE", "REGISTRY", "CLAIM", "TOPIC", "OIDC")
    kinds = [each for each in _all(RelayError) if each.code.startswith(servers)]
    assert len(kinds) > len(servers)
    titles = {each.code: title_of(problem_of(each("x"))) for each in kinds}
    assert {code for code, title in titles.items() if title in GENERAL} == set()


def _all(kind: type[RelayError]) -> list[type[RelayError]]:
    return [each for sub in kind.__subclasses__() for each in (sub, *_all(sub))]
