"""The form of a message, on which consumers rely: names of fields and headers, and the texts in
headers.

The relay writes messages with this package; client and Spark jobs read them with it. It imports
only the standard library, so that it can be sent to Spark executors.
"""

from relay.envelope.claim import Claim, checked_claim, claim_text, parse_claim
from relay.envelope.fields import (
    DATA,
    DATABASE,
    DDL_TOPIC_SUFFIX,
    ENVELOPE_VERSION,
    EVENT_TIME,
    FIELDS,
    GTID,
    ID,
    IS_DDL,
    KEY_NAMES,
    MYSQL_TYPE,
    OLD,
    PUBLISH_TIME,
    ROW_TYPES,
    SQL,
    SQL_TYPE,
    TABLE,
    TYPE,
    Header,
    MessageType,
)
from relay.envelope.moved import MovedMarker
from relay.envelope.order import (
    ORDER_WIDTH,
    Order,
    order_of,
    order_text,
    orders_text,
    parse_order,
    row_orders,
)
from relay.envelope.renamed import ColumnRename, parse_renamed, renamed_text
from relay.envelope.value_schema import value_schema

__all__ = [
    "DATA",
    "DATABASE",
    "DDL_TOPIC_SUFFIX",
    "ENVELOPE_VERSION",
    "EVENT_TIME",
    "FIELDS",
    "GTID",
    "ID",
    "IS_DDL",
    "KEY_NAMES",
    "MYSQL_TYPE",
    "OLD",
    "ORDER_WIDTH",
    "PUBLISH_TIME",
    "ROW_TYPES",
    "SQL",
    "SQL_TYPE",
    "TABLE",
    "TYPE",
    "Claim",
    "ColumnRename",
    "Header",
    "MessageType",
    "MovedMarker",
    "Order",
    "checked_claim",
    "claim_text",
    "order_of",
    "order_text",
    "orders_text",
    "parse_claim",
    "parse_order",
    "parse_renamed",
    "renamed_text",
    "row_orders",
    "value_schema",
]
