"""The main loop of a leader's run: it takes items from the buffer, publishes them, and ends
batches, until the run must end.
"""

import threading
from typing import Final

from relay.errors import BatchAborted, LeadershipLost
from relay.ha import Election
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.control_signals import ControlSignals
from relay.pipeline.delivery.flow_control import FlowControl
from relay.pipeline.ingest.open_sources import OpenSources
from relay.pipeline.ingest.source_stall import SourceStall
from relay.pipeline.publishing.heartbeats import Heartbeats
from relay.pipeline.publishing.publisher import Publisher
from relay.settings import InstanceSettings

_IDLE_SECONDS: Final = 0.25
_COPYING_SECONDS: Final = 0.003
"""The stream is waited for no longer than this while a table is copied."""


class PublishLoop:
    """Publishes the items of `buffer` while this relay leads; used by the instance's thread.

    `flow` pauses and throttles it. `call` reports whether an operator changed the position, so that
    it must be read again.
    """

    def __init__(
        self,
        instance: InstanceSettings,
        election: Election,
        flow: FlowControl,
        call: ControlSignals,
        buffer: ChangeBuffer,
    ) -> None:
        self._instance = instance
        self._election = election
        self._flow = flow
        self._call = call
        self._buffer = buffer
        # Without transactions, nothing fences the producer of a relay that lost the election.
        self._certain = instance.transaction.delivery == "at_least_once"

    def run(self, publisher: Publisher, stop: threading.Event, sources: OpenSources) -> None:
        """Publish items until `stop`, a pause or a hand-over.

        Raises LeadershipLost, BatchAborted if the source stalls inside a transaction or an operator
        calls, and the errors of `sources.check`. If the source stalls, the batch is aborted,
        because consumers receive no later rows of its topics, also of other instances, while its
        Kafka transaction is open.
        """
        stall = SourceStall(sources.by_name, self._instance.transaction.source_stall_seconds)
        copying = False
        heartbeats = Heartbeats(self._instance, publisher.checkpoint, publisher.stats)
        while not stop.is_set() and not self._election.gives_way():
            if self._flow.paused:
                return
            idle_s = _COPYING_SECONDS if copying else _IDLE_SECONDS
            if self._flow.holds_back(stop) or publisher.take(self._buffer.take(idle_s)):
                stall.restart()
            elif publisher.progress.whole:
                publisher.renew_mapping()
                copying = publisher.copy_tables()
            else:
                stall.check(publisher.progress.following)
            self._check(sources)
            heartbeats.beat()
            publisher.checkpoint.commit_if_due(idle=self._buffer.empty)

    def interrupted(self, stop: threading.Event) -> bool:
        """Return whether a long read must end: a stop, a pause, a hand-over, a lost leadership or
        an operator's call.
        """
        if stop.is_set() or self._flow.paused or self._election.gives_way():
            return True
        return not self._election.leads() or self._call.pending()

    def _check(self, sources: OpenSources) -> None:
        if not self._election.leads(for_certain=self._certain):
            raise LeadershipLost(
                f"The election node of instance {self._instance.name} is gone, or ZooKeeper "
                "cannot confirm it."
            )
        sources.check()
        if self._call.pending():
            raise BatchAborted(
                "An operator moved the position or started the instance again; the relay "
                "continues from the position in Kafka."
            )
