"""One line of the audit trail."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from time import time
from typing import Any, Final

import orjson

from relay.audit.storable import storable
from relay.audit.via import current_via
from relay.errors import AuditUnreadable

FORMAT: Final = 1
_VIA: Final = "via"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An operator act: `actor` did `act` to `subject` (an instance, or "" for the installation).

    `at_ms` is the time in Unix milliseconds. `before` and `after` have the fields that the act
    changed, as JSON values; `storable` converts values that the topic's JSON cannot store.
    `via` is how the act was requested; empty in entries of older versions.
    """

    actor: str
    act: str
    subject: str = ""
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    comment: str = ""
    at_ms: int = field(default_factory=lambda: int(time() * 1000))
    via: str = field(default_factory=current_via)

    def __post_init__(self) -> None:
        for name in ("actor", "act", "subject", "before", "after", "comment"):
            object.__setattr__(self, name, storable(getattr(self, name)))

    @property
    def stored_after(self) -> Mapping[str, Any]:
        """Return `after` as it is stored in the topic: with `via` as one of its fields.

        So the digests that older versions compute also cover `via` (ADR 95).
        """
        return {**self.after, _VIA: self.via} if self.via else self.after

    def to_fields(self) -> dict[str, Any]:
        """Return all fields as JSON values, for readers."""
        return {"format": FORMAT, **asdict(self)}

    def to_bytes(self) -> bytes:
        """Return the Kafka value: a JSON object with the format number and all fields."""
        fields = self.to_fields()
        del fields[_VIA]
        return orjson.dumps({**fields, "after": dict(self.stored_after)})

    @classmethod
    def from_bytes(cls, value: bytes) -> "AuditEntry":
        """Return the entry in a Kafka value; fields of a newer version are ignored.

        Raises AuditUnreadable if the value is not an entry.
        """
        try:
            fields: dict[str, Any] = orjson.loads(value)
            known = {
                name: fields[name]
                for name in ("actor", "act", "subject", "before", "after", "comment", "at_ms")
            }
            known["after"], via = _without_via(known["after"])
            return cls(**known, via=via)
        except (orjson.JSONDecodeError, KeyError, TypeError) as exc:
            raise AuditUnreadable(f"An entry of the audit trail cannot be read ({exc}).") from exc


def _without_via(after: Any) -> tuple[Any, str]:
    """Return `after` without `via`, and `via`. Anything that `stored_after` cannot write stays."""
    via = after.get(_VIA) if isinstance(after, dict) else None
    if not isinstance(via, str) or not via:
        return after, ""
    return {name: each for name, each in after.items() if name != _VIA}, via
