"""The spool keeps whole transactions, tells a torn tail, and begins at any place between two of
them.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relay.errors import SpoolUnusable
from relay.model.change import Advance, RawItem, RawRows, TransactionBegin, TransactionEnd
from relay.model.positions.position import BinlogPosition, SourceIdentity, SourcePosition
from relay.model.records.last_transaction import first_changes, last_transaction
from relay.spool import OwnedFolder, Spool, SpoolCursor
from tests.support.examples import examples

UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
IDENTITY = SourceIdentity(UUID, 1, 1_700_000_000)
LIMIT = 10_000_000
_opened: list[Spool | SpoolCursor] = []


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Iterator[None]:
    yield
    while _opened:
        _opened.pop().close()


def spool_in(folder: Path, limit: int = LIMIT) -> Spool:
    """As a process opens it; it is closed at the test's end."""
    folder.mkdir(parents=True, exist_ok=True)
    spool = Spool(folder, limit)
    _opened.append(spool)
    return spool


def cursor_at(spool: Spool, start: SourcePosition) -> SpoolCursor:
    cursor = spool.cursor(start)
    assert cursor is not None
    _opened.append(cursor)
    return cursor


def at(offset: int, file: int = 1, gtid_set: str = "") -> SourcePosition:
    return SourcePosition(BinlogPosition(f"binlog.{file:06d}", offset), gtid_set, IDENTITY)


def transaction(number: int, *, rows: int = 1, row_bytes: int = 20) -> list[RawItem]:
    """Transaction 1 begins at offset 100 and ends at 190, the second stands between 200 and 290.

    Between them stands something else.
    """
    begin, gtid = number * 100, f"{UUID}:{number}"
    place = BinlogPosition("binlog.000001", begin)
    body = [
        RawRows(b"table", b"r" * row_bytes, 30, 7, place._replace(offset=begin + 1), mariadb=False)
    ] * rows
    return [
        TransactionBegin(place, gtid, None, 7),
        *body,
        TransactionEnd(place._replace(offset=begin + 90), gtid, IDENTITY),
    ]


def put(spool: Spool, *items: RawItem) -> None:
    for item in items:
        spool.append(item)


def filled(folder: Path, transactions: int, limit: int = LIMIT, **shape: int) -> Spool:
    spool = spool_in(folder, limit)
    spool.begin(at(100))
    for number in range(1, transactions + 1):
        put(spool, *transaction(number, **shape))
        spool.flush()
    return spool


def everything(spool: Spool, start: SourcePosition) -> list[RawItem]:
    return list(rest(cursor_at(spool, start)))


def rest(cursor: SpoolCursor) -> Iterator[RawItem]:
    while (found := cursor.next()) is not None:
        yield from found.items


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    spool = spool_in(tmp_path / "new")
    assert (spool.start, spool.end, spool.size_bytes) == (None, None, 0)
    assert not spool.holds(at(100))
    assert spool.cursor(at(100)) is None


def test_what_was_flushed_can_be_read_from_any_transaction_on(tmp_path: Path) -> None:
    spool = filled(tmp_path, 5)
    assert spool.end == at(590)
    for first in range(1, 6):
        wanted = [item for number in range(first, 6) for item in transaction(number)]
        assert everything(spool, at(first * 100)) == wanted
        # A place that lies behind the last transaction by something that is none is one between two
        # as well.
        assert everything(spool, at(first * 100 - 5 if first > 1 else 100)) == wanted
    assert everything(spool, at(590)) == []


def test_a_place_inside_a_transaction_or_outside_of_the_stretch_is_not_held(tmp_path: Path) -> None:
    spool = filled(tmp_path, 5)
    for place in (at(301), at(389), at(99), at(591), at(300, file=2)):
        assert spool.cursor(place) is None


def test_places_of_another_server_or_of_another_file_of_that_name_are_not_held(
    tmp_path: Path,
) -> None:
    spool = filled(tmp_path, 3)
    other_server = replace(at(200), identity=replace(IDENTITY, server_uuid=UUID.replace("3", "4")))
    other_file = replace(at(200), identity=replace(IDENTITY, file_created_s=1))
    unknown_file = replace(at(200), identity=replace(IDENTITY, file_created_s=0))
    assert spool.cursor(other_server) is None
    assert spool.cursor(other_file) is None
    assert cursor_at(spool, unknown_file).next() is not None


