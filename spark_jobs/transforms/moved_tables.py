"""Checks whether a job also reads the topic to which a table was moved (ADR 78)."""

from collections.abc import Sequence
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column

from relay.envelope import DDL_TOPIC_SUFFIX
from relay.envelope.moved import MOVED_VERSION

_FIELDS: Final = "version int, database string, topic string, `to` array<string>, `set` long"
_UNREADABLE: Final = (
    "the marker of a moved table has a form that this version does not read: use the jobs in the "
    "version of the relay"
)
_SPECIAL: Final = r"([.+*?^$()\[\]\\|])"


def unfollowed_move(header: Column, topic: Column, topics: Sequence[str]) -> Column:
    """Return the Spark expression for a sentence that says why the copies of a moved table are no
    longer updated.

    header  text of the `moved` header, not null
    topic   topic of the record
    topics  topics that the job reads; a topic with `{table}` counts as read if one of them matches
            it

    It is null if the job reads all topics that the marker names.
    """
    marker = sf.from_json(header, _FIELDS)
    suffix = sf.when(sf.endswith(topic, sf.lit(DDL_TOPIC_SUFFIX)), DDL_TOPIC_SUFFIX).otherwise("")
    database, to = marker["database"], marker["to"]
    is_readable = (marker["version"] == MOVED_VERSION) & database.isNotNull() & to.isNotNull()
    next_topics = sf.transform(to, lambda each: sf.concat(each, suffix))
    unread = sf.filter(next_topics, lambda each: ~_is_read(each, database, topics))
    leaves = sf.concat(
        sf.lit("database "), database, sf.lit(" left topic "), topic, sf.lit(" with mapping set "),
        marker["set"].cast("string"),
    )  # fmt: skip
    removed = sf.concat(leaves, sf.lit(", and is mapped no more: its copies end here"))
    elsewhere = sf.concat(
        leaves,
        sf.lit(" for "),
        sf.array_join(unread, ", "),
        sf.lit(", which the job does not read: copies lack its later changes until kafka.topics has"
               " all next topics"),
    )  # fmt: skip
    return (
        sf.when(~sf.coalesce(is_readable, sf.lit(False)), sf.lit(_UNREADABLE))
        .when(sf.size(to) == 0, removed)
        .when(sf.size(unread) > 0, elsewhere)
    )


def _is_read(topic: Column, database: Column, topics: Sequence[str]) -> Column:
    """Whether one of the topics is this one, or fits it if it is a template."""
    named = sf.replace(topic, sf.lit("{db}"), database)
    plain = sf.regexp_replace(named, _SPECIAL, r"\\$1")
    pattern = sf.concat(
        sf.lit("^"), sf.replace(plain, sf.lit("{table}"), sf.lit(".+")), sf.lit("$")
    )
    return sf.exists(sf.array(*map(sf.lit, topics)), lambda each: sf.rlike(each, pattern))
