"""The ids that a registry gave to schemas, and the check that no id means two schemas."""

from typing import Final, NamedTuple

import orjson

from relay.errors import RegistryRefused

_REMEDY: Final = (
    "Restore the schemas of the registry if it lost them, then start the instance again: it "
    "requests all ids again. Messages that were published after the loss may have ids of other "
    "schemas; `roma position set` to a position before the loss publishes them again."
)


class _Owner(NamedTuple):
    """The schema of an id: its subject, and what readers of the schema depend on."""

    subject: str
    meaning: str


class KnownIds:
    """Keeps ids by subject and schema.

    A registry that lost its schemas gives numbers from 1 again to new schemas. A former id can then
    belong to another schema, and readers would decode wrong values by it without an error.
    """

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], int] = {}
        self._owners: dict[int, _Owner] = {}

    def find(self, subject: str, schema: str) -> int | None:
        """Return the id of a schema in a subject, None if it is not known."""
        return self._ids.get((subject, schema))

    def add(self, subject: str, schema: str, kind: str, number: int) -> None:
        """Keep the id of a schema of a `kind` (AVRO, JSON or PROTOBUF).

        Raises RegistryRefused if the id already belongs to another schema.
        """
        owner = _Owner(subject, f"{kind} {_meaning(schema, kind)}")
        other = self._owners.setdefault(number, owner)
        if other.meaning != owner.meaning:
            raise RegistryRefused(
                f"The schema registry gives the id {number} to two schemas: to that of the subject "
                f"{subject}, and earlier to another one of the subject {other.subject}.",
                remedy=_REMEDY,
            )
        self._ids[subject, schema] = number


def _meaning(schema: str, kind: str) -> str:
    """Return the parts of a schema that change how a value is read.

    Registries may give one id to schemas that differ only in the order of properties (JSON) or
    fields (Protobuf). In Avro the order of fields determines the bytes.
    """
    if kind == "JSON":
        return orjson.dumps(orjson.loads(schema), option=orjson.OPT_SORT_KEYS).decode()
    return "\n".join(sorted(schema.splitlines())) if kind == "PROTOBUF" else schema
