"""The transactions that a server has executed and logged, and those of a set that it lacks."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from relay.model.positions.gtid import GtidSet


@dataclass(frozen=True, slots=True)
class Executed:
    """The transactions that a server has executed and logged.

    gtids   MySQL's gtid_executed, or MariaDB's gtid_binlog_pos: the last logged transaction of each
            domain
    state   MariaDB's gtid_binlog_state: the newest number of each (domain, server); in each domain
            the last entry is the one logged last
    strict  MariaDB's gtid_strict_mode: in a domain, the server accepts only rising numbers. If it
            is off, numbers rise only per server, and only `state` shows which ones exist
    """

    gtids: GtidSet
    state: Mapping[tuple[int, int], int]
    strict: bool = False

    @classmethod
    def parse(cls, executed: str, state: str = "", *, strict: bool = False) -> "Executed":
        """Read the values of the servers' variables.

        Without a `state`, the numbers of each domain are assumed to rise.
        """
        return cls(GtidSet.parse(executed), MappingProxyType(binlog_state(state)), strict)

    def lacking(self, wanted: GtidSet) -> GtidSet:
        """Return the part of `wanted` that the server does not have."""
        lacking = wanted.without(self.gtids)
        if not self.state:
            return lacking
        domains = {
            domain: last
            for domain, last in wanted.domains.items()
            if self.state.get((domain, last[0]), 0) < last[1]
        }
        return GtidSet(lacking.intervals, MappingProxyType(domains))

    def passed_of(self, lacking: GtidSet) -> GtidSet:
        """Return the part of `lacking` that the server can no longer receive: under `strict`, its
        domain has already reached the number.
        """
        passed = {
            d: last
            for d, last in lacking.domains.items()
            if self.strict and self.gtids.domains.get(d, (0, 0))[1] >= last[1]
        }
        return GtidSet(domains=MappingProxyType(passed))

    def knows_domain(self, domain: int) -> bool:
        """Return whether the server has logged a transaction in a MariaDB domain.

        False also after FLUSH BINARY LOGS DELETE_DOMAIN_ID.
        """
        return domain in self.gtids.domains or any(each == domain for each, _ in self.state)

    def newest_of(self, domain: int, server: int) -> int:
        """Return the newest number that a server has in a MariaDB domain.

        If that server wrote nothing in the domain, return the domain's last number.
        """
        return self.state.get((domain, server), 0) or self.gtids.domains.get(domain, (0, 0))[1]

    def kept_of(self, published: GtidSet) -> GtidSet:
        """Return the part of a published set that the server has.

        After an operator accepted a loss, reading continues after this part.
        """
        lost = self.lacking(published)
        domains = {
            domain: self._last_kept(domain, last[0]) if domain in lost.domains else last
            for domain, last in published.domains.items()
        }
        kept = MappingProxyType(
            {domain: last for domain, last in domains.items() if last is not None}
        )
        return GtidSet(published.without(GtidSet(lost.intervals)).intervals, kept)

    def _last_kept(self, domain: int, server: int) -> tuple[int, int] | None:
        """Return (server id, number) of the newest transaction of the same server, which was
        published before the lost one; else the domain's last.
        """
        if number := self.state.get((domain, server), 0):
            return server, number
        return self.gtids.domains.get(domain)


def binlog_state(text: str) -> dict[tuple[int, int], int]:
    """Read gtid_binlog_state: the newest sequence number of every domain and server, in the order
    of the text.
    """
    parts = (part.strip().split("-") for part in text.split(",") if part.strip())
    return {(int(domain), int(server)): int(number) for domain, server, number in parts}
