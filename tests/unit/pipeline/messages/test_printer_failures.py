"""A bug of a printer is an error with the event that shows it, never a slow path that nobody
notices.
"""

import json
import stat
from base64 import b64decode
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from relay.compiled import COMPILED
from relay.decode import Malformed, RowDecoder
from relay.errors import PrinterFailed
from relay.model.change import RawRows, RowsEvent, StreamItem, TransactionBegin, TransactionEnd
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.model.row_path import RowPath, SlowReason
from relay.model.table import TableId
from relay.pipeline.buffer import Chunk
from relay.pipeline.messages import single_row, table_plans
from relay.pipeline.messages.printing import transaction_printer
from relay.pipeline.messages.printing.bug_reports import with_report
from relay.pipeline.messages.printing.event_printer import make_event_printer
from relay.pipeline.messages.printing.printer_failures import printer_failed
from relay.pipeline.publishing.publisher import Publisher
from relay.settings import BugReportSettings
from tests.support.rows.publishers import SentMessages, publisher_without_servers
from tests.unit.decode.event_bytes import WrittenColumn, WrittenTable, image, raw_rows, rows_body
from tests.unit.route.mappings import documents, router

IDENTITY = SourceIdentity("", 1, 0)
MAPPING = router(
    documents(
        dbs=[{"logicDb": "shop", "realDbs": "shop"}],
        tbs=[{"logicTb": "orders", "realTbs": "orders"}],
        topics=[{"logicDb": "shop", "topic": "shop"}],
    )
)
TABLE = WrittenTable([WrittenColumn(3, name="id", nullable=False, unsigned=True)], primary_key=(0,))
RAW = raw_rows(TABLE.map_body(), rows_body(1, image([(7).to_bytes(4, "little")])))
NAME = TableId("shop", "orders")


class Broken:
    """A printer that raises what it is told to, or calls every event damaged."""

    raises: BaseException | None = None

    def __init__(self, *_: object) -> None: ...

    def print_rows(self, *_: object) -> Any:
        if self.raises is not None:
            raise self.raises
        return SlowReason.DAMAGED

    def print_copied(self, *_: object) -> Any:
        return self.print_rows()

    def count_rows(self, *_: object) -> int | None:
        return None


class BrokenTransactions:
    """A printer of whole transactions that raises."""

    def know(self, *_: object) -> None: ...

    def forget(self) -> None: ...

    def __len__(self) -> int:
        return 0

    def print_transactions(self, *_: object) -> None:
        raise IndexError


def use_broken(monkeypatch: pytest.MonkeyPatch, raises: BaseException | None) -> None:
    monkeypatch.setattr(Broken, "raises", raises)
    monkeypatch.setattr(
        table_plans, "make_event_printer", partial(make_event_printer, maker=Broken)
    )


def new_publisher() -> tuple[Publisher, SentMessages]:
    record = PositionRecord(
        SourcePosition(BinlogPosition("binlog.000001", 4), "", IDENTITY),
        OrderPair(0, 0),
        epoch=0,
        change_time_ms=0,
    )
    sent = SentMessages()
    return publisher_without_servers(record, sent, MAPPING, {"shop": 4}), sent


def items(event: RowsEvent) -> list[StreamItem]:
    at = BinlogPosition("binlog.000001", 100)
    return [
        TransactionBegin(at, "", None, 1_767_225_600),
        event,
        TransactionEnd(BinlogPosition("binlog.000001", 2000), "", IDENTITY),
    ]


def taken(publisher: Publisher, raw: RawRows = RAW) -> None:
    publisher.take(Chunk(items(RowDecoder().open(raw)), 1))
    publisher.checkpoint.commit_if_due(idle=True)


def published(sent: SentMessages) -> int:
    return len([each for each in sent.messages if each.topic == "shop"])


@pytest.mark.parametrize(
    "bug", [IndexError("tuple index out of range"), KeyError("c"), TypeError("x"), AssertionError()]
)
def test_an_unexpected_exception_of_a_printer_is_an_error_with_the_event(
    monkeypatch: pytest.MonkeyPatch, bug: Exception
) -> None:
    use_broken(monkeypatch, bug)
    publisher, sent = new_publisher()
    with pytest.raises(PrinterFailed) as raised:
        taken(publisher)
    assert (
        f"raised {type(bug).__name__} for a row event of shop.orders at binlog.000001:1234"
        in raised.value.reason
    )
    assert not sent.messages
    (event,) = raised.value.evidence["events"]
    again = RawRows(
        b64decode(event["table_map"]),
        b64decode(event["body"]),
        event["type_code"],
        0,
        RAW.position,
        event["mariadb"],
    )
    assert RowDecoder().decode(again).rows == RowDecoder().decode(RAW).rows
    assert type(bug).__name__ in raised.value.evidence["traceback"]


