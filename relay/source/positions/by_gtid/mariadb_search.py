"""Searches the binlog of a MariaDB server for given transactions. Checks that their numbers rise,
and finds which transactions are purged.

A MariaDB position names one transaction for each domain. A server with greater numbers accepts a
dump from that position even if it lacks the transaction. So the relay searches for the transaction
itself: in the state at the end of the binlog and in the lists at the beginnings of the files. If
these do not show it, the relay reads the one file that must contain it. Only if the numbers of its
domain rise does the transaction prove that all earlier ones are there. With gtid_strict_mode off,
numbers rise only per server, so a domain that several servers wrote to is read completely.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import dropwhile
from typing import TypeAlias

from relay.model.positions.gtid import GtidSet
from relay.settings import SourceSettings
from relay.source.positions.binlog_probe import mariadb_ids, mariadb_list
from relay.source.protocol.server_facts import ServerFacts

State: TypeAlias = dict[tuple[int, int], int]
"""(domain, server_id) → newest GTID number.

Of the entries of a domain, the last one is the domain's transaction that was logged last.
"""


Ids: TypeAlias = Callable[[str, int], Iterable[tuple[int, int]]]


class Sought(Enum):
    """The result of a search for one transaction.

    PURGED: the transaction is older than the oldest file, and some later transactions are purged
    too. DISORDERED: a greater number of its domain precedes it in the binlog, or a smaller one
    follows it.
    """

    FOUND = "found"
    ABSENT = "absent"
    PURGED = "purged"
    DISORDERED = "disordered"


@dataclass(frozen=True, slots=True)
class _Wanted:
    domain: int
    server: int
    number: int

    def newest(self, state: State) -> int:
        """Return the newest number that `state` has for the transaction's domain and server."""
        return state.get((self.domain, self.server), 0)

    def others_ahead(self, state: State) -> bool:
        """Return whether, in `state`, another server of the domain has this number or a greater
        one.
        """
        return any(
            number >= self.number
            for (domain, server), number in state.items()
            if domain == self.domain and server != self.server
        )

    def is_last(self, state: State) -> bool:
        """Return whether the wanted transaction is the last one of its domain in `state`."""
        last = [
            (server, number) for (domain, server), number in state.items() if domain == self.domain
        ][-1:]
        return last == [(self.server, self.number)]

    def precedes_all_of(self, before: State, after: State) -> bool:
        """Return whether, between the two states, only the transaction's own server wrote to its
        domain.
        """
        return all(
            after[position] == before.get(position, 0)
            for position in after
            if position[0] == self.domain and position[1] != self.server
        )


class MariadbSearch:
    """Searches the binlog files of one server for transactions, beginning with the newest file.

    files         names of the binlog files, oldest first
    end           newest GTID numbers at the end of the newest file
    state_before  returns the newest GTID numbers at the beginning of the named file
    ids_of        called with a file's name and a domain; yields (server_id, number) of each
                  transaction of this domain in the file
    """

    def __init__(
        self, files: Sequence[str], end: State, state_before: Callable[[str], State], ids_of: Ids
    ) -> None:
        self._files = files
        self._end = end
        self._state_before = state_before
        self._ids_of = ids_of
        self._lists: dict[str, State] = {}

    @classmethod
    def at(
        cls, settings: SourceSettings, server: ServerFacts, files: dict[str, int]
    ) -> "MariadbSearch":
        """Return a search on this server. `files` maps names to sizes in bytes, oldest first."""
        return cls(
            list(files),
            dict(server.held.state),
            lambda file: mariadb_list(settings, server, file),
            lambda file, domain: mariadb_ids(settings, server, file, files[file], domain),
        )

    def find(self, domain: int, server: int, number: int) -> Sought:
        """Search for the transaction `domain`-`server`-`number`, and check that its domain's
        numbers rise around it.
        """
        wanted = _Wanted(domain, server, number)
        if wanted.is_last(self._end) and not wanted.others_ahead(self._end):
            # the numbers of each server rise, so everything before it is smaller, and nothing
            # follows
            return Sought.FOUND
        file = next(
            (file for file in reversed(self._files) if wanted.newest(self._list(file)) < number),
            None,
        )
        if file is None:
            return self._at_the_oldest(wanted)
        after = self._state_after(file)
        if wanted.newest(after) != number and not self._logged(wanted, file):
            return Sought.ABSENT
        return Sought.FOUND if self._in_order(wanted, file) else Sought.DISORDERED

    def purged_beside(self, published: GtidSet) -> tuple[str, ...]:
        """Return the newest purged GTID of each server in the domains that are not in `published`.
        The relay has published nothing of these domains, and their first transactions are no longer
        in the binlog.
        """
        purged = sorted(
            position for position in self._oldest if position[0] not in published.domains
        )
        return tuple(
            f"{domain}-{server}-{self._oldest[domain, server]}" for domain, server in purged
        )

    def purged_up_to(self, domain: int) -> str:
        """Return the GTID of the domain's last transaction before the oldest file."""
        server, number = [
            (server, number) for (each, server), number in self._oldest.items() if each == domain
        ][-1]
        return f"{domain}-{server}-{number}"

    def first_file(self, published: GtidSet) -> str:
        """Return the newest file before which every transaction was published; the oldest file if
        no file has this property.
        """
        for file in reversed(self._files):
            if all(
                domain in published.domains and number <= published.domains[domain][1]
                for (domain, _), number in self._list(file).items()
            ):
                return file
        return self._files[0]

    def _at_the_oldest(self, wanted: _Wanted) -> Sought:
        """Return the result for a transaction older than the oldest file: it is found only if it
        is the last of its domain there.
        """
        if not wanted.is_last(self._oldest):
            return Sought.PURGED
        if wanted.others_ahead(self._oldest):
            return Sought.DISORDERED
        return Sought.FOUND if self._in_order(wanted, self._files[0]) else Sought.DISORDERED

    def _in_order(self, wanted: _Wanted, first: str) -> bool:
        """Return whether the domain's numbers rise around a transaction that is logged in the file
        `first`, or before it.
        """
        before = self._list(first)
        if wanted.others_ahead(before):
            return False
        if wanted.precedes_all_of(before, self._end):
            return True
        passed = wanted.newest(before) == wanted.number
        for file in dropwhile(lambda file: file != first, self._files):
            for server, number in self._ids_of(file, wanted.domain):
                if (server, number) == (wanted.server, wanted.number):
                    passed = True
                elif number == wanted.number or (number > wanted.number) is not passed:
                    return False
        return True

    def _logged(self, wanted: _Wanted, file: str) -> bool:
        return any(
            position == (wanted.server, wanted.number)
            for position in self._ids_of(file, wanted.domain)
        )

    def _state_after(self, file: str) -> State:
        at = self._files.index(file) + 1
        return self._list(self._files[at]) if at < len(self._files) else self._end

    @property
    def _oldest(self) -> State:
        return self._list(self._files[0])

    def _list(self, file: str) -> State:
        if file not in self._lists:
            self._lists[file] = self._state_before(file)
        return self._lists[file]
