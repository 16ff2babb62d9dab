"""Describes what an instance reads next: the server of each source, and the record to continue
from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from relay.errors import RelayError
from relay.model.records.position_record import PositionRecord
from relay.settings import SourceSettings
from relay.state import SwitchNote


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """The servers from which an instance reads next, and the record from which it continues.

    servers   source → its server; a single source is named ""
    record    the position record; None: the instance has never published
    switches  the switches to other servers, which `record` already contains
    passed    source of a group that cannot be read now → its error
    """

    servers: Mapping[str, SourceSettings]
    record: PositionRecord | None
    switches: tuple[SwitchNote, ...] = ()
    passed: Mapping[str, RelayError] = field(default_factory=dict)

    @property
    def epoch(self) -> int:
        """The epoch of the record, 0 without one."""
        return 0 if self.record is None else self.record.epoch

    @property
    def server(self) -> SourceSettings:
        """The server of the only source, or of the first source of a group."""
        return next(iter(self.servers.values()))

    @property
    def switched(self) -> frozenset[str]:
        """The names of the sources that are read from another server than before."""
        return frozenset(each.source for each in self.switches)
