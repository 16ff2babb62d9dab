"""Chooses the subjects of schemas in a registry, and writes the bytes before each value."""

from collections.abc import Sequence
from struct import Struct
from typing import Final, Literal, Protocol, TypeAlias

from relay.errors import SchemaRefused
from relay.model.table import TableId

SubjectStrategy: TypeAlias = Literal["topic_record_name", "record_name", "topic_name"]
SchemaKind: TypeAlias = Literal["AVRO", "JSON", "PROTOBUF"]
"""Confluent's names for the kinds of schemas."""
HEAD: Final = Struct(">bI")
"""The bytes before each value: zero, and the schema's id (Confluent documentation: wire format)."""


class SchemaIds(Protocol):
    """Finds the ids of schemas in a registry; `relay.registry` implements this protocol."""

    def id_of(self, subject: str, schema: str, kind: SchemaKind, /) -> int:
        """Return the id of a schema in this subject. The call may register the schema."""


class Subjects:
    """Chooses the subject of each schema by Confluent's strategies for values, and gets its id from
    the registry.
    """

    def __init__(self, ids: SchemaIds, strategy: SubjectStrategy, kind: SchemaKind) -> None:
        self._ids = ids
        self._strategy = strategy
        self._kind: SchemaKind = kind

    def id_of(self, topic: str, record: str, schema: str) -> int:
        """Return the id of the schema of a record with this full name, for a topic."""
        return self._ids.id_of(self._subject(topic, record), schema, self._kind)

    def id_of_rows(self, name: TableId, topics: Sequence[str], record: str, schema: str) -> int:
        """Return the id of a table's schema. It must be the same for all topics of the table.

        Raises SchemaRefused if the registry gives several ids.
        """
        ids = {topic: self.id_of(topic, record, schema) for topic in topics}
        if len(set(ids.values())) != 1:
            raise SchemaRefused(
                f"The registry gives the schema of {name} several ids: {ids}. A row's message is "
                f"the same in all topics of its table."
            )
        return next(iter(ids.values()))

    def _subject(self, topic: str, record: str) -> str:
        match self._strategy:
            case "topic_name":
                return f"{topic}-value"
            case "record_name":
                return record
            case "topic_record_name":
                return f"{topic}-{record}"
