"""Whether a move of the position leaves changes out that its source does not have any more."""

from collections.abc import Callable
from dataclasses import replace

from relay.model.records.own_snapshots import OwnSnapshot, own_snapshots, why_own
from relay.operations.positions.repositioning import Move, MoveKind
from relay.source import TransactionPosition


def loses_changes(move: Move, target: TransactionPosition, created_s: Callable[[str], int]) -> bool:
    """Return whether the source no longer has the changes after the former position.

    False if it has them: the operator then skips changes on purpose, or reads them again.
    `created_s` returns the creation time of a binlog file (Unix seconds): a re-created binlog has
    files of the same names. It raises the errors of the source.
    """
    before, after = move.origin, move.target
    if move.kind is MoveKind.BACK:
        return False
    if before is None or before.identity.server != after.identity.server:
        return True
    file, known_s = before.binlog.file, before.identity.file_created_s
    size_bytes = target.files.get(file)
    if size_bytes is None or before.binlog.offset > size_bytes:
        return True
    return bool(known_s) and created_s(file) != known_s


def with_copy(move: Move, now_s: float) -> Move:
    """Return the move with a request for a copy of all mapped tables in its record."""
    copies = own_snapshots(OwnSnapshot.NEEDED, now_s)
    return replace(move, after=replace(move.after, snapshots={**move.after.snapshots, **copies}))


def requested_copies(move: Move) -> list[str]:
    """Return the numbers of the copies that a move requests."""
    known = {} if move.before is None else move.before.snapshots
    return [each for each in move.after.snapshots if each not in known and why_own(each)]
