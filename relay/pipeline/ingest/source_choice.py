"""The next source of an instance's rows: the server of each source, and the record to continue
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
    """The servers of the next streams, by the sources' names (a single one is named ""), and the
    record to continue from. `switches` are the switches in this choice, whose positions are in
    the record. `passed` says why sources of a group cannot be read now, while the others may
    continue.
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
        """The server of a single source, or of a group's first."""
        return next(iter(self.servers.values()))

    @property
    def switched(self) -> frozenset[str]:
        """The names of the sources that are read from another server than before."""
        return frozenset(each.source for each in self.switches)
