"""What identifies a mapping set, and when a store continues the sets that rows were published
under.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.model.names.mapping_name import MappingName, digest_of, same_store

BODIES = st.dictionaries(st.sampled_from(["dbs", "tbs", "topics", "tags"]), st.text(max_size=20))
ONE, TWO, OTHER = MappingName(1, "one"), MappingName(2, "two"), MappingName(1, "other")


@given(BODIES, BODIES)
def test_a_digest_differs_where_the_documents_do(
    one: dict[str, str], other: dict[str, str]
) -> None:
    one, other = (
        {data_id: json.dumps([body]) for data_id, body in each.items()} for each in (one, other)
    )
    assert (digest_of(one) == digest_of(other)) == (one == other)


@pytest.mark.parametrize(
    "said_alike",
    [
        {"dbs": '[{"logicDb": "a",\n "realDbs": "b"}]'},
        {"dbs": '[{"logicDb":"a","realDbs":"\\u0062"}]', "tags": " [ ] "},
    ],
)
def test_white_space_and_a_missing_document_do_not_count(said_alike: dict[str, str]) -> None:
    assert digest_of(said_alike) == digest_of({"dbs": '[{"logicDb":"a","realDbs":"b"}]'})


def test_what_is_no_json_has_a_digest_as_well() -> None:
    broken = ['[{"logicDb":"a"', '[{"logicDb":"a" ', "[" * 100_000, '["\\ud800"]', "[NaN]"]
    assert len({digest_of({"dbs": body}) for body in broken}) == len(broken)


@pytest.mark.parametrize(
    ("named", "active", "recorded", "same"),
    [
        (MappingName(), ONE, None, True),
        (ONE, ONE, ONE, True),
        (ONE, TWO, ONE, True),
        (TWO, ONE, TWO, True),
        (ONE, MappingName(7, "one"), None, True),
        (ONE, MappingName(7, "one"), OTHER, True),
        (ONE, MappingName(), None, False),
        (ONE, OTHER, OTHER, False),
        (ONE, TWO, OTHER, False),
        (TWO, ONE, None, False),
        (MappingName(3, ""), TWO, None, False),
        (MappingName(1, ""), TWO, ONE, True),
        (MappingName(1, ""), MappingName(), None, False),
    ],
)
def test_a_store_continues_what_was_published_by_number_and_digest(
    named: MappingName, active: MappingName, recorded: MappingName | None, same: bool
) -> None:
    assert same_store(named, active, recorded) is same
