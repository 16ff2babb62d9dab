"""The rows of one record that packs several rows, as changes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from roma_client.records.decoding import Reading, changes_of
from roma_client.records.selection import Selection
from tests.support.clients.made_records import row_record

ORDERS = Selection.of_table("shop", "orders", "shop", frozenset(), statements=False)
READING = Reading()


def test_packed_rows_have_each_their_order_and_the_key_that_they_would_have_alone() -> None:
    record = row_record([{"id": "1"}, {"id": "2"}], key=False, orders="0,4")
    changes = changes_of(record, ORDERS, READING)
    assert [each.order.execute_position for each in changes] == [1, 5]
    assert [each.key for each in changes] == ['["shop.orders","1"]', '["shop.orders","2"]']


@given(st.lists(st.lists(st.none() | st.text(), min_size=2, max_size=2), min_size=1, max_size=3))
def test_keys_of_packed_rows_are_json_arrays_of_table_and_key_columns(
    values: list[list[str | None]],
) -> None:
    rows = [{"id": first, "n": second} for first, second in values]
    record = row_record(rows, key=False, orders=",".join(map(str, range(len(rows)))))
    message = json.loads(record.value or b"") | {"pkNames": ["id", "n"]}
    changes = changes_of(record._replace(value=json.dumps(message).encode()), ORDERS, READING)
    keys = [["shop.orders", *each] for each in values]
    dense = [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in keys]
    assert [each.key for each in changes] == dense
