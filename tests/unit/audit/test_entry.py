"""The form of an audit entry."""

from pathlib import Path

import pytest

from relay.audit import AuditEntry, Reference, StoredEntry
from relay.errors import AuditUnreadable

_FORMAT_1 = Path(__file__).parents[2] / "golden" / "audit_entry.1.json"
_FORMAT_2 = _FORMAT_1.with_name("audit_entry.2.json")
_DIGEST = "7f73c877f1c858b8657a09c6273f19c5e81a97a68488361a3aba7052c99b30b4"
ENTRY = AuditEntry(
    "ann", "position.set", "shop", {"offset": 4}, {"offset": 900}, "poison", 1_700_000_000_000, ""
)


def test_the_first_format_is_read() -> None:
    assert AuditEntry.from_bytes(_FORMAT_1.read_bytes()) == ENTRY


def test_the_second_format_is_read_with_its_chain() -> None:
    stored = StoredEntry.from_bytes(_FORMAT_2.read_bytes())
    assert (stored.entry, stored.to_bytes()) == (ENTRY, _FORMAT_2.read_bytes())
    assert stored.link is not None
    assert stored.link.seen == (
        Reference("", 3, "ab" * 32),
        Reference("host2#ff", 7, "cd" * 32),
    )
    assert stored.reference is not None
    assert stored.reference.digest == _DIGEST


def test_an_entry_comes_back_with_every_field() -> None:
    assert AuditEntry.from_bytes(ENTRY.to_bytes()) == ENTRY


def test_what_a_newer_version_adds_is_left_out() -> None:
    newer = ENTRY.to_bytes().replace(b'"format":1', b'"format":2,"ticket":"A-1"')
    assert AuditEntry.from_bytes(newer) == ENTRY


@pytest.mark.parametrize("value", [b"", b"[]", b"{}", b'{"actor": "ann"}', b"\xff"])
def test_what_is_no_entry_is_refused(value: bytes) -> None:
    with pytest.raises(AuditUnreadable):
        AuditEntry.from_bytes(value)
