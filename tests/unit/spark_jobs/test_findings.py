"""What a comparison tells, and the exit code."""

import json
from io import StringIO

import pytest
from rich.console import Console

from spark_jobs import reconcile
from spark_jobs.comparison import (
    WHOLE_LINES,
    Outcome,
    Seen,
    TableFindings,
    exit_code,
    findings_json,
    findings_table,
)
from spark_jobs.comparison.buckets import HashBuckets, number_buckets, runs
from spark_jobs.comparison.waiting import starting_offsets
from spark_jobs.origin import SourceColumn
from spark_jobs.origin.source_coordinates import mariadb_covers

ROW = Seen('["shop.t","1"]', "1:1", ("n",), "v", "5")
EQUAL = TableFindings("shop.a", 10, 10)
DIFFERENT = TableFindings("shop.b", 10, 9, ranges=["id 1..10"], different=[ROW])
ON_ITS_WAY = TableFindings("shop.c", 10, 9, undecided=[ROW])
REPAIRED = TableFindings("shop.d", 10, 10, repaired=[ROW])
NONE = TableFindings("shop.e", reason="no key")


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ([], 0),
        ([EQUAL, REPAIRED], 0),
        ([EQUAL, DIFFERENT], 1),
        ([EQUAL, ON_ITS_WAY], 2),
        ([NONE], 2),
        ([NONE, DIFFERENT], 1),
        ([TableFindings("shop.f", more=3)], 2),
    ],
)
def test_the_exit_code(findings: list[TableFindings], code: int) -> None:
    assert exit_code(findings) == code


def test_the_findings_for_machines_and_for_people() -> None:
    told = json.loads(findings_json([EQUAL, DIFFERENT]))
    assert [each["outcome"] for each in told["tables"]] == ["equal", "different"]
    assert told["tables"][1]["different"] == [
        {"key": '["shop.t","1"]', "what": ["n"], "order": "5", "reason": None}
    ]
    shown = StringIO()
    Console(file=shown, width=WHOLE_LINES).print(findings_table([EQUAL, DIFFERENT, NONE]))
    lines = [line.rstrip() for line in shown.getvalue().splitlines()]
    assert max(map(len, lines)) < 80
    assert any(line.startswith("| shop.b") and "1 different" in line for line in lines)
    assert lines[-3:] == [
        "shop.b: in id 1..10",
        'shop.b: different: ["shop.t","1"]: n',
        "shop.e: no key",
    ]


def test_a_long_key_is_one_line() -> None:
    long, shown = Seen(f'["shop.t","{"x" * 200}"]', "1:1", ("n",), "v", "5"), StringIO()
    Console(file=shown, width=WHOLE_LINES, soft_wrap=True).print(
        findings_table([TableFindings("shop.b", 1, 1, different=[long])])
    )
    assert f"shop.b: different: {long.key}: n" in shown.getvalue().splitlines()


def test_columns_that_are_not_published_are_named() -> None:
    found, shown = TableFindings("shop.a", 10, 10, unpublished=["note", "born"]), StringIO()
    Console(file=shown, width=160).print(findings_table([found]))
    assert "not published: note, born" in shown.getvalue()
    assert json.loads(findings_json([found]))["tables"][0]["unpublished"] == ["note", "born"]
    assert exit_code([found]) == 0


def test_buckets_of_numbers_as_ranges() -> None:
    buckets = number_buckets(SourceColumn("id", "bigint", "bigint"), 10, 109, 10)
    assert (buckets.low, buckets.width) == (10, 10)
    assert [buckets.named(*each) for each in runs([4, 0, 1, 9])] == [
        "id ..29",
        "id 50..59",
        "id 100..109",
    ]


def test_buckets_of_hashes_cover_all_of_them() -> None:
    assert [HashBuckets(3).named(each, each) for each in range(3)] == [
        "keys with CRC-32 00000000..55555555",
        "keys with CRC-32 55555556..aaaaaaab",
        "keys with CRC-32 aaaaaaac..ffffffff",
    ]


@pytest.mark.parametrize(
    ("published", "place", "covers"),
    [
        ("0-1-5", "0-1-5", True),
        ("0-1-5", "0-2-4", True),
        ("0-1-5", "0-1-6", False),
        ("0-1-5", "0-1-5,1-1-1", False),
        ("", "", True),
    ],
)
def test_positions_of_mariadb(published: str, place: str, covers: bool) -> None:
    assert mariadb_covers(published, place) is covers


def test_where_the_stream_goes_on() -> None:
    log = 'v1\n{"batchWatermarkMs":0}\n{"shop":{"0":12,"1":7}}'
    assert json.loads(starting_offsets(log, ["shop"]) or "") == {"shop": {"0": 12, "1": 7}}
    assert starting_offsets(log, ["shop", "other"]) is None


def test_a_fault_of_the_job_is_not_told_as_a_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def faulty(*_: object, **__: object) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr(reconcile, "load_settings", faulty)
    assert reconcile.main(["--config", "job.toml"]) == Outcome.UNKNOWN
    assert "a fault" in capsys.readouterr().err
