"""Pages of the audit trail: filters, the next page, and the fields that an act changed."""

from hypothesis import given
from hypothesis import strategies as st

from api.services.audit_book import page_of
from api.web.views.audit import address, rows_of
from relay.audit import AuditEntry, AuditFilter

_ENTRIES = st.lists(
    st.builds(
        AuditEntry,
        st.sampled_from(["ann", "bob"]),
        st.sampled_from(["mapping.saved", "mapping.rolled-back", "flow.set"]),
        st.sampled_from(["", "shop"]),
        at_ms=st.integers(0, 20),
    ),
    max_size=30,
)


@given(_ENTRIES, st.integers(1, 7))
def test_the_pages_have_every_entry_once(entries: list[AuditEntry], limit: int) -> None:
    seen: list[AuditEntry] = []
    before: int | None = None
    while True:
        page = page_of(entries, AuditFilter(before=before), limit)
        seen += page.entries
        if page.older is None:
            break
        assert len(page.entries) >= limit
        before = page.older
    assert [each.at_ms for each in seen] == sorted((each.at_ms for each in entries), reverse=True)
    assert sorted(map(repr, seen)) == sorted(map(repr, entries))


def test_entries_are_found_by_actor_act_and_subject() -> None:
    saved = AuditEntry("ann", "mapping.saved", at_ms=3)
    paused = AuditEntry("bob", "flow.set", "shop", at_ms=2)
    every = [saved, paused]
    assert page_of(every, AuditFilter(actor="ann"), 9).entries == (saved,)
    assert page_of(every, AuditFilter(act="mapping"), 9).entries == (saved,)
    assert page_of(every, AuditFilter(act="flow.set"), 9).entries == (paused,)
    assert page_of(every, AuditFilter(act="map"), 9).entries == ()
    assert page_of(every, AuditFilter(subject="shop", before=2), 9).entries == ()


def test_entries_are_found_by_a_part_of_the_comment_and_by_via() -> None:
    saved = AuditEntry("ann", "mapping.saved", comment="Ticket OPS-12", via="page", at_ms=3)
    paused = AuditEntry("bob", "flow.set", "shop", comment="disk", via="REST", at_ms=2)
    every = [saved, paused]
    assert page_of(every, AuditFilter(comment="ops-12"), 9).entries == (saved,)
    assert page_of(every, AuditFilter(via="REST"), 9).entries == (paused,)
    assert page_of(every, AuditFilter(comment="ops", via="REST"), 9).entries == ()


def test_a_row_has_the_fields_that_differ() -> None:
    entry = AuditEntry("ann", "x", before={"a": 1, "b": True}, after={"b": True, "a": 2, "c": "t"})
    (row,) = rows_of([entry])
    assert [(each.name, each.before, each.after) for each in row.fields] == [
        ("a", "1", "2"),
        ("c", "", "t"),
    ]


def test_addresses_keep_the_filter() -> None:
    wanted = AuditFilter("a&b", "flow.set", "")
    assert address(wanted, before=0) == "act=flow.set&before=0&who=a%26b"
    assert "actor=a%26b" in address(wanted, before=None, form="csv")
    assert "comment=disk&via=page" in address(
        AuditFilter(comment="disk", via="page"), before=None, form="csv"
    )
