"""The workload of the Spark figures is what its notes say."""

from collections import Counter

import orjson

from tools.bench.spark.changes import Changes, key_of, order_of, value_of

_COUNT = 5000


def test_the_newest_change_of_every_key_is_known() -> None:
    changes = Changes()
    newest: dict[int, int] = {}
    for key, order in changes.draw(_COUNT):
        newest[key] = max(order, newest.get(key, 0))
    assert [newest[key] for key in range(len(changes.newest))] == changes.newest


def test_a_tenth_repeats_and_a_tenth_is_late() -> None:
    newest: dict[int, int] = {}
    found: Counter[str] = Counter()
    seen = set()
    for key, order in Changes(seed=3).draw(_COUNT):
        found[
            "repeat" if (key, order) in seen else "late" if order < newest.get(key, 0) else "fresh"
        ] += 1
        seen.add((key, order))
        newest[key] = max(order, newest.get(key, 0))
    assert (found["fresh"], found["repeat"] + found["late"]) == (_COUNT * 8 // 10, _COUNT * 2 // 10)
    assert found["late"] > _COUNT * 8 // 100


def test_a_message_is_one_of_the_relay() -> None:
    value = orjson.loads(value_of(17, 40))
    assert (value["data"][0]["id"], value["data"][0]["user_id"], value["table"]) == (
        "17",
        "40",
        "orders",
    )
    assert set(value["mysqlType"]) == set(value["data"][0])
    assert orjson.loads(key_of(17)) == ["shop.orders", "17"]
    assert order_of(40) == "1700000000000.0000000000000000040"
