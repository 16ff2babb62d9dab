"""From which topic each table is read, for a reader of many tables that takes new ones too."""

from collections.abc import Iterable

from roma_client.errors import TableMoved
from roma_client.names.answer import Table


class Places:
    """The topic of each table, by the admin's answer when the reader began. Not thread-safe.

    A table that the answer lacks has the topics of its database. Topics of a database with
    `{table}` differ by table: such a table is read from the topic where its first row comes.
    """

    def __init__(self, tables: Iterable[Table]) -> None:
        known = tuple(tables)
        self.topics = {each.name: each.topic for each in known}
        """Table name to the topic that it is read from."""
        self._all = {each.name: frozenset(each.topics) for each in known}

    def reads(self, name: str, topic: str) -> bool:
        """Return whether a table is read from a topic; False for another copy of its rows.

        Raises TableMoved for a topic that the table did not have: its rows must not be passed over.
        """
        read = self.topics.get(name)
        if read is None:
            read = self.topics[name] = self._topic_of_new(name, topic)
        if topic == read:
            return True
        if topic in self._all.setdefault(name, frozenset(self._of_database(name, topic))):
            return False
        raise TableMoved(
            f"Rows of {name} come in topic {topic}, and this client reads it from topic {read}: "
            "the mapping has changed since it subscribed.",
            f"Subscribe again. Rows that are left in {read} are then skipped: the page of "
            "`roma canal-server` has the steps that skip none.",
        )

    def _topic_of_new(self, name: str, topic: str) -> str:
        """Return the topic of a new table whose first row comes in `topic`."""
        database = name.split(".", maxsplit=1)[0]
        neighbours = [each for each, topics in self._all.items() if topic in topics]
        found = [self.topics[each] for each in neighbours if each.split(".")[0] == database]
        return found[0] if found else topic

    def _of_database(self, name: str, topic: str) -> Iterable[str]:
        """Return all topics of the database of a new table, if one of its tables has `topic`."""
        database = name.split(".", maxsplit=1)[0]
        of_tables = [t for each, t in self._all.items() if each.split(".")[0] == database]
        return next((topics for topics in of_tables if topic in topics), ())
