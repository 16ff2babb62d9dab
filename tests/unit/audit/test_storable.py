"""Values of acts that the JSON of the topic cannot hold: the entry is written nevertheless."""

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from relay.audit import AuditEntry, StoredEntry
from relay.audit.chain import Chain
from relay.audit.storable import storable

_TEXTS = st.text(st.characters(exclude_categories=()), max_size=4)
_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), _TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(_TEXTS, inner, max_size=3)
    ),
)


@given(st.dictionaries(_TEXTS, _VALUES, max_size=3), _TEXTS)
def test_each_act_can_be_written_and_keeps_its_digest(after: dict[str, Any], text: str) -> None:
    written = Chain("host", ()).next(AuditEntry(text, "flow.set", text, {}, after, text))
    assert StoredEntry.from_bytes(written.to_bytes()).reference == written.reference


@given(st.dictionaries(_TEXTS, _VALUES, max_size=3))
def test_values_that_json_can_hold_stay(after: dict[str, Any]) -> None:
    try:
        held = orjson.loads(orjson.dumps(after))
    except TypeError:
        return
    assert storable(after) == held


def test_large_integers_and_lone_surrogates_become_text() -> None:
    assert storable({"rows": 2**64, "name": "a\ud800"}) == {
        "rows": str(2**64),
        "name": "a\\ud800",
    }
