"""Which topic of a table is read: one with the format that rows are shown from."""

import pytest

from relay.errors import NothingToPeek
from relay.model.table import TableId
from relay.operations import PeekTables
from relay.operations.peek.tables import PeekTable
from relay.route import MappingSet
from relay.settings import InstanceSettings
from tests.unit.route.mappings import documents

REAL = TableId("shop_1", "t")


def table(topics: str, **formats: str) -> PeekTable:
    """Return the table `shop.t` of one instance; `formats` are those of its topics."""
    dbs = [{"logicDb": "shop", "realDbs": "shop_1"}]
    routes = [{"logicDb": "shop", "topic": topics}]
    mapping = MappingSet.compile(1, documents(dbs=dbs, topics=routes))
    instance = InstanceSettings.model_validate(
        {
            "name": "shop",
            "source": {"host": "h", "user": "u", "server_id": 7},
            "registry": {"url": "http://registry"},
            "topic": {"rules": [{"topics": a, "format": b} for a, b in formats.items()]},
        }
    )
    return PeekTables(mapping, [instance], lambda _: [REAL]).table("shop.t")


@pytest.mark.parametrize("topics", ["rows,lake", "lake,rows"])
def test_the_first_topic_with_readable_messages_is_read(topics: str) -> None:
    assert table(topics, lake="avro").readable_topic() == "rows"


def test_a_table_without_such_a_topic_is_refused_by_name() -> None:
    with pytest.raises(NothingToPeek, match=r"of shop\.t have the format avro, protobuf, and"):
        table("lake,proto", lake="avro", proto="protobuf").readable_topic()
