"""Keys of statements: a compacted topic takes no record without one."""

from typing import Any

import orjson
import pytest

from relay.encode import MessageFrame
from relay.envelope import order_text
from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.pipeline.messages.choice_of_format import MessageFormats
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.statements import statement_messages, statement_routes
from relay.route import Router
from relay.schema import classify
from relay.settings import InstanceSettings
from tests.unit.route.mappings import documents, router

ORDER = OrderPair(1_767_225_609_131, 4_294_967_300_000)
CONTEXT = EventContext(MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=5), None)
ROUTER: Router = router(
    documents(
        dbs=[{"logicDb": "shop", "realDbs": "shop"}], topics=[{"logicDb": "shop", "topic": "shop"}]
    )
)


class Made:
    """Topics as the settings let the relay make them."""

    def __init__(self, instance: InstanceSettings) -> None:
        self._instance = instance

    def is_compacted(self, topic: str) -> bool:
        return self._instance.topic.retention_of(topic) == "compact"

    def ensure_single(self, _topic: str) -> None: ...


@pytest.mark.parametrize(
    ("retention", "rules", "has_key"),
    [
        ("forever", [], False),
        ("compact", [], True),
        ("forever", [{"topics": "shop", "retention": "compact"}], True),
        ("compact", [{"topics": "shop", "retention": "72h"}], True),
        ("compact", [{"topics": "shop*", "retention": "72h"}], False),
        ("forever", [{"topics": "*.ddl", "retention": "compact"}], True),
    ],
)
def test_a_statement_has_a_key_where_a_topic_is_compacted(
    retention: str, rules: list[dict[str, str]], has_key: bool
) -> None:
    instance = InstanceSettings.model_validate(
        {
            "name": "shop",
            "source": {"host": "h", "user": "u", "server_id": 7},
            "topic": {"retention": retention, "rules": rules},
        }
    )
    ddl = classify(Statement("DROP TABLE t", "shop", 7, BinlogPosition("b.000001", 4)))
    (route,) = statement_routes(ddl, ROUTER)
    topics: Any = Made(instance)
    (message,) = statement_messages(
        ddl,
        route.destination,
        ROUTER,
        topics,
        instance.message,
        MessageFormats(instance),
        CONTEXT,
        ORDER,
    )
    assert message.topic == "shop.ddl"
    key = None if message.key is None else orjson.loads(message.key)
    assert key == (["", order_text(*ORDER)] if has_key else None)
