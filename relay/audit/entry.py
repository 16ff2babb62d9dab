"""One line of the audit trail."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from time import time
from typing import Any, Final

import orjson

from relay.errors import AuditUnreadable

FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An operator act: `actor` did `act` to `subject` (an instance, or "" for the installation).

    `at_ms` is the time in Unix milliseconds. `before` and `after` hold the few fields that the act
    changed, as JSON values.
    """

    actor: str
    act: str
    subject: str = ""
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    comment: str = ""
    at_ms: int = field(default_factory=lambda: int(time() * 1000))

    def to_bytes(self) -> bytes:
        """Return the Kafka value: a JSON object with the format number and all fields."""
        return orjson.dumps({"format": FORMAT, **asdict(self)})

    @classmethod
    def from_bytes(cls, value: bytes) -> "AuditEntry":
        """Read an entry; fields of a newer version are ignored.

        Raises AuditUnreadable if the value is not an entry.
        """
        try:
            fields: dict[str, Any] = orjson.loads(value)
            known = {
                name: fields[name]
                for name in ("actor", "act", "subject", "before", "after", "comment", "at_ms")
            }
            return cls(**known)
        except (orjson.JSONDecodeError, KeyError, TypeError) as exc:
            raise AuditUnreadable(f"An entry of the audit trail cannot be read ({exc}).") from exc
