"""Chains of the audit trail: each entry contains the digest of its writer's previous entry (ADR
66).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from secrets import token_hex
from typing import Any, Final

import orjson

from relay.audit.entry import AuditEntry
from relay.errors import AuditUnreadable

FORMAT: Final = 2
"""The format of entries that are in a chain. Entries of format 1 have the same fields without a
chain.
"""
MOST_SEEN: Final = 64
"""Largest number of newest entries of other chains that the first entry of a chain names."""
_SALT_BYTES: Final = 16
_WITHOUT_DIGEST: Final = "without digest"


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """An entry, named by its writer, its number in the writer's chain, and its digest."""

    writer: str
    sequence: int
    digest: str

    def __str__(self) -> str:
        return f"{self.writer}:{self.sequence}:{self.digest}"

    @classmethod
    def parse(cls, text: str) -> "Reference":
        """Return the reference in a text `writer:number:digest`. Raises ValueError for another
        text.
        """
        writer, sequence, digest = text.rsplit(":", 2)
        return cls(writer, int(sequence), digest)


@dataclass(frozen=True, slots=True)
class Link:
    """The position of an entry in the chain of its writer.

    writer    unique name of one process or act: the host's name and random digits
    sequence  number of the entry in the chain, from 1
    previous  digest of the entry before it; empty for the first entry
    seen      for the first entry: the newest entries of other chains; None: they could not be read
    """

    writer: str
    sequence: int
    previous: str = ""
    seen: tuple[Reference, ...] | None = ()

    def to_fields(self) -> dict[str, Any]:
        """Return the link as a JSON object."""
        seen = None if self.seen is None else [str(each) for each in self.seen]
        return {
            "writer": self.writer,
            "sequence": self.sequence,
            "previous": self.previous,
            "seen": seen,
        }

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> "Link":
        """Return the link of an entry. Raises KeyError, TypeError, ValueError."""
        seen = fields["seen"]
        return cls(
            str(fields["writer"]),
            int(fields["sequence"]),
            str(fields["previous"]),
            None if seen is None else tuple(Reference.parse(each) for each in seen),
        )


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry as it is stored in the topic.

    link    position in its chain; None: an entry of format 1, which is in no chain
    salt    random digits that protect the contents behind `commitment`; empty without a link
    erased  the commitment to contents that were erased; empty if the entry has its contents
    """

    entry: AuditEntry
    link: Link | None = None
    salt: str = ""
    erased: str = ""

    @property
    def commitment(self) -> str:
        """The SHA-256 of salt and contents. It does not change when the contents are erased."""
        return self.erased or _commitment(self.entry, self.salt)

    @property
    def contents(self) -> bytes:
        """The contents that an erasure removes: `before`, `after` and the comment."""
        entry = self.entry
        fields = orjson.dumps([dict(entry.before), dict(entry.stored_after)])
        return fields + b"\n" + entry.comment.encode()

    @property
    def reference(self) -> Reference | None:
        """The reference by which other entries name this one; None for an entry of format 1."""
        if self.link is None:
            return None
        return Reference(self.link.writer, self.link.sequence, _digest(self, self.link))

    def without_contents(self) -> "StoredEntry":
        """Return the entry without `before`, `after` and `comment`, but with the same digest.

        For an entry of format 1 the result has no digest: the entry has no salt, so guesses about
        the contents could be tested by its digest.
        """
        entry = replace(self.entry, before={}, after={}, comment="", via="")
        erased = _WITHOUT_DIGEST if self.link is None else self.commitment
        return replace(self, entry=entry, salt="", erased=erased)

    def to_bytes(self) -> bytes:
        """Return the Kafka value."""
        fields: dict[str, Any] = orjson.loads(self.entry.to_bytes())
        if self.link is not None:
            fields |= {"format": FORMAT, "salt": self.salt, "chain": self.link.to_fields()}
        return orjson.dumps({**fields, "erased": self.erased} if self.erased else fields)

    @classmethod
    def from_bytes(cls, value: bytes) -> "StoredEntry":
        """Return the entry in a Kafka value. Raises AuditUnreadable if the value is not an
        entry.
        """
        entry = AuditEntry.from_bytes(value)
        try:
            fields: dict[str, Any] = orjson.loads(value)
            link = Link.from_fields(fields["chain"]) if "chain" in fields else None
            salt, erased = str(fields.get("salt", "")), str(fields.get("erased", ""))
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            raise AuditUnreadable(f"The chain of an audit entry cannot be read ({exc}).") from exc
        return cls(entry, link, salt, erased)


@dataclass(frozen=True, slots=True)
class HeldEntry:
    """An entry in the topic.

    reference  names the entry; None for an entry of format 1
    digest     SHA-256 of the record's value
    """

    reference: Reference | None
    digest: str

    @classmethod
    def of(cls, stored: StoredEntry, value: bytes) -> "HeldEntry":
        """Return the reference of an entry, and the digest of its record's value."""
        return cls(stored.reference, value_digest(value))

    def __str__(self) -> str:
        return str(self.reference or f"an entry without a chain, SHA-256 {self.digest}")