def test_what_a_value_may_raise_is_printed_slowly_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_broken(monkeypatch, Malformed("no such value"))
    publisher, sent = new_publisher()
    taken(publisher)
    assert published(sent) == 1
    assert publisher.stats.printed == {(NAME, RowPath.READABLE, "value"): 1}


def test_a_printer_that_calls_a_sound_event_damaged_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_broken(monkeypatch, None)
    with pytest.raises(PrinterFailed, match="refused rows that the readable path prints"):
        taken(new_publisher()[0])


def test_lack_of_memory_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    use_broken(monkeypatch, MemoryError())
    with pytest.raises(MemoryError):
        taken(new_publisher()[0])


def test_a_bug_of_the_readable_path_is_an_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    use_broken(monkeypatch, Malformed(""))
    monkeypatch.setattr(single_row, "message_headers", _raise_index_error)
    with pytest.raises(PrinterFailed, match="the readable path raised IndexError"):
        taken(new_publisher()[0])


def _raise_index_error(*_: object) -> None:
    raise IndexError


@pytest.mark.skipif(not COMPILED, reason="only compiled code prints whole transactions")
def test_a_bug_of_the_printer_of_whole_transactions_is_an_error_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transaction_printer, "TransactionPrinter", BrokenTransactions)
    with pytest.raises(
        PrinterFailed, match="printer of whole transactions raised IndexError"
    ) as raised:
        taken(new_publisher()[0])
    assert len(raised.value.evidence["events"]) == 1


def test_rows_are_counted_by_path() -> None:
    publisher, sent = new_publisher()
    taken(publisher)
    taken(publisher)
    assert published(sent) == 2
    path, reason = (RowPath.COMPILED, "") if COMPILED else (RowPath.READABLE, "not_compiled")
    assert publisher.stats.printed == {(NAME, path, reason): 2}
    assert publisher.stats.totals.printed_rows == {(path, reason): 2}


@pytest.fixture
def failed() -> PrinterFailed:
    return printer_failed([RowDecoder().open(RAW)], "the compiled printer", IndexError("x"))


def reported(failed: PrinterFailed, folder: Path, **settings: int) -> str:
    return with_report(
        failed, BugReportSettings.model_validate({"folder": folder, **settings}), "shop"
    ).reason


def test_the_event_is_kept_for_the_relays_user_alone(failed: PrinterFailed, tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    reason = reported(failed, folder)
    (kept,) = folder.iterdir()
    assert f"{kept} contains the event." in reason
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    report = json.loads(kept.read_text())
    assert (report["instance"], report["table"], len(report["events"])) == (
        "shop",
        "shop.orders",
        1,
    )


def test_the_same_event_is_kept_once(failed: PrinterFailed, tmp_path: Path) -> None:
    assert reported(failed, tmp_path / "r") == reported(failed, tmp_path / "r")
    assert len(list((tmp_path / "r").iterdir())) == 1


def _full(folder: Path) -> dict[str, int]:
    folder.mkdir(mode=0o700)
    (folder / "printer-other-1.json").touch()
    return {"limit_files": 1}


def _of_others(folder: Path) -> dict[str, int]:
    folder.mkdir()
    folder.chmod(0o777)
    return {}


def _a_link(folder: Path) -> dict[str, int]:
    (folder.parent / "elsewhere").mkdir()
    folder.symlink_to(folder.parent / "elsewhere")
    return {}


def _too_large(_: Path) -> dict[str, int]:
    return {"limit_bytes": 10}


@pytest.mark.parametrize("arrange", [_full, _of_others, _a_link, _too_large])
def test_what_cannot_be_kept_is_told(
    failed: PrinterFailed, tmp_path: Path, arrange: Callable[[Path], dict[str, int]]
) -> None:
    folder = tmp_path / "r"
    reason = reported(failed, folder, **arrange(folder))
    assert "The event could not be stored: " in reason
    assert not [*folder.glob("printer-shop-*")]


def test_masked_values_are_not_kept(tmp_path: Path) -> None:
    failed = printer_failed(
        [RowDecoder().open(RAW)], "the readable path", IndexError("x"), masked=True
    )
    assert "The event was not stored, because values of the table are masked." in reported(
        failed, tmp_path / "r"
    )
    assert not (tmp_path / "r").exists()
