"""The records of mappings in ZooKeeper: documents, sets and the pointer.

Each document and set is written once. Unknown fields in them are ignored.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from relay.errors import MappingRefused
from relay.model.names.mapping_name import MappingName, digest_of
from relay.state.json_object import JsonObject, write_json

FORMAT: Final = 1
"""The format that is written; a higher one was written by a newer relay and is refused."""


@dataclass(frozen=True, slots=True)
class Note:
    """Who saved something, when (Unix milliseconds) and why."""

    author: str = ""
    comment: str = ""
    saved_ms: int = 0

    @classmethod
    def read(cls, fields: JsonObject) -> "Note":
        """Return the note whose three fields are among the fields of a record."""
        return cls(fields.text("author"), fields.text("comment"), fields.whole("saved_ms"))

    def fields(self) -> dict[str, object]:
        """Return the fields of the note, to be added to those of a record."""
        return {"author": self.author, "comment": self.comment, "saved_ms": self.saved_ms}


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """One version of a mapping document. `body` is its text exactly as it was sent."""

    data_id: str
    version: int
    body: str
    note: Note

    def to_document(self) -> bytes:
        """Return the node's value: one line of JSON about the document, then its body.

        With this form, people can read the document in any ZooKeeper shell.
        """
        return write_json({"format": FORMAT, **self.note.fields()}) + b"\n" + self.body.encode()

    @classmethod
    def from_document(cls, data_id: str, version: int, value: bytes) -> "StoredDocument":
        """Return the document in a node's value. A value without the relay's first line was written
        by a person and is only body.

        Raises MappingRefused.
        """
        try:
            text = value.decode()
        except UnicodeDecodeError as exc:
            raise _refused(data_id, f"Version {version} of {data_id} is not UTF-8.") from exc
        first_line, _, rest = text.partition("\n")
        header = JsonObject.read(first_line)
        if "format" not in header:
            return cls(data_id, version, text, Note())
        _check_format(header, data_id, f"Version {version} of {data_id}")
        return cls(data_id, version, rest, Note.read(header))


@dataclass(frozen=True, slots=True)
class SetRecord:
    """One mapping set: which version of each document it has.

    `restored_from` is the older set whose documents a rollback took, None without a rollback.
    `is_apart`: a restore wrote this set while ZooKeeper had the sets of another store. No rows of
    the installation were published under those sets.
    """

    number: int
    versions: Mapping[str, int]
    note: Note
    restored_from: int | None = None
    is_apart: bool = False

    def to_document(self) -> bytes:
        """Return the JSON document, without the number, which is the node's name."""
        return write_json(
            {
                "format": FORMAT,
                "documents": dict(self.versions),
                "restored_from": self.restored_from,
                **({"is_apart": True} if self.is_apart else {}),
                **self.note.fields(),
            }
        )

    @classmethod
    def from_document(cls, number: int, value: bytes) -> "SetRecord":
        """Return the set in a node's value.

        Raises MappingRefused if the list of documents is missing, because an empty set would drop
        every row.
        """
        fields = JsonObject.read(value)
        if "documents" not in fields:
            raise _refused("", f"Mapping set {number} does not name its documents.")
        _check_format(fields, "", f"Mapping set {number}")
        return cls(
            number,
            fields.wholes("documents"),
            Note.read(fields),
            fields.whole_or_none("restored_from"),
            fields.truth("is_apart"),
        )


@dataclass(frozen=True, slots=True)
class StoredSet:
    """A mapping set with the texts of its documents (`bodies`: dataId → JSON).

    Number 0 is the empty set of an installation where nothing was saved.
    """

    record: SetRecord
    bodies: Mapping[str, str] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """The number of the set; 0: nothing was saved yet."""
        return self.record.number

    @property
    def name(self) -> MappingName:
        """The set's number with the digest of its documents; number 0 has none."""
        return MappingName(self.number, digest_of(self.bodies) if self.number else "")

    @classmethod
    def empty(cls, number: int = 0) -> "StoredSet":
        """Return a set without documents."""
        return cls(SetRecord(number, {}, Note()))


@dataclass(frozen=True, slots=True)
class Pointer:
    """The number of the active mapping set. `guard` is the version of the pointer's node, None if
    it does not exist.
    """

    number: int
    guard: int | None

    def to_document(self) -> bytes:
        """Return the JSON document without `version`, which ZooKeeper keeps."""
        return write_json({"format": FORMAT, "set": self.number})

    @classmethod
    def from_document(cls, value: bytes, guard: int) -> "Pointer":
        """Return the pointer in a node's value. A bare number, as a person may write it, is
        accepted too.

        Raises MappingRefused.
        """
        number = JsonObject.read(value).whole_or_none("set")
        number = _bare_number(value) if number is None else number
        if number is None or number < 0:
            raise _refused(
                "", "The pointer to the active mapping set does not contain a set's number."
            )
        return cls(number, guard)


def _bare_number(value: bytes) -> int | None:
    try:
        found = json.loads(value)
    except ValueError:
        return None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _check_format(fields: JsonObject, data_id: str, what: str) -> None:
    if fields.whole("format") > FORMAT:
        raise _refused(
            data_id, f"{what} was written by a newer relay (format {fields.whole('format')})."
        )


def _refused(data_id: str, reason: str) -> MappingRefused:
    return MappingRefused(
        reason,
        data_id=data_id,
        pointer="",
        remedy="Roll back to a good set, or save all documents again.",
    )