@pytest.mark.parametrize("offset", [4, 256])
def test_the_beginning_of_a_file_that_was_made_again_is_not_held(
    tmp_path: Path, offset: int
) -> None:
    """RESET MASTER, then a position at the start of a file whose number the spool has too."""
    spool = filled(tmp_path, 1)
    second = replace(IDENTITY, file_created_s=IDENTITY.file_created_s + 50)
    begin = BinlogPosition("binlog.000002", 256)
    end = TransactionEnd(begin._replace(offset=500), f"{UUID}:2", second)
    put(spool, Advance(begin, second), TransactionBegin(begin, f"{UUID}:2", None, 7), end)
    spool.flush()
    same = replace(at(offset, file=2), identity=second)
    again = replace(same, identity=replace(second, file_created_s=second.file_created_s + 50))
    assert end in everything(spool, same)
    assert spool.cursor(again) is None


def test_half_a_transaction_is_not_visible_until_it_is_whole(tmp_path: Path) -> None:
    spool = filled(tmp_path, 1)
    cursor = cursor_at(spool, at(190))
    begin, *rows, end = transaction(2, rows=40, row_bytes=100_000)  # more than a frame
    put(spool, begin, *rows)
    spool.flush()
    assert cursor.next() is None
    assert spool.end == at(190)
    put(spool, end)
    assert list(rest(cursor)) == [begin, *rows, end]
    assert spool.end == at(290)


def test_half_a_transaction_can_be_given_up_and_read_again(tmp_path: Path) -> None:
    spool = filled(tmp_path, 1)
    before = spool.size_bytes
    put(spool, *transaction(2, rows=40, row_bytes=100_000)[:-1])
    assert spool.size_bytes > before
    spool.give_up_open()
    assert spool.size_bytes == before
    put(spool, *transaction(2))
    spool.flush()
    assert everything(spool, at(190)) == transaction(2)


def test_the_last_transaction_at_the_end_is_known_to_the_next_process_too(tmp_path: Path) -> None:
    spool = filled(tmp_path, 3)
    begin, rows, _ = transaction(3)
    assert isinstance(begin, TransactionBegin)
    known = last_transaction(begin, first_changes([rows]))
    put(spool, *transaction(4)[:-1])  # not whole
    assert spool.end is not None
    assert spool.end.last == known
    spool.give_up_open()
    spool.begin_file()  # the next file begins with it
    put(spool, Advance(BinlogPosition("binlog.000002", 120), IDENTITY))
    spool.flush()
    again = spool_in(tmp_path)
    assert again.end is not None
    assert (again.end.binlog.file, again.end.last) == ("binlog.000002", known)


def test_the_gtid_set_at_the_end_is_that_of_the_beginning_and_what_came(tmp_path: Path) -> None:
    spool = spool_in(tmp_path)
    spool.begin(at(100, gtid_set=f"{UUID}:9"))
    put(spool, *transaction(10), *transaction(11))
    spool.flush()
    assert spool.end == at(1190, gtid_set=f"{UUID}:9-11")
    assert spool_in(tmp_path).end == spool.end


def test_a_rotation_moves_the_end_and_another_file_is_a_later_place(tmp_path: Path) -> None:
    spool = filled(tmp_path, 1)
    put(spool, Advance(BinlogPosition("binlog.000002", 120), replace(IDENTITY, file_created_s=9)))
    spool.flush()
    assert spool.end == SourcePosition(
        BinlogPosition("binlog.000002", 120), "", replace(IDENTITY, file_created_s=9)
    )
    assert spool.holds(at(4000))  # the end of the first file
    assert cursor_at(spool, at(4000)).next() is not None


