"""A copy job refuses a topic in another format than canal-json, instead of copying nothing."""

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from relay.encode import CloudEvents, DebeziumJson, MaxwellJson, MessageFormat, MessageFrame
from relay.encode.formats.avro import Avro
from relay.encode.formats.registered.json_schema import JsonSchema
from relay.encode.formats.registered.protobuf import Protobuf
from relay.encode.formats.registered.subjects import SchemaKind
from relay.model.change import RowChange
from relay.model.message import OutboundMessage
from relay.model.positions.position import OrderPair
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from spark_jobs.errors import FormatNotRead
from spark_jobs.sinks import DeltaSink
from tests.support.copies.spark_copies import apply, change

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

NAME = TableId("shop", "t")
TABLE = TableDefinition(
    TableMap(NAME, (Column("id", ColumnType.LONG, False),), (0,)), (0,), ("int(11)",)
)
FRAME = MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=0)


def in_format(form: MessageFormat) -> OutboundMessage:
    plain = change("t", "INSERT", "2", 11, id="2")
    time, position = dict(plain.headers)["order"].decode().split(".")
    rows = form.rows(TABLE, NAME, ("t",))
    order = OrderPair(int(time), int(position))
    return replace(plain, value=rows.encode([RowChange(None, (2,))], FRAME, order))


class Ids:
    """A registry that gives every schema one id."""

    def id_of(self, subject: str, schema: str, _kind: SchemaKind) -> int:
        assert subject
        assert schema
        return 1


@pytest.mark.parametrize(
    "form",
    [
        DebeziumJson("x", with_schema=True),
        MaxwellJson(),
        CloudEvents("x"),
        Avro("x", Ids(), "topic_record_name", "strict"),
        JsonSchema("x", Ids(), "topic_record_name"),
        Protobuf("x", Ids(), "topic_record_name", "strict"),
    ],
    ids=lambda form: form.name,
)
def test_it_refuses_by_name_and_writes_nothing(
    spark: SparkSession, tmp_path: Path, form: MessageFormat
) -> None:
    with pytest.raises(
        FormatNotRead, match=r"^1 messages cannot be read: the value is .* than canal-json"
    ):
        apply(spark, tmp_path, change("t", "INSERT", "1", 10, id="1"), in_format(form))
    assert DeltaSink(spark, tmp_path).tables() == []