def value_digest(value: bytes) -> str:
    """Return the SHA-256 of a record's value."""
    return sha256(value).hexdigest()


class Chain:
    """Adds entries to the chain of one writer, in the order of the calls.

    The caller must write every returned entry, or stop using the chain: an entry that is not
    written is a gap.
    """

    def __init__(self, label: str, seen: Iterable[Reference] | None) -> None:
        """`label` is the readable name of the writer; `seen` are the newest entries of other
        chains.
        """
        self.writer = f"{label}#{token_hex(_SALT_BYTES)}"
        self._seen = None if seen is None else tuple(seen)[:MOST_SEEN]
        self._last: Reference | None = None

    def next(self, entry: AuditEntry) -> StoredEntry:
        """Return `entry` with its position as the next one in the chain."""
        if self._last is None:
            link = Link(self.writer, 1, "", self._seen)
        else:
            link = Link(self.writer, self._last.sequence + 1, self._last.digest)
        stored = StoredEntry(entry, link, token_hex(_SALT_BYTES))
        self._last = stored.reference
        return stored


class OlderEntries:
    """The running digest of the entries of format 1, which are in no chain. An entry that Kafka
    stored twice is counted once.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, None] = {}
        self._digests: list[str] = []

    def add(self, value: bytes) -> None:
        """Add the value of the next entry of format 1."""
        if value in self._known:
            return
        self._known[value] = None
        before = self._digests[-1] if self._digests else ""
        self._digests.append(sha256(before.encode() + sha256(value).digest()).hexdigest())

    @property
    def references(self) -> list[Reference]:
        """Return one reference to all entries of format 1; empty if the topic has no such entry."""
        return [Reference("", len(self._digests), self._digests[-1])] if self._digests else []

    def has(self, reference: Reference) -> bool:
        """Return whether the first entries, as many as the reference counts, have the digest of the
        reference.
        """
        number = reference.sequence
        return 0 < number <= len(self._digests) and self._digests[number - 1] == reference.digest

    def __len__(self) -> int:
        return len(self._digests)


def newest_entries(stored: Iterable[StoredEntry]) -> list[Reference]:
    """Return references to the entries that no other entry names, the newest first."""
    entries: dict[Reference, None] = {}
    named: set[Reference] = set()
    for each in stored:
        if each.link is None or (reference := each.reference) is None:
            continue
        entries[reference] = None
        named.update(references(each.link))
    return [each for each in reversed(entries) if each not in named]


def references(link: Link) -> list[Reference]:
    """Return the references in a link: to the entry before it, and to the entries in `seen`."""
    before = [Reference(link.writer, link.sequence - 1, link.previous)] if link.sequence > 1 else []
    return [*before, *(link.seen or ())]


def _digest(stored: StoredEntry, link: Link) -> str:
    entry = stored.entry
    fields = {
        "actor": entry.actor,
        "act": entry.act,
        "subject": entry.subject,
        "at_ms": entry.at_ms,
        "contents": stored.commitment,
        "chain": link.to_fields(),
    }
    return sha256(_canonical(fields)).hexdigest()


def _commitment(entry: AuditEntry, salt: str) -> str:
    contents = {"before": entry.before, "after": entry.stored_after, "comment": entry.comment}
    return sha256(salt.encode() + _canonical(contents)).hexdigest()


def _canonical(value: object) -> bytes:
    """Return the same bytes for a value before and after it was stored: JSON with sorted keys."""
    return orjson.dumps(orjson.loads(orjson.dumps(value)), option=orjson.OPT_SORT_KEYS)
