"""The report of a comparison becomes requests to publish rows, and names what they cannot heal."""

import orjson
import pytest

from relay.errors import SnapshotRefused
from relay.operations import WantedSnapshot, repair_of_keys, repair_plan
from relay.operations.wanted_snapshots import MOST_KEYS, MOST_REQUESTS, check_wanted
from spark_jobs.comparison.findings import TableFindings, findings_json
from spark_jobs.comparison.row_lookup import Seen


def seen(key: str, *what: str) -> Seen:
    return Seen(key, "", what, None, None)


def test_each_table_is_a_request_and_rows_without_a_source_are_named() -> None:
    findings = [
        TableFindings(
            "shop.orders",
            different=[
                seen('["shop.orders","17","a"]', "state"),
                seen('["shop.orders","18","b"]', "the copy has no such row"),
                seen('["shop.orders","19","c"]', "the source has no such row"),
            ],
            undecided=[seen('["shop.orders","20","d"]', "state")],
            more=7,
        ),
        TableFindings("shop.lines", reason="no key names the rows"),
        TableFindings("shop.equal"),
    ]
    plan = repair_plan(findings_json(findings).encode())
    assert [(each.tables, each.keys) for each in plan.wanted] == [
        (("shop.orders",), (("17", "a"), ("18", "b")))
    ]
    told = " ".join(plan.left_out)
    assert "shop.orders: 1 rows are not on the source" in told
    assert "7 more rows differ" in told
    assert "1 rows had changes that were not published yet" in told
    assert "shop.lines was not compared: no key names the rows." in told


def test_more_keys_than_a_request_takes_are_several_requests() -> None:
    rows = [seen(f'["shop.orders","{number}"]', "n") for number in range(MOST_KEYS + 1)]
    plan = repair_plan(findings_json([TableFindings("shop.orders", different=rows)]).encode())
    assert [len(each.keys) for each in plan.wanted] == [MOST_KEYS, 1]


@pytest.mark.parametrize(
    "report",
    [
        b"no JSON",
        b"[]",
        b'{"exit_code": 0}',
        orjson.dumps({"tables": [{"table": "shop.orders", "different": [{"key": "17"}]}]}),
        orjson.dumps(
            {"tables": [{"table": "a.b", "different": [{"key": '["c.d","1"]', "what": []}]}]}
        ),
    ],
)
def test_what_is_no_report_is_refused_by_name(report: bytes) -> None:
    with pytest.raises(SnapshotRefused, match=r"report|key"):
        repair_plan(report)


@pytest.mark.parametrize(
    ("table", "place"),
    [
        ({"different": 5}, "tables.0.different"),
        ({"different": "abc"}, "tables.0.different"),
        ({"different": {"key": "1"}}, "tables.0.different"),
        ({"different": [7]}, "tables.0.different.0"),
        ({"different": [{"key": '["a.b","1"]', "what": None}]}, "tables.0.different.0.what"),
        ({"different": [{"key": '["a.b","1"]', "what": 5}]}, "tables.0.different.0.what"),
        ({"different": [{"key": ["a.b", "1"], "what": []}]}, "tables.0.different.0.key"),
        ({"different": [{"key": '["a.b","1"]'}]}, "tables.0.different.0.what"),
        ({"different": [], "more": "many"}, "tables.0.more"),
        ({"different": [], "undecided": 5}, "tables.0.undecided"),
        ({"different": [], "reason": []}, "tables.0.reason"),
    ],
)
def test_a_malformed_report_is_refused_with_the_place(table: dict[str, object], place: str) -> None:
    report = orjson.dumps({"tables": [{"table": "a.b", **table}]})
    with pytest.raises(SnapshotRefused, match=rf"{place}\b"):
        repair_plan(report)


def test_more_requests_than_have_numbers_are_refused_by_the_limit() -> None:
    wanted = WantedSnapshot(("shop.orders",), keys=(("1",),))
    check_wanted([wanted] * MOST_REQUESTS, "")
    with pytest.raises(
        SnapshotRefused, match=f"{MOST_REQUESTS + 1:,} requests, and at most {MOST_REQUESTS:,}"
    ):
        check_wanted([wanted] * (MOST_REQUESTS + 1), "")


def test_keys_with_bytes_that_are_no_characters_are_named_and_not_requested() -> None:
    rows = [
        seen('["shop.orders","17"]', "n"),
        seen('["shop.orders",{"base64":"/w=="}]', "n"),
        seen('["shop.orders",{"base64":"/g=="}]', "the source has no such row"),
    ]
    plan = repair_plan(findings_json([TableFindings("shop.orders", different=rows)]).encode())
    assert [each.keys for each in plan.wanted] == [(("17",),)]
    told = " ".join(plan.left_out)
    assert "shop.orders: 1 keys have bytes that are not characters" in told
    assert "1 rows are not on the source" in told


@pytest.mark.parametrize("key", ['["a.b",{"base64":"/w=="}]', "[null]", "[true]", "[1.5]"])
def test_a_key_whose_parts_are_no_texts_is_refused(key: str) -> None:
    assert repair_of_keys("a.b", ['["a.b","1",2]']).keys == (("1", "2"),)
    with pytest.raises(SnapshotRefused, match="not texts"):
        repair_of_keys("a.b", [key])
