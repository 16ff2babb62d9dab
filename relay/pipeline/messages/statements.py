"""One statement → its messages: DDL in a topic of its own, under logical names."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from relay.encode import encode_statement, message_headers
from relay.envelope import DDL_TOPIC_SUFFIX, MessageType
from relay.model.message import OutboundMessage
from relay.model.positions.position import OrderPair
from relay.model.table import TableId
from relay.pipeline.delivery.topics import Topics
from relay.pipeline.messages.changes import EventContext
from relay.refine import Refinements
from relay.route import Destination, Dropped, Router
from relay.schema import Ddl, renamed_sql
from relay.settings import MessageSettings

WITHHELD: Final = "/* withheld: it may hold values that a mask or a field list hides */"
"""What stands for the text of such a statement.

Its message still says that the table's copies are unproven.
"""


def statement_route(ddl: Ddl, router: Router) -> Destination | Dropped:
    """Where a statement goes: with its table, or with its database when it names none."""
    return (
        router.route(TableId(ddl.database, ddl.table))
        if ddl.table
        else router.route_database(ddl.database)
    )


def statement_messages(
    ddl: Ddl,
    destination: Destination,
    router: Router,
    topics: Topics,
    settings: MessageSettings,
    context: EventContext,
    order: OrderPair,
) -> Iterator[OutboundMessage]:
    """Yield the statement's messages, all with one order pair.

    With `ddl = "drop"` DDL has none. Rows that were logged as text are no DDL: they go to the topic
    of the statements then.
    """
    sql = renamed_sql(ddl, lambda real: _logical(real, router)) if ddl.is_ddl else ddl.sql
    value = encode_statement(
        MessageType(ddl.kind.value), destination.logical, sql, context.frame, is_ddl=ddl.is_ddl
    )
    headers = message_headers(order, (), context.origin)
    mode = "topic" if settings.ddl == "drop" and not ddl.is_ddl else settings.ddl
    for topic in destination.topics:
        for place in statement_places(topic, mode, topics):
            yield OutboundMessage(*place, None, value, headers)


def without_values(statement: Ddl, refinements: Refinements) -> Ddl:
    """Return the statement without its text, where that changes rows and may show values that
    nobody may read.
    """
    if statement.is_ddl or not refinements.withhold(statement.tables):
        return statement
    return replace(statement, sql=WITHHELD)


def statement_places(topic: str, ddl: str, topics: Topics) -> Iterator[tuple[str, int]]:
    """Yield topic and partition of each message that a statement about rows of `topic` becomes."""
    if ddl == "topic":
        topics.ensure_single(topic + DDL_TOPIC_SUFFIX)
        yield topic + DDL_TOPIC_SUFFIX, 0
    elif ddl == "inline":
        topics.partitions(topic)
        yield topic, 0
    elif ddl == "barrier":
        for partition in range(topics.partitions(topic)):
            yield topic, partition


def _logical(real: TableId, router: Router) -> TableId:
    route = router.route(real) if real.table else router.route_database(real.database)
    return real if isinstance(route, Dropped) else route.logical
