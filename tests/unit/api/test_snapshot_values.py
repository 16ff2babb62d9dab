"""Requests of copies: conditions and keys hold values of rows, which few callers may see."""

import json
from hashlib import sha256

from api.models.snapshot import SnapshotView
from relay.operations import ShownSnapshot
from relay.operations.snapshots import audited_fields
from relay.state import SnapshotRequest

_WAITS = {"rows": 7, "waits": "Unknown column 'Jane' in 'where clause'"}


def test_a_condition_and_what_may_quote_it_need_the_right_values() -> None:
    request = SnapshotRequest("1", "shop", ("s.t",), "name = 'Jane'", reason="near 'Jane'")
    shown = ShownSnapshot(request, dict(_WAITS))
    hidden = SnapshotView.shown(shown, values=False)
    assert "Jane" not in hidden.model_dump_json()
    assert (hidden.where, hidden.has_condition, hidden.progress["rows"]) == ("", True, 7)
    seen = SnapshotView.shown(shown, values=True)
    assert (seen.where, seen.reason, seen.progress) == (request.where, request.reason, _WAITS)
    by_keys = SnapshotRequest("1", "shop", ("s.t",), keys=(("Jane",),), reason="['Jane'] is no key")
    assert "Jane" not in SnapshotView.of(by_keys, values=False).model_dump_json()


def test_a_request_of_whole_tables_hides_nothing() -> None:
    request = SnapshotRequest("1", "shop", ("s.t",), reason="no unique key")
    for values in (False, True):
        view = SnapshotView.shown(ShownSnapshot(request, dict(_WAITS)), values=values)
        assert (view.reason, view.progress) == ("no unique key", _WAITS)
        assert not view.has_condition


def test_the_audit_trail_has_the_number_of_keys_and_no_value() -> None:
    request = SnapshotRequest("1", "shop", ("s.t",), "name = 'Jane'", (("Jane",), ("Joe",)))
    fields = audited_fields(request)
    assert "Jane" not in json.dumps(fields)
    digest = sha256(b'[["Jane"],["Joe"]]').hexdigest()
    assert (fields["keys"], fields["has_condition"], fields["keys_digest"]) == (2, True, digest)
    assert fields["tables"] == ("s.t",)
    whole = audited_fields(SnapshotRequest("1", "shop", ("s.t",)))
    assert (whole["keys"], whole["has_condition"], whole["keys_digest"]) == (0, False, "")
