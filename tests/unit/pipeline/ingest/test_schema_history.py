"""Where the history of tables is opened from: what is kept, as long as that covers the place where
reading begins.
"""

from typing import Any

import pytest

from relay.errors import PositionUnreadable, SourceSettingsRefused
from relay.model.change import Statement
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, SourceIdentity, SourcePosition
from relay.model.table import Column, ColumnType, Logged, TableId, TableMap
from relay.pipeline.ingest.names import kept_history
from relay.pipeline.ingest.names.schema_history import TableNames, open_names
from relay.schema import Base, HistoryPosition, Version
from relay.schema.history import DescribedColumn, DescribedTable
from relay.settings import SourceSettings
from relay.source import ServerFacts

HERE, ELSEWHERE = SourceIdentity("", 7, 100), SourceIdentity("", 8, 50)
TABLE = TableId("d", "t")
BARE = TableMap(
    TABLE, (Column("", ColumnType.LONG, nullable=True),), logged=Logged.NOTHING, unknown="none"
)


class Records:
    """A topic that holds these records."""

    topic = "x.schema.shop"

    def __init__(self, *records: Version | Base) -> None:
        self.held = {record.key: record.to_bytes() for record in records}

    def ensure_topic(self) -> bool:
        return False

    def read(self) -> dict[bytes, bytes]:
        return self.held

    def messages(self, records: Any) -> list[OutboundMessage]:
        return [OutboundMessage(self.topic, 0, key, value, ()) for key, value in records]


def position(offset: int, identity: SourceIdentity = HERE) -> SourcePosition:
    return SourcePosition(BinlogPosition("b.000001", offset), "", identity)


def known(name: str) -> DescribedTable:
    return DescribedTable((DescribedColumn(name, "int"),))


@pytest.fixture(autouse=True)
def oldest(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Where the source's binlog begins, as an offset: before everything that is kept."""
    begins = [4]
    monkeypatch.setattr(kept_history, "beginning_of_binlog", lambda _: position(begins[-1]))
    monkeypatch.setattr(kept_history, "binlog_file_created_s", lambda *_: HERE.file_created_s)
    return begins


def version(offset: int, name: str, *, initial: bool = False) -> Version:
    return Version(
        HistoryPosition.of(HERE, "b.000001", offset), TABLE, known(name), initial=initial
    )


KEPT = (
    Base(HistoryPosition.of(HERE, "b.000001", 100)),
    version(100, "first", initial=True),
    version(200, "second"),
    version(300, "third"),
)


def opened(
    start: SourcePosition, followed: SourcePosition | None, metadata: str = "MINIMAL", **source: Any
) -> TableNames | None:
    facts = ServerFacts(
        "mariadb",
        (11, 4, 5),
        "11.4.5-MariaDB",
        start.identity.server_id,
        "",
        {"binlog_row_metadata": metadata},
    )
    records: Any = Records(*KEPT)
    nobody: Any = None
    settings = SourceSettings(host="h", user="u", server_id=9, **source)
    return open_names(records, settings, start, facts, nobody, followed, [])


def name(names: TableNames | None) -> str:
    assert names is not None
    return names.complete(BARE).columns[0].name


@pytest.mark.parametrize(
    ("offset", "column"),
    [(100, "first"), (200, "first"), (201, "second"), (300, "second"), (350, "third")],
)
def test_reading_goes_on_with_what_held_at_its_place(offset: int, column: str) -> None:
    names = opened(position(offset), position(350))
    assert name(names) == column
    assert names is not None
    assert not names.begun


def test_a_place_that_was_followed_before_is_followed_again_as_it_was() -> None:
    names = opened(position(150), position(350))
    assert names is not None
    assert names.apply(
        Statement("words that nobody could follow then", "d", 0, BinlogPosition("b.000001", 200))
    )
    assert name(names) == "second"


@pytest.mark.parametrize(
    ("begins", "followed", "gone"),
    [(4, 350, 0), (201, 350, 1), (301, 350, 2), (9000, 350, 2), (9000, 250, 1)],
)
def test_versions_that_no_place_of_the_binlog_asks_for_are_taken_away_with_the_first_record(
    oldest: list[int], begins: int, followed: int, gone: int
) -> None:
    oldest.append(begins)
    names = (
        opened(position(350), position(followed))
        if followed == 350
        else opened(position(followed), position(350))
    )
    assert names is not None
    place = position(400).binlog
    assert [(message.key, message.value) for message in names.taken(place)] == [
        (each.key, None) for each in KEPT[1 : 1 + gone]
    ]
    assert names.taken(place) == []


def test_another_server_goes_on_with_what_is_known_and_keeps_it_as_its_own() -> None:
    names = opened(position(9000, ELSEWHERE), position(250))
    assert name(names) == "second"
    assert names is not None
    assert names.begun
    place = position(9000, ELSEWHERE).binlog
    assert len(names.taken(place)) == 2
    assert names.taken(place) == []


def test_a_source_that_names_its_columns_needs_no_history() -> None:
    assert opened(position(100), position(350), "FULL") is None
    assert opened(position(100), position(350), names="table_map") is None
    assert name(opened(position(100), position(350), "FULL", names="history")) == "first"


def test_a_map_without_names_is_refused_where_only_maps_may_name() -> None:
    nobody: Any = None
    settings = SourceSettings(host="h", user="u", server_id=9, names="table_map")
    with pytest.raises(SourceSettingsRefused, match=r"d\.t carries no column names"):
        open_names(nobody, settings, nobody, nobody, nobody, None, [TABLE])


def test_records_of_a_newer_relay_are_no_guess() -> None:
    facts = ServerFacts("mariadb", (11, 4, 5), "11.4.5-MariaDB", 7, "", {})
    records: Any = Records(*KEPT)
    records.held[KEPT[0].key] = b'{"format":9}'
    nobody: Any = None
    with pytest.raises(PositionUnreadable, match="format is 9"):
        open_names(
            records,
            SourceSettings(host="h", user="u", server_id=9),
            position(100),
            facts,
            nobody,
            None,
            [],
        )