def test_a_new_process_finds_what_the_old_one_flushed(tmp_path: Path) -> None:
    spool = filled(tmp_path, 4)
    put(
        spool, *transaction(5, rows=30, row_bytes=100_000)[:-1]
    )  # an open frame is written, its end is not
    again = spool_in(tmp_path)
    assert again.end == at(490)
    put(again, *transaction(5))
    again.flush()
    assert everything(again, at(300)) == [
        item for number in (3, 4, 5) for item in transaction(number)
    ]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=examples(60),
    deadline=None,
)
@given(cut=st.integers(0, 2000), flip=st.booleans())
def test_a_torn_or_damaged_tail_costs_the_transactions_in_it_and_no_other(
    tmp_path: Path, cut: int, flip: bool
) -> None:
    folder = tmp_path / f"{cut}_{flip}"
    filled(folder, 6)
    (file,) = folder.glob("*.spool")
    content = bytearray(file.read_bytes())
    cut = min(cut, len(content) - 1)
    if flip:
        content[cut] ^= 0x40
    else:
        del content[cut:]
    file.write_bytes(content)
    again = spool_in(folder)
    if again.start is None:  # the file's head is broken: there is no file
        return
    assert again.end is not None
    whole = (again.end.binlog.offset - 90) // 100 if again.end != at(100) else 0
    assert everything(again, at(100)) == [
        item for number in range(1, whole + 1) for item in transaction(number)
    ]
    assert os.stat(file).st_size == again.size_bytes


def test_room_comes_back_file_by_file_as_it_is_published(tmp_path: Path) -> None:
    spool = filled(tmp_path, 40, limit=800_000, row_bytes=10_000)
    files = sorted(tmp_path.glob("*.spool"))
    assert len(files) > 3
    assert everything(spool, at(100)) == [
        item for number in range(1, 41) for item in transaction(number, row_bytes=10_000)
    ]
    before = spool.size_bytes
    assert before == sum(file.stat().st_size for file in files)
    spool.forget(at(2090))
    assert spool.size_bytes < before * 0.7
    assert everything(spool, at(2100)) == [
        item for number in range(21, 41) for item in transaction(number, row_bytes=10_000)
    ]
    assert not spool.is_published(at(4000))
    assert spool.is_published(at(4090))
    spool.forget(at(4090))
    assert len(list(tmp_path.glob("*.spool"))) == 1
    again = spool_in(tmp_path, 800_000)
    assert again.end == at(4090)


def test_a_cursor_goes_on_over_files_that_come_while_it_reads(tmp_path: Path) -> None:
    spool = spool_in(tmp_path, 800_000)
    spool.begin(at(100))
    cursor = cursor_at(spool, at(100))
    seen: list[RawItem] = []
    for number in range(1, 41):
        put(spool, *transaction(number, row_bytes=10_000))
        spool.flush()
        seen += rest(cursor)
    assert seen == [
        item for number in range(1, 41) for item in transaction(number, row_bytes=10_000)
    ]


def test_it_is_full_at_its_limit_and_not_when_the_room_is_given_back(tmp_path: Path) -> None:
    spool = filled(tmp_path, 1, limit=800_000, row_bytes=10_000)
    assert not spool.full
    number = 1
    while spool.size_bytes < 790_000:
        number += 1
        put(spool, *transaction(number, row_bytes=10_000))
        spool.flush()
    assert not spool.full
    put(spool, *transaction(number + 1, row_bytes=10_000))
    assert spool.size_bytes < 800_000  # what is not flushed yet counts too
    assert [spool.full] == [True]
    spool.flush()
    assert 780_000 < spool.size_bytes < 820_000
    spool.forget(at(number * 100))
    assert [spool.full] == [False]


def test_damage_in_a_file_that_was_closed_shows_when_it_is_read(tmp_path: Path) -> None:
    filled(tmp_path, 40, limit=800_000, row_bytes=10_000)
    first = min(tmp_path.glob("*.spool"))
    content = bytearray(first.read_bytes())
    content[len(content) // 2] ^= 1
    first.write_bytes(content)
    spool = spool_in(tmp_path, 800_000)
    cursor = cursor_at(spool, at(100))
    with pytest.raises(SpoolUnusable, match="damaged"):
        list(rest(cursor))


def test_files_behind_a_gap_are_deleted(tmp_path: Path) -> None:
    filled(tmp_path, 40, limit=800_000, row_bytes=10_000)
    files = sorted(tmp_path.glob("*.spool"))
    files[1].unlink()
    spool = spool_in(tmp_path, 800_000)
    assert list(tmp_path.glob("*.spool")) == files[:1]
    assert spool.end is not None
    assert spool.end.binlog.offset < 1500


def test_clearing_leaves_an_empty_folder_that_can_begin_elsewhere(tmp_path: Path) -> None:
    spool = filled(tmp_path, 3)
    spool.clear()
    assert not list(tmp_path.glob("*.spool"))
    assert spool.end is None
    spool.begin(at(500))
    put(spool, *transaction(5))
    spool.flush()
    assert everything(spool, at(500)) == transaction(5)


def _leading() -> bool:
    return True


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SpoolUnusable, match="file/spool"):
        OwnedFolder(tmp_path / "file" / "spool", _leading).take()


