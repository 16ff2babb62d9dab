"""The relay's position record as the jobs read it, and what they say of one that they cannot
read.
"""

from dataclasses import replace

import pytest

from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import FORMAT, OtherSource, PositionRecord
from spark_jobs.errors import PositionUnknown, SourcesIncomplete
from spark_jobs.kafka.relay_positions import Published, place_in, record_of

MYSQL = SourcePosition(BinlogPosition("b.000007", 4), "u:1-5", SourceIdentity("u", 7, 1))
MARIADB = SourcePosition(BinlogPosition("m.000002", 90), "0-9-5", SourceIdentity("", 9, 1))
SINGLE = PositionRecord(
    MYSQL, OrderPair(1_700_000_000_000, 12), 0, 1_700_000_000_000, rows="masked"
)
GROUP = replace(SINGLE, following="first", others={"second": OtherSource(MARIADB)}, rows="")
ORDER = "1700000000000.0000000000000000012"


def test_each_source_of_a_record_has_its_place_and_all_one_pair() -> None:
    single = place_in(record_of("shop", SINGLE.to_bytes()), "shop", "")
    assert single == Published(ORDER, "b.000007", 4, "u", 7, "u:1-5", frozenset({""}), "masked")
    group, both = record_of("shop", GROUP.to_bytes()), frozenset({"first", "second"})
    assert place_in(group, "shop", "first") == Published(
        ORDER, "b.000007", 4, "u", 7, "u:1-5", both
    )
    assert place_in(group, "shop", "second") == Published(
        ORDER, "m.000002", 90, "", 9, "0-9-5", both
    )


def test_a_source_that_the_record_has_not_is_named() -> None:
    with pytest.raises(
        SourcesIncomplete,
        match=r"that of a single source, which needs no name; \[\[sources\]\] names first\.",
    ):
        place_in(SINGLE, "shop", "first")
    with pytest.raises(
        SourcesIncomplete,
        match=r"that of the sources first, second; \[\[sources\]\] names one without a name\.",
    ):
        place_in(GROUP, "shop", "")


def test_a_record_of_a_newer_version_is_named() -> None:
    newer = SINGLE.to_bytes().replace(b'"format":1', b'"format":%d' % (FORMAT + 1))
    with pytest.raises(
        PositionUnknown,
        match=(
            rf"^The position record of shop has format {FORMAT + 1}, which this "
            r"version of the jobs cannot read\. Use"
        ),
    ):
        record_of("shop", newer)


def test_what_is_no_record_is_named() -> None:
    with pytest.raises(
        PositionUnknown, match=r"^Instance shop: The position record cannot be read"
    ):
        record_of("shop", b'{"format":1}')
