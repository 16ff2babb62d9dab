"""What an instance reads next: which server of each source, and from which record on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from relay.errors import RelayError
from relay.model.records.position_record import PositionRecord
from relay.settings import SourceSettings
from relay.state import SwitchNote


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """Where the next streams come from, by the sources' names (a single one is called ""), and the
    record that they go on from.

    `switches` tells of the switches that this is, whose places stand in the record. `passed` says
    of sources of a group why they cannot be read now, while the others may go on.
    """

    servers: Mapping[str, SourceSettings]
    record: PositionRecord | None
    switches: tuple[SwitchNote, ...] = ()
    passed: Mapping[str, RelayError] = field(default_factory=dict)

    @property
    def server(self) -> SourceSettings:
        """The server of a single source, or of a group's first."""
        return next(iter(self.servers.values()))

    @property
    def switched(self) -> frozenset[str]:
        """The names of the sources that are read from another server than before."""
        return frozenset(each.source for each in self.switches)
