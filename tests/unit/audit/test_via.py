"""`via` of an entry: in the digests of every version, and never invented for older entries."""

from dataclasses import replace
from hashlib import sha256
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.audit import PAGE, RELAY, AuditEntry, StoredEntry, acting_via
from relay.audit.chain import Chain
from relay.audit.verify import verify

ENTRY = AuditEntry("ann", "flow.set", "shop", {"paused": False}, {"paused": True}, "disk", 5, PAGE)
_AFTER = st.dictionaries(
    st.sampled_from(["via", "a"]), st.one_of(st.text(max_size=4), st.integers(), st.none())
)


def test_an_entry_names_how_the_present_act_was_requested() -> None:
    with acting_via(PAGE):
        assert AuditEntry("ann", "flow.set").via == PAGE
    assert AuditEntry("relay", "source.switched").via == RELAY


def test_a_version_that_does_not_know_via_verifies_the_entry() -> None:
    stored = Chain("host", ()).next(ENTRY)
    fields: dict[str, Any] = orjson.loads(stored.to_bytes())
    assert "via" not in fields, "an older version would not cover a field that it does not know"
    contents = {name: fields[name] for name in ("before", "after", "comment")}
    digest = sha256(
        fields["salt"].encode() + orjson.dumps(contents, option=orjson.OPT_SORT_KEYS)
    ).hexdigest()
    assert digest == stored.commitment


def test_a_changed_via_is_found() -> None:
    chain = Chain("host", ())
    first, second = chain.next(ENTRY), chain.next(ENTRY)
    forged = replace(first, entry=replace(ENTRY, via="REST"))
    records = [(at, each.to_bytes()) for at, each in enumerate((forged, second))]
    assert "was changed or replaced" in " ".join(verify(records).problems)
    whole = [(at, each.to_bytes()) for at, each in enumerate((first, second))]
    assert verify(whole).problems == ()


@given(_AFTER)
def test_an_entry_of_an_older_version_keeps_its_digest(after: dict[str, Any]) -> None:
    written = Chain("host", ()).next(replace(ENTRY, after=after, via=""))
    read = StoredEntry.from_bytes(written.to_bytes())
    assert read.reference == written.reference
    assert read.to_bytes() == StoredEntry.from_bytes(read.to_bytes()).to_bytes()


@pytest.mark.parametrize("via", ["", PAGE])
def test_an_entry_comes_back_with_its_via(via: str) -> None:
    entry = replace(ENTRY, via=via)
    assert AuditEntry.from_bytes(entry.to_bytes()) == entry
    stored = Chain("host", ()).next(entry)
    assert StoredEntry.from_bytes(stored.to_bytes()) == stored


def test_an_erased_entry_keeps_its_digest_and_no_via() -> None:
    stored = Chain("host", ()).next(ENTRY)
    erased = StoredEntry.from_bytes(stored.without_contents().to_bytes())
    assert (erased.reference, erased.entry.via) == (stored.reference, "")
