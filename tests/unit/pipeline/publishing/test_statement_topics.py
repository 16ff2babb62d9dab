"""The end of a database is told in the topics that can have it, and no other one stops an
instance.
"""

from collections.abc import Iterable

import pytest
from structlog.testing import capture_logs

from relay.errors import (
    FormatChanged,
    FormatsDiffer,
    PartitionsChanged,
    PartitionsDiffer,
    RelayError,
    TopicRefused,
)
from relay.model.table import TableId
from relay.pipeline.messages.statements import RoutedStatement
from relay.pipeline.publishing.statement_topics import usable_routes
from relay.route import Destination, Tags
from tests.support.rows.publishers import Surroundings
from tests.unit.route.mappings import documents, router

SHOP = TableId("shop", "")


class Topics(Surroundings):
    """Topics of an instance, of which some were deleted or changed."""

    def __init__(
        self, *fed: str, gone: str = "", errors: dict[str, RelayError] | None = None
    ) -> None:
        super().__init__(router(documents()), dict.fromkeys(fed, 1))
        self.gone = gone
        self.errors = errors or {}

    def existing(self, topics: Iterable[str]) -> frozenset[str]:
        return frozenset(topics) - {self.gone}

    def partitions(self, topic: str) -> int:
        return self._of(topic)

    def ensure_single(self, topic: str) -> None:
        self._of(topic.removesuffix(".ddl"))

    def _of(self, topic: str) -> int:
        if topic in self.errors:
            raise self.errors[topic]
        return 1


def routes(*topics: tuple[str, ...]) -> list[RoutedStatement]:
    return [RoutedStatement(SHOP, Destination(SHOP, each, Tags((), ()))) for each in topics]


@pytest.mark.parametrize("ddl", ["topic", "inline", "barrier"])
@pytest.mark.parametrize(
    "error", [FormatChanged, FormatsDiffer, PartitionsChanged, PartitionsDiffer, TopicRefused]
)
def test_changed_topics_are_left_out_and_logged(ddl: str, error: type[RelayError]) -> None:
    topics = Topics("shop", "shop.t", errors={"shop.t": error("It was changed.")})
    with capture_logs() as logs:
        found = usable_routes(routes(("shop", "shop.t"), ("shop.t",), ("shop.u",)), topics, ddl)
    assert [each.destination.topics for each in found] == [("shop",), ("shop.u",)]
    assert [(each["event"], each["topic"]) for each in logs] == [("drop_not_told", "shop.t")]


def test_a_deleted_topic_is_left_out_and_one_of_its_first_message_is_not() -> None:
    topics = Topics("shop.t", gone="shop.t")
    with capture_logs() as logs:
        found = usable_routes(routes(("shop",), ("shop.t",)), topics, "topic")
    assert [each.destination.topics for each in found] == [("shop",)]
    assert "is gone" in logs[0]["reason"]
    assert usable_routes(routes(("shop.t",)), topics, "topic") == []
