"""Checks during a dump that the source still has the binlog that is being read.

After a RESET neither MySQL nor MariaDB ends a dump that is at the end of the binlog. The server
sends only heartbeats from the deleted file until the new file has grown beyond the old position
(tried with MariaDB 11.4 and MySQL 9.7). So the relay queries an idle source.
"""

from contextlib import closing
from time import monotonic
from typing import Final

from relay.errors import HistoryChanged, RelayError, SourceLostTransactions
from relay.model.change import Advance
from relay.model.positions.position import SourcePosition
from relay.settings import SourceSettings
from relay.source.positions.resume import binlog_end, check_position
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import read_server_facts

POLL_INTERVAL_SECONDS: Final = 5.0
"""A source that sends only heartbeats is queried for the end of its binlog this often."""


class HistoryWatch:
    """Checks regularly that an idle source still has the position that was reached. `began` is
    where reading began.
    """

    def __init__(self, settings: SourceSettings, began: SourcePosition) -> None:
        self._settings = settings
        self._at = began
        self._poll_at_s = monotonic() + POLL_INTERVAL_SECONDS

    def rests(self, advance: Advance) -> None:
        """Process the item of a heartbeat or of a new binlog file. If the position has not moved
        for POLL_INTERVAL_SECONDS, query the source about it.

        Raises HistoryChanged or SourceLostTransactions if the source no longer has the position.
        """
        now_s = monotonic()
        if advance.position != self._at.binlog or advance.identity != self._at.identity:
            self._at = SourcePosition(advance.position, "", advance.identity)
        elif now_s < self._poll_at_s:
            return
        elif change := self.change():
            raise change
        self._poll_at_s = now_s + POLL_INTERVAL_SECONDS

    def change(self) -> HistoryChanged | SourceLostTransactions | None:
        """Query the source; return an error if it no longer has the position that was reached.

        None if the source has the position, or does not answer.
        """
        try:
            with closing(SourceConnection(self._settings)) as connection:
                server = read_server_facts(connection)
                if binlog_end(connection, server) != self._at.binlog:
                    check_position(connection, self._settings, server, self._at)
        except (HistoryChanged, SourceLostTransactions) as exc:
            return exc
        except RelayError:
            return None  # the dump itself shows what is wrong
        return None
