"""The form of an audit entry."""

from pathlib import Path

import pytest

from relay.audit import AuditEntry
from relay.errors import AuditUnreadable

_FORMAT_1 = Path(__file__).parents[2] / "golden" / "audit_entry.1.json"
ENTRY = AuditEntry(
    "ann", "position.set", "shop", {"offset": 4}, {"offset": 900}, "poison", 1_700_000_000_000
)


def test_the_first_format_is_read() -> None:
    assert AuditEntry.from_bytes(_FORMAT_1.read_bytes()) == ENTRY


def test_an_entry_comes_back_with_every_field() -> None:
    assert AuditEntry.from_bytes(ENTRY.to_bytes()) == ENTRY


def test_what_a_newer_version_adds_is_left_out() -> None:
    newer = ENTRY.to_bytes().replace(b'"format":1', b'"format":2,"ticket":"A-1"')
    assert AuditEntry.from_bytes(newer) == ENTRY


@pytest.mark.parametrize("value", [b"", b"[]", b"{}", b'{"actor": "ann"}', b"\xff"])
def test_what_is_no_entry_is_refused(value: bytes) -> None:
    with pytest.raises(AuditUnreadable):
        AuditEntry.from_bytes(value)
