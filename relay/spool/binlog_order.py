"""The order of two positions in one server's binlog, and whether they are in one file."""

from relay.model.positions.position import BinlogPosition, SourceIdentity


def rank(coordinates: BinlogPosition) -> tuple[str, int, int]:
    """Sorts positions of one server: by the file's number, then by offset."""
    return coordinates.file.rpartition(".")[0], *coordinates.rank


def same_file(one: SourceIdentity, other: SourceIdentity) -> bool:
    """Return whether two positions in files of the same name can be in one incarnation of the file,
    judged by the identities of their servers.
    """
    times = one.file_created_s, other.file_created_s
    return one.server == other.server and (0 in times or times[0] == times[1])
