"""GTID events as servers wrote them, byte for byte."""

from hypothesis import given
from hypothesis import strategies as st

from relay.model.positions.gtid import GtidSet
from relay.source.events.gtid_events import mariadb_gtid, mysql_gtid, previous_gtids, tagged_gtid
from relay.source.protocol.commands import encoded_gtid_set

SERVER = "186c57f8-e559-11f1-b002-02fc00000001"

sets = st.dictionaries(
    st.sampled_from(["", "taggy", "a_1"]),
    st.sets(st.integers(1, 30), min_size=1, max_size=10),
    max_size=3,
)


def test_a_tagged_gtid_of_a_real_server() -> None:
    body = bytes.fromhex(
        "02700000000230d8aee1039503b222c503c1020404f103000000020404060a746167677908100a140c7faf7166cec060061091041283120b"
    )
    assert tagged_gtid(memoryview(body)) == (f"{SERVER}:taggy:1", 1_795_231_073_071)


def test_an_untagged_gtid_of_a_real_server() -> None:
    body = bytes.fromhex(
        "00186c57f8e55911f1b00202fc0000000107000000000000000200000000000000000100000000000000fd6b6bcdc06006fc2a0150620100"
    )
    text, commit_time_ms = mysql_gtid(memoryview(body))
    assert text == f"{SERVER}:7"
    assert commit_time_ms is not None
    assert commit_time_ms // 1000 == 1_795_231_056


def test_a_mariadb_gtid_with_group_commit_id() -> None:
    body = b"\x10" + bytes(7) + b"\x02\0\0\0" + b"\x0e" + bytes(8) + b"\2"
    gtid = mariadb_gtid(memoryview(body), 9)
    assert (gtid.text, gtid.flags, gtid.halved_alter) == ("2-9-16", 14, True)


@given(sets)
def test_the_binary_form_reads_back(members: dict[str, set[int]]) -> None:
    parts = [
        f"{SERVER}:{tag}:{number}" if tag else f"{SERVER}:{number}"
        for tag, numbers in members.items()
        for number in numbers
    ]
    held = GtidSet.parse(",".join(parts))
    assert previous_gtids(memoryview(encoded_gtid_set(held))) == held
