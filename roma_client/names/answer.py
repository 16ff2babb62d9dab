"""Parses and checks the admin's answer about logical tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from roma_client.errors import AdminRefused, IncompatibleVersion, UnknownTag
from roma_client.records.record import STATEMENT_SUFFIX

ENVELOPE_VERSION: Final = 1
"""The version of the message format that this client reads."""

FORMAT: Final = "canal-json"


class Since(NamedTuple):
    """The mapping set that routed a table to a topic.

    seconds  age of the set; None: the age is unknown, or the table had no other topic before
    """

    set: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Table:
    """One logical table, as the admin describes it.

    topics            topics of its rows; each has all rows in the format that this client reads
    statement_topics  topics of its DDL, in addition to those of its rows
    tags              all tags that its messages may have
    transaction_topics
                      instance that publishes rows of it → its topic of BEGIN and END; "": it has
                      none
    since             topic → the set that routed the table to it; empty: the admin is of an older
                      version
    """

    database: str
    table: str
    topics: tuple[str, ...]
    statement_topics: tuple[str, ...]
    tags: frozenset[str]
    transaction_topics: Mapping[str, str] = field(default_factory=dict)
    since: Mapping[str, Since] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The table's name `database.table`."""
        return f"{self.database}.{self.table}"

    @property
    def topic(self) -> str:
        """Return the topic that is read: the first one in the mapping."""
        return self.topics[0]

    def check_tags(self, wanted: frozenset[str]) -> None:
        """Raise UnknownTag unless messages of the table may have each of these tags."""
        for tag in sorted(wanted - self.tags):
            near = get_close_matches(tag, sorted(self.tags), n=1)
            offer = f" Similar name: {near[0]}." if near else ""
            raise UnknownTag(
                f"No message of {self.name} has the tag {tag}.{offer} "
                f"Its tags: {', '.join(sorted(self.tags))}."
            )


@dataclass(frozen=True, slots=True)
class Answer:
    """The admin's answer: the bootstrap servers of Kafka, and the requested tables.

    number  number of the active mapping set
    caller  name of the user whose token the client sent; empty without a token, and for the token
            of the configuration file
    """

    number: int
    bootstrap_servers: str
    caller: str
    tables: tuple[Table, ...]

    @property
    def kafka(self) -> dict[str, str]:
        """Return the bootstrap servers as a setting of the Kafka client."""
        return {"bootstrap.servers": self.bootstrap_servers}


def read_answer(
    document: Mapping[str, Any], *, typed: bool, named_topic: str | None = None
) -> Answer:
    """Return the answer in the admin's JSON document.

    typed        whether the subscription converts values to Python types
    named_topic  the topic that the service named, which the mapping may not have; None: it named
                 none

    Raises IncompatibleVersion if this client would read the messages wrongly, AdminRefused for a
    document of another form.
    """
    try:
        version = document["envelope_version"]
        if version != ENVELOPE_VERSION:
            raise IncompatibleVersion(
                f"The relay's messages have version {version}, this client reads "
                f"{ENVELOPE_VERSION}."
            )
        return Answer(
            int(document["set"]),
            str(document["bootstrap_servers"]),
            str(document["caller"]),
            tuple(_table(each, typed, named_topic) for each in document["tables"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as exc:
        raise AdminRefused(
            f"The answer is not from the relay's admin: {type(exc).__name__}: {exc}.",
            "Check the address of the admin, and that its version is not older than the client's.",
        ) from exc


def without_ages(answer: Answer) -> Answer:
    """Return an answer from the cache without the ages of mapping sets, which were valid only when
    it was stored.
    """
    return replace(answer, tables=tuple(_without_ages(each) for each in answer.tables))


def _without_ages(table: Table) -> Table:
    return replace(table, since={t: Since(each.set, None) for t, each in table.since.items()})


def _table(document: Mapping[str, Any], typed: bool, named_topic: str | None) -> Table:
    name = f"{document['logical_database']}.{document['logical_table']}"
    for instance in document["instances"]:
        _check_instance(name, instance, typed=typed)
    topics = _readable_topics(name, document, named_topic)
    own = any(each["ddl"] == "topic" for each in document["instances"])
    return Table(
        str(document["logical_database"]),
        str(document["logical_table"]),
        topics,
        tuple(each + STATEMENT_SUFFIX for each in topics[:1]) if own else (),
        frozenset(document["tags"]),
        {
            str(each["name"]): each.get("transaction_topic") or ""  # an older admin has none
            for each in document["instances"]
        },
        {
            str(topic): Since(int(each["set"]), each["seconds"])
            for topic, each in document.get("since", {}).items()  # an older admin has none
        },
    )


def _readable_topics(table: str, document: Mapping[str, Any], named: str | None) -> tuple[str, ...]:
    """Return the topics that all instances publish in the format that this client reads.

    All topics if the one that is read is none of them: its format was another one, and a record in
    another format is corrupt. Raises IncompatibleVersion where no topic can be read.
    """
    topics = tuple(map(str, document["topics"]))
    if named is not None and named not in topics:
        return topics
    found = topics
    for instance in document["instances"]:
        # an older admin names one format for all topics
        formats = instance.get("formats") or dict.fromkeys(topics, instance["format"])
        found = tuple(each for each in found if formats.get(each) == FORMAT)
        if not found:
            raise IncompatibleVersion(
                f"Instance {instance['name']} publishes {table} in the format "
                f"{', '.join(sorted(set(formats.values())))}, this client reads {FORMAT}.",
                "Use a reader of that format. Read what is left in a former topic of this format "
                "with `topic`.",
            )
    return found


def _check_instance(table: str, instance: Mapping[str, Any], *, typed: bool) -> None:
    if instance["names"] != "logical":
        raise IncompatibleVersion(
            f"Instance {instance['name']} publishes {table} under real names "
            f'(routing.names = "{instance["names"]}").',
            "Read its topic with a Kafka client, or let the instance publish logical names.",
        )
    if typed and instance["value_style"] != "exact":
        raise IncompatibleVersion(
            f"Instance {instance['name']} publishes {table} with "
            f'value_style = "{instance["value_style"]}", whose texts do not determine the values.',
            'Subscribe with `values="text"`.',
        )
