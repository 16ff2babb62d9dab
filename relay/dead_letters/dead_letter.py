"""A dead letter: a message that could not be sent, or a row that could not be encoded, with all
known facts about it.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import orjson

from relay.envelope import Header
from relay.errors import DeadLetterDamaged
from relay.model.message import OutboundMessage

FORMAT: Final = 1
_OF_TRANSACTION: Final = (Header.TRANSACTION.value, Header.TRANSACTION_BEFORE.value)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was not published, the reason, and its intended topic.

    `id` is unique in the instance. `code` and `reason` are those of the error. `real` and `logical`
    are `database.table`; `file` and `offset` say where the source transaction begins.
    `execute_time` and `execute_position` are the order key of the change. `message` is the message
    as it would have been sent; its value is None if only the head was requested. `is_message` is
    False if no message could be encoded: the value is then the decoded row (JSON).
    """

    id: str
    code: str
    reason: str
    real: str
    logical: str
    file: str
    offset: int
    gtid: str
    execute_time: int
    execute_position: int
    message: OutboundMessage
    value_bytes: int
    is_message: bool = True
    written_ms: int = 0

    def to_bytes(self) -> bytes:
        """Return the dead letter as the document that is cut into pieces: a line of JSON, then the
        value.
        """
        return (
            orjson.dumps({"format": FORMAT, **self.to_fields()})
            + b"\n"
            + (self.message.value or b"")
        )

    def to_fields(self) -> dict[str, Any]:
        """Return all fields except the value as JSON values.

        Key and headers are bytes, so they are base64.
        """
        message = self.message
        fields = {name: value for name, value in asdict(self).items() if name != "message"}
        return {
            **fields,
            "topic": message.topic,
            "partition": message.partition,
            "key": _base64(message.key),
            "headers": [[name, _base64(value)] for name, value in message.headers],
            "has_value": message.value is not None,
        }

    @classmethod
    def from_bytes(cls, document: bytes) -> "DeadLetter":
        """Return the dead letter in a document; fields of a newer version are ignored.

        Raises DeadLetterDamaged if the document is not a dead letter or has another format.
        """
        head, _, value = document.partition(b"\n")
        try:
            fields: dict[str, Any] = orjson.loads(head)
            if fields["format"] != FORMAT:
                raise DeadLetterDamaged(
                    f"A dead letter has format {fields['format']}, and this version reads only "
                    f"format {FORMAT}.",
                    remedy="Read the dead letters with the version of the relay that wrote them.",
                )
            known = {name: fields[name] for name in _TYPES}
            _check_types(known, _TYPES)
            return cls(message=_message(fields, value), **known)
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as exc:
            raise DeadLetterDamaged(f"A dead letter cannot be read ({exc}).") from exc

    @property
    def later_message(self) -> OutboundMessage:
        """The message in the form in which it is sent later: it belongs to no source transaction.

        The END message of its transaction has not counted it, and consumers have already read that
        END.
        """
        headers = tuple(each for each in self.message.headers if each[0] not in _OF_TRANSACTION)
        return replace(self.message, headers=headers)

    @property
    def head(self) -> "DeadLetter":
        """The dead letter without its value, which may be large."""
        return replace(self, message=replace(self.message, value=None))


_TYPES: Final[Mapping[str, object]] = {
    name: each.type for name, each in DeadLetter.__dataclass_fields__.items() if name != "message"
}
"""Field of the first line → its type."""


def _check_types(fields: Mapping[str, Any], types: Mapping[str, object]) -> None:
    """Raise TypeError for the first field that has another type."""
    for name, wanted in types.items():
        if type(fields[name]) is not wanted:
            raise TypeError(f"{name} is {type(fields[name]).__name__}")


def _message(fields: Mapping[str, Any], value: bytes) -> OutboundMessage:
    _check_types(fields, {"topic": str, "partition": int, "has_value": bool})
    key = None if fields["key"] is None else b64decode(fields["key"])
    headers = tuple((str(name), b64decode(text)) for name, text in fields["headers"])
    return OutboundMessage(
        fields["topic"], fields["partition"], key, value if fields["has_value"] else None, headers
    )


def _base64(value: bytes | None) -> str | None:
    return None if value is None else b64encode(value).decode("ascii")
