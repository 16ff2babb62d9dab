"""Finds the topic from which each table is read, for a reader of many tables that also reads new
tables.
"""

from collections.abc import Iterable

from roma_client.errors import TableMoved
from roma_client.names.answer import Table


class TableTopics:
    """Finds the topic from which each table is read, in the admin's answer at the reader's start.
    Not thread-safe.

    A table that is not in the answer is new. If the first row of a new table arrives in a topic of
    another table of its database, both tables have the same topics, and the new table is read from
    the topic from which the other one is read. If no other table of the database has that topic
    (the mapping gives each table a topic by `{table}`), the new table is read from the topic of its
    first row.
    """

    def __init__(self, tables: Iterable[Table]) -> None:
        known = tuple(tables)
        self.topics = {each.name: each.topic for each in known}
        """Table name to the topic that it is read from."""
        self._all = {each.name: frozenset(each.topics) for each in known}

    def reads(self, name: str, topic: str) -> bool:
        """Return whether a table is read from a topic; False if the topic has another copy of its
        rows.

        Raises TableMoved for a topic that the table did not have, because its rows must not be
        skipped.
        """
        read = self.topics.get(name)
        if read is None:
            near = self._neighbour(name, topic)
            read = self.topics[name] = topic if near is None else self.topics[near]
        if topic == read:
            return True
        if name not in self._all:
            near = self._neighbour(name, topic)
            self._all[name] = frozenset() if near is None else self._all[near]
        if topic in self._all[name]:
            return False
        raise TableMoved(
            f"Rows of {name} arrive in topic {topic}, and this client reads the table from topic "
            f"{read}: the mapping has changed since it subscribed.",
            f"Subscribe again. The new subscription skips the unread rows in {read}; the steps "
            "that skip no row are on the page of `roma canal-server`.",
        )

    def _neighbour(self, name: str, topic: str) -> str | None:
        """Return a known table of the same database that has a topic; None without one."""
        database = name.split(".", maxsplit=1)[0]
        near = (each for each, topics in self._all.items() if topic in topics)
        return next((each for each in near if each.split(".")[0] == database), None)
