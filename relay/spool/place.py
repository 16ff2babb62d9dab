"""Which of two places of one server's binlog comes first, and whether they are of one file."""

from relay.model.positions.position import BinlogPosition, SourceIdentity


def rank(place: BinlogPosition) -> tuple[str, int, int]:
    """Sorts places of one server: by the file's number, then by offset."""
    return place.file.rpartition(".")[0], *place.rank


def same_file(one: SourceIdentity, other: SourceIdentity) -> bool:
    """Whether two identities of places in a file of one name can be of the same incarnation of
    it.
    """
    times = one.file_created_s, other.file_created_s
    return one.server == other.server and (0 in times or times[0] == times[1])
