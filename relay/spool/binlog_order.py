"""Compares two positions in the binlog of one server."""

from relay.model.positions.position import BinlogPosition, SourceIdentity


def rank(coordinates: BinlogPosition) -> tuple[str, int, int]:
    """Return a sort key for positions of one server: base name and number of the file, then the
    offset.
    """
    return coordinates.file.rpartition(".")[0], *coordinates.rank


def same_file(one: SourceIdentity, other: SourceIdentity) -> bool:
    """Return whether two positions in files of the same name can be in the same file.

    A server that begins its binlog again uses the same file names. Server and creation time of the
    file, from the identities, distinguish such files.
    """
    times = one.file_created_s, other.file_created_s
    return one.server == other.server and (0 in times or times[0] == times[1])
