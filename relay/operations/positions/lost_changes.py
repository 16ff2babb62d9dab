"""Checks whether a move of the position skips changes that the source no longer has."""

from collections.abc import Callable
from dataclasses import replace

from relay.model.records.own_snapshots import OwnSnapshot, own_snapshots, why_own
from relay.operations.positions.repositioning import Reposition, RepositionKind
from relay.source import TransactionPosition


def loses_changes(
    reposition: Reposition, target: TransactionPosition, created_s: Callable[[str], int]
) -> bool:
    """Return whether a move loses changes: the source no longer has the binlog after the former
    position.

    If the source still has that binlog, nothing is lost: the changes are read again, or the
    operator skips them on purpose. A move back loses nothing. Without a former position, or with
    one on another server, the result is True. `target` is the new position. `created_s` returns the
    creation time of a binlog file in Unix seconds, because a re-created binlog has files with the
    same names; it raises the errors of the source.
    """
    before, after = reposition.origin, reposition.target
    if reposition.kind is RepositionKind.BACK:
        return False
    if before is None or before.identity.server != after.identity.server:
        return True
    file, known_s = before.binlog.file, before.identity.file_created_s
    size_bytes = target.files.get(file)
    if size_bytes is None or before.binlog.offset > size_bytes:
        return True
    return bool(known_s) and created_s(file) != known_s


def with_copy(reposition: Reposition, now_s: float) -> Reposition:
    """Return the move with a request to copy all mapped tables added to its new record. `now_s` is
    Unix time in seconds.
    """
    copies = own_snapshots(OwnSnapshot.NEEDED, now_s)
    return replace(
        reposition,
        after=replace(reposition.after, snapshots={**reposition.after.snapshots, **copies}),
    )


def requested_copies(reposition: Reposition) -> list[str]:
    """Return the numbers of the copy requests that a move adds."""
    known = {} if reposition.before is None else reposition.before.snapshots
    return [each for each in reposition.after.snapshots if each not in known and why_own(each)]
