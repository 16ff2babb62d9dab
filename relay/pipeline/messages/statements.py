"""Makes the messages of a statement. By default DDL goes to a separate topic, under
logical names.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import orjson

from relay.encode import StatementFacts, message_headers
from relay.envelope import DDL_TOPIC_SUFFIX, MessageType, order_text
from relay.model.message import OutboundMessage
from relay.model.positions.position import OrderPair
from relay.model.table import TableId
from relay.pipeline.messages.choice_of_format import MessageFormats
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.row_topics import RowTopics
from relay.refine import Refinements
from relay.route import Destination, Dropped, Router
from relay.schema import Ddl, renamed_sql
from relay.settings import MessageSettings

WITHHELD: Final = "/* withheld: it may hold values that a mask or a field list hides */"
"""Replaces the text of a statement that could show hidden values.

The message is published nevertheless, so that consumers learn that the table was changed without
row messages.
"""


class RoutedStatement(NamedTuple):
    """Where a statement goes for one of the tables that it changes.

    real         the real table; its table name is "" for a statement about a database
    destination  the destination of this table
    """

    real: TableId
    destination: Destination


def statement_routes(
    ddl: Ddl, router: Router, published: Iterable[str] = (), tables: Collection[TableId] = ()
) -> list[RoutedStatement]:
    """Return where a statement goes: once to each topic of its tables. The statement is routed
    under the first table that has the topic.

    ddl        the statement
    router     routes by the active mapping set
    published  topics of rows to which the instance has published
    tables     the known real tables

    A statement that names no table goes where its database goes. DROP DATABASE also goes to each of
    the `published` topics to which one of the database's `tables` is routed. The list is empty if
    the mapping publishes neither the tables nor the database of the statement.
    """
    named = TableId(ddl.database, ddl.table)
    found, known = list[RoutedStatement](), set[str]()
    for real in dict.fromkeys((named, *ddl.tables)):
        route = router.route(real) if real.table else router.route_database(real.database)
        if isinstance(route, Dropped):
            continue
        if topics := tuple(each for each in route.topics if each not in known):
            known.update(topics)
            found.append(RoutedStatement(real, replace(route, topics=topics)))
    if ddl.drops_database:
        of_tables = router.tables_of(ddl.database, tables, {*published} - known)
        found += (RoutedStatement(named, each) for each in of_tables.values())
    return found


def statement_messages(
    ddl: Ddl,
    destination: Destination,
    router: Router,
    topics: RowTopics,
    settings: MessageSettings,
    formats: MessageFormats,
    context: EventContext,
    order: OrderPair,
) -> Iterator[OutboundMessage]:
    """Yield the messages of a statement.

    ddl          the statement
    destination  the logical table, topics and tags under which it is published
    router       gives the logical names of the tables in its text
    topics       the topics of rows and statements
    settings     the settings of messages
    formats      gives the format of each topic
    context      the metadata of the messages
    order        the order key of all the messages

    With `ddl = "drop"` DDL has no messages. Row changes that were logged as statements are no DDL:
    they still go to the topic of statements.
    """
    sql = renamed_sql(ddl, lambda real: _logical(real, router)) if ddl.is_ddl else ddl.sql
    statement = StatementFacts(MessageType(ddl.kind.value), destination.logical, sql, ddl.is_ddl)
    mode = "topic" if settings.ddl == "drop" and not ddl.is_ddl else settings.ddl
    for topic in destination.topics:
        form = formats.of(topic)
        headers = message_headers(order, form.headers, context.origin)
        for place in statement_places(topic, mode, topics):
            key = statement_key(order) if keeps_last_of_key(topics, topic, place[0]) else None
            value = form.statement(statement, context.frame, order, place[0])
            yield OutboundMessage(*place, key, value, headers)


def keeps_last_of_key(topics: RowTopics, rows: str, statements: str) -> bool:
    """Return whether statements need keys of their own, because a topic is compacted.

    `rows` and `statements` are the topics of rows and of statements about them. A rule of
    `topic.rules` may name only one of them.
    """
    return topics.is_compacted(rows) or topics.is_compacted(statements)


def statement_key(order: OrderPair, dead_letter: str = "") -> bytes:
    """Return a unique record key for a statement in a compacted topic, so that compaction keeps
    every statement.

    A compacted topic accepts no record without a key. `dead_letter`: the id of the dead letter that
    the statement reports. The key contains it, because several dead letters may have the same order
    key.
    """
    text = order_text(order.execute_time, order.execute_position)
    return orjson.dumps(["", text, dead_letter] if dead_letter else ["", text])


def without_values(statement: Ddl, refinements: Refinements) -> Ddl:
    """Return the statement without its text if it changes rows and its text may show values that a
    mask hides; otherwise unchanged.
    """
    if statement.is_ddl or not refinements.withhold(statement.tables):
        return statement
    return replace(statement, sql=WITHHELD)


def statement_places(topic: str, ddl: str, topics: RowTopics) -> Iterator[tuple[str, int]]:
    """Yield (topic, partition) of each message of a statement about rows of a topic.

    topic   the topic of the rows
    ddl     the setting `message.ddl`
    topics  the topics; missing ones are created
    """
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
