"""Every sentence of the servers that the relay has a word for."""

import pytest

from relay.errors import (
    BinlogPurged,
    CorruptEvent,
    RelayError,
    ServerIdContested,
    SourceLoginRefused,
    SourceLostTransactions,
    SourceNotPermitted,
    SourceSettingsRefused,
    SourceUnreachable,
)
from relay.source.protocol.server_errors import from_number

REPEATED_ID = (
    "A slave with the same server_uuid/server_id as this slave has connected to the master; the "
    "first event 'b.1' at 4"
)
PURGED = (
    "Cannot replicate because the source purged required binary logs. Replicate the missing "
    "transactions from elsewhere"
)
TOO_OLD = (
    "Could not find GTID state requested by slave in any binlog files. Probably required binlog "
    "files have been purged."
)
AHEAD = (
    "Client requested master to start replication from impossible position; the first event '' at 4"
)
MORE = "Replica has more GTIDs than the source has, using the source's SERVER_UUID."


@pytest.mark.parametrize(
    ("code", "text", "leaf"),
    [
        (1045, "Access denied for user 'x'@'y'", SourceLoginRefused),
        (1130, "Host 'x' is not allowed to connect to this server", SourceLoginRefused),
        (
            1227,
            "Access denied; you need (at least one of) the REPLICATION SLAVE privilege(s)",
            SourceNotPermitted,
        ),
        (1381, "You are not using binary logging", SourceSettingsRefused),
        (1236, "Could not find first log file name in binary log index file", BinlogPurged),
        (1236, PURGED, BinlogPurged),
        (1236, TOO_OLD, BinlogPurged),
        (29, "File './binlog.000009' not found (Errcode: 2)", BinlogPurged),
        (1236, REPEATED_ID, ServerIdContested),
        (1236, AHEAD, SourceLostTransactions),
        (1236, MORE, SourceLostTransactions),
        (
            1236,
            (
                "Error: connecting slave requested to start from GTID 0-1-9, which is not in the "
                "master's binlog"
            ),
            SourceLostTransactions,
        ),
        (
            1236,
            "log event entry exceeded max_allowed_packet; Increase max_allowed_packet on master",
            SourceSettingsRefused,
        ),
        (1236, "bogus data in log event; the first event 'b.1' at 300", CorruptEvent),
        (1053, "Server shutdown in progress", SourceUnreachable),
        (2013, "Lost connection to MySQL server during query", SourceUnreachable),
    ],
)
def test_leaf_and_reason(code: int, text: str, leaf: type[RelayError]) -> None:
    error = from_number(code, text, "The source at db:3306 said")
    assert type(error) is leaf
    assert f"(error {code})" in error.reason
    assert text.rstrip(".") in error.reason
