"""Whether exactly these transactions stand in a MariaDB server's binlog, and what of its domains is purged.

A MariaDB position names one transaction for each domain, and a dump that is asked to begin behind it is taken by any server whose
numbers have passed it, whatever stood there. So the very id is looked for: in the state at the binlog's end, in the lists at the
files' beginnings, else in the one file where it would have to be.
"""

from enum import Enum

from relay.model.gtid import GtidSet
from relay.model.standby_proof import binlog_state
from relay.settings import SourceSettings
from relay.source.probe import mariadb_has, mariadb_list
from relay.source.server_facts import ServerFacts


class Sought(Enum):
    """What a search for one transaction found. PURGED: it would lie before the oldest file, and so would some that follow it."""

    FOUND = "found"
    ABSENT = "absent"
    PURGED = "purged"


class MariadbSearch:
    """Looks into the binlog files of one server, the newest first; `files` are names and sizes, oldest first."""

    def __init__(self, settings: SourceSettings, server: ServerFacts, files: dict[str, int]) -> None:
        self._settings = settings
        self._server = server
        self._files = files
        self._lists: dict[str, dict[tuple[int, int], int]] = {}

    def find(self, domain: int, server: int, number: int) -> Sought:
        """Look for one transaction."""
        if any(purged > number for (each, _), purged in self._oldest.items() if each == domain):
            return Sought.PURGED
        newest = binlog_state(self._server.variables.get("gtid_binlog_state", ""))
        if newest.get((domain, server)) == number:
            return Sought.FOUND
        for file in reversed(self._files):
            before = self._list(file).get((domain, server), 0)
            if before == number:
                return Sought.FOUND
            if before < number:
                found = mariadb_has(self._settings, self._server, file, self._files[file], f"{domain}-{server}-{number}")
                return Sought.FOUND if found else Sought.ABSENT
        return Sought.PURGED

    def purged_beside(self, published: GtidSet) -> tuple[str, ...]:
        """The newest purged ids of domains that were never published: their beginnings are gone unseen."""
        purged = sorted(place for place in self._oldest if place[0] not in published.domains)
        return tuple(f"{domain}-{server}-{self._oldest[domain, server]}" for domain, server in purged)

    def purged_up_to(self, domain: int) -> str:
        """The newest purged id of a domain."""
        number, server = max((number, server) for (each, server), number in self._oldest.items() if each == domain)
        return f"{domain}-{server}-{number}"

    def first_file(self, published: GtidSet) -> str:
        """The newest file before which nothing stands that was not published; the oldest where there is none such."""
        for file in reversed(self._files):
            if all(
                domain in published.domains and number <= published.domains[domain][1] for (domain, _), number in self._list(file).items()
            ):
                return file
        return next(iter(self._files))

    @property
    def _oldest(self) -> dict[tuple[int, int], int]:
        return self._list(next(iter(self._files)))

    def _list(self, file: str) -> dict[tuple[int, int], int]:
        if file not in self._lists:
            self._lists[file] = mariadb_list(self._settings, self._server, file)
        return self._lists[file]
