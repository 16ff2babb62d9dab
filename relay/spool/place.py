"""Which of two places of one server's binlog comes first, and whether they are of one server at all."""

from relay.model.position import BinlogPosition, SourceIdentity


def rank(place: BinlogPosition) -> tuple[str, int, int]:
    """Sorts places of one server: by the file's number, then by offset."""
    stem, _, digits = place.file.rpartition(".")
    return stem, int(digits) if digits.isdecimal() and digits.isascii() else 0, place.offset


def same_server(one: SourceIdentity, other: SourceIdentity) -> bool:
    """MySQL's servers have a uuid, MariaDB's a number."""
    if one.server_uuid or other.server_uuid:
        return one.server_uuid == other.server_uuid
    return one.server_id == other.server_id


def same_file(one: SourceIdentity, other: SourceIdentity) -> bool:
    """Whether two identities of places in a file of one name can be of the same incarnation of it."""
    times = one.file_created_s, other.file_created_s
    return same_server(one, other) and (0 in times or times[0] == times[1])
