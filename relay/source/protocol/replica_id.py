"""Chooses the server_id under which the relay reads a source: the configured one, or one that no
other replica uses.
"""

import hashlib
from collections.abc import Collection, Iterator
from contextlib import closing
from typing import Any, Final, NamedTuple

from relay.errors import ServerIdTaken, SourceNotPermitted
from relay.settings import SourceSettings
from relay.source.protocol.commands import REPORTED_HOST, replica_uuid
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import ServerFacts, read_server_facts

# Numbers that people give are small, and those made of an address are of any size; this range is
# the least likely to be in use.
_FIRST_CHOSEN: Final = 3_000_000_000
_CHOSEN: Final = 1_000_000_000
_UUIDS_SINCE: Final = (5, 6, 0)
"""The first version of MySQL whose list of replicas has their uuids."""
_TAKEN_REMEDY: Final = (
    "Set source.server_id to an unused number, or remove it: the relay then chooses an unused one."
)


class Replica(NamedTuple):
    """One replica that is registered at the source. `ours`: it registered under the name with which
    this relay registers.
    """

    server_id: int
    host: str
    ours: bool


def free_server_id(
    connection: SourceConnection, settings: SourceSettings, server: ServerFacts, replica: str
) -> int:
    """Return the configured server_id; if none is configured, one that no other replica uses.

    The choice depends on the reader's name `replica`, so the number stays the same unless another
    replica uses it. Raises ServerIdTaken if the source or another replica has the configured one.
    """
    others = [each for each in replicas(connection, server) if not each.ours]
    if settings.server_id is None:
        return chosen_server_id(replica, {server.server_id, *(each.server_id for each in others)})
    if settings.server_id == server.server_id:
        raise ServerIdTaken(
            f"server_id {settings.server_id} of the instance is that of the source itself.",
            remedy=_TAKEN_REMEDY,
        )
    for each in others:
        if each.server_id == settings.server_id:
            where = f" on {each.host}" if each.host else ""
            raise ServerIdTaken(
                f"server_id {each.server_id} belongs to another replica of the source{where}.",
                remedy=_TAKEN_REMEDY,
            )
    return settings.server_id


def free_replica_id(settings: SourceSettings, replica: str) -> int:
    """Return the server_id for the reader named `replica`, over a new connection.

    Raises the errors of `free_server_id`, and Unreachable.
    """
    with closing(SourceConnection(settings)) as connection:
        return free_server_id(connection, settings, read_server_facts(connection), replica)


def chosen_server_id(replica: str, taken: Collection[int]) -> int:
    """Return the first number that is not in `taken`, from a sequence that depends only on the name
    `replica`.
    """
    return next(number for number in _numbers(replica) if number not in taken)


def replicas(connection: SourceConnection, server: ServerFacts) -> list[Replica]:
    """Return the replicas that are registered at the source; [] if the account may not
    list them.
    """
    newer = not server.mariadb and server.version >= (8, 0, 22)
    try:
        rows = connection.rows("SHOW REPLICAS" if newer else "SHOW SLAVE HOSTS")
    except SourceNotPermitted:
        # MariaDB asks for REPLICATION MASTER ADMIN here, which a relay need not have. The source
        # then reports the conflict by ending the dump.
        return []
    has_uuids = not server.mariadb and server.version >= _UUIDS_SINCE
    return [_replica(row, has_uuids=has_uuids) for row in rows]


def _replica(row: tuple[Any, ...], *, has_uuids: bool) -> Replica:
    number, host = int(row[0]), str(row[1])
    return Replica(
        number,
        host,
        replica_uuid(number) in map(str, row[2:]) if has_uuids else host == REPORTED_HOST,
    )


def _numbers(replica: str) -> Iterator[int]:
    tried = 0
    while True:
        digest = hashlib.sha256(f"{REPORTED_HOST}/{replica}/{tried}".encode()).digest()
        yield _FIRST_CHOSEN + int.from_bytes(digest[:8], "big") % _CHOSEN
        tried += 1