def test_files_that_another_owner_has_taken_can_be_changed_by_that_owner_only(
    tmp_path: Path,
) -> None:
    one, other = (
        OwnedFolder(tmp_path / "spool", _leading),
        OwnedFolder(tmp_path / "spool", _leading),
    )
    former = spool_in(one.take())
    former.begin(at(100))
    put(former, *transaction(1))
    former.flush()
    present = spool_in(other.take())
    assert everything(present, at(100)) == transaction(1)
    put(former, *transaction(2))
    former.flush()  # into the file that was open
    with pytest.raises(SpoolUnusable, match="spool"):
        former.begin(at(300))
    former.clear()
    one.free()
    put(present, *transaction(2))
    present.flush()
    present.close()
    other.free()
    again = spool_in(one.take())
    assert everything(again, at(100)) == [*transaction(1), *transaction(2)]
    one.free()
    assert len(list((tmp_path / "spool").glob("owned-*"))) == 1


def test_files_of_an_earlier_release_are_taken(tmp_path: Path) -> None:
    former = spool_in(tmp_path)
    former.begin(at(100))
    put(former, *transaction(1))
    former.flush()
    former.close()
    (tmp_path / "lock").write_bytes(b"")
    owned = OwnedFolder(tmp_path, _leading)
    assert everything(spool_in(owned.take()), at(100)) == transaction(1)
    owned.free()
    assert list(tmp_path.glob("*.spool")) == []


def test_files_that_an_earlier_release_wrote_after_a_downgrade_are_newer(tmp_path: Path) -> None:
    owned = OwnedFolder(tmp_path, _leading)
    stale = filled(owned.take(), 2)
    stale.close()
    owned.free()
    filled(tmp_path, 4).close()
    assert everything(spool_in(owned.take()), at(400)) == transaction(4)
    owned.free()
    assert list(tmp_path.glob("*.spool")) == []
    assert len(list(tmp_path.rglob("*.spool"))) == 1


@pytest.mark.parametrize("renamed", range(4))
def test_a_take_of_an_earlier_release_s_files_that_was_interrupted_leaves_no_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renamed: int
) -> None:
    former = filled(tmp_path, 3, 800, row_bytes=200)
    former.close()
    assert len(list(tmp_path.glob("*.spool"))) == 3
    moved, rename = list[Path](), Path.rename

    def interrupted(path: Path, target: Path) -> Path:
        if len(moved) == renamed:
            raise OSError("interrupted")
        moved.append(path)
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", interrupted)
        with pytest.raises(SpoolUnusable):
            OwnedFolder(tmp_path, _leading).take()
    owned = OwnedFolder(tmp_path, _leading)
    spool = spool_in(owned.take())
    owned.free()
    left = 3 - renamed % 3  # the last name is given to all three
    wanted = [item for number in range(1, left + 1) for item in transaction(number, row_bytes=200)]
    assert everything(spool, at(100)) == wanted
    assert list(tmp_path.glob("*.spool")) == []


def test_what_was_cut_is_counted(tmp_path: Path) -> None:
    spool = spool_in(tmp_path)
    spool.begin(at(100))
    put(spool, *transaction(1))
    spool.flush()
    spool.close()
    assert spool_in(tmp_path).cut_bytes == 0
    with max(tmp_path.rglob("*.spool")).open("ab") as file:
        file.write(b"torn")
    assert spool_in(tmp_path).cut_bytes == 4
