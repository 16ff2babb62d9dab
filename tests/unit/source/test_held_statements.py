"""Statements that a dump from a GTID set does not send are not followed either."""

from relay.model.change import Statement
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition
from relay.source.positions.statement_scan import LoggedStatement, without_held

UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"


def logged(*gtids: str) -> list[LoggedStatement | str]:
    """Each begins a transaction; one that ends with `!` is a statement."""
    found: list[LoggedStatement | str] = []
    for number, text in enumerate(gtids):
        gtid = text.rstrip("!")
        found.append(gtid)
        if text.endswith("!"):
            place = BinlogPosition("b.000001", number)
            found.append(LoggedStatement(Statement("ALTER", "d", 1, place), 0, gtid))
    return found


def left(gtids: list[str], held: str) -> list[str]:
    return [each.gtid for each in without_held(logged(*gtids), GtidSet.parse(held))]


def test_mysql_leaves_out_exactly_the_transactions_of_the_set() -> None:
    all_of_them = [f"{UUID}:{number}!" for number in (1, 2, 3, 5, 4)]
    assert left(all_of_them, f"{UUID}:1-2:4") == [f"{UUID}:3", f"{UUID}:5"]
    assert left(["!", *all_of_them[:1]], f"{UUID}:1-9") == [""]


def test_mariadb_leaves_out_each_domain_up_to_the_transaction_of_the_set() -> None:
    assert left(["0-7-1!", "1-7-1!", "0-7-2", "0-7-3!", "1-7-2!"], "0-7-2,1-7-1") == [
        "0-7-3",
        "1-7-2",
    ]
    assert left(["0-7-1!", "0-7-2!", "0-7-3!"], "0-7-2") == ["0-7-3"]


def test_mariadb_goes_by_the_order_of_the_binlog_and_not_by_numbers() -> None:
    """gtid_strict_mode=OFF: another server's numbers may be smaller than those before it."""
    assert left(["0-8-5!", "0-8-6!"], "0-7-100") == ["0-8-5", "0-8-6"]
    assert left(["0-7-100!", "0-8-5!"], "0-7-100") == ["0-8-5"]


def test_without_a_set_all_are_left() -> None:
    assert left(["0-7-1!", "0-7-2!"], "") == ["0-7-1", "0-7-2"]
