"""Checks on a standby whether this relay could take over the leadership."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from relay.errors import RelayError
from relay.kafka import TopicAdmin, accept
from relay.pipeline.active_mapping import ActiveMapping
from relay.position import KafkaPositionStore
from relay.settings import InstanceSettings, RelaySettings, SourceSettings
from relay.source import SourceCheck, check_source
from relay.threads import Guard, RelayThread

_POLL_SECONDS: Final = 15.0


class TakeoverProbe:
    """Checks in a separate thread whether mapping, Kafka and source are available.

    `error` is the error of the last check, None if everything is available.
    """

    def __init__(
        self, settings: RelaySettings, instance: InstanceSettings, mapping: ActiveMapping
    ) -> None:
        self.error: RelayError | None = None
        self._instance = instance
        self._kafka = settings.kafka
        self._store = KafkaPositionStore(settings.kafka, settings.installation, instance.name)
        self._mapping = mapping

    @contextmanager
    def running(self) -> Iterator[None]:
        """Context manager: check regularly while the block runs. The end of the block does not wait
        for a check that still runs.
        """
        ended = threading.Event()
        RelayThread("standby", self._instance.name, self._run, ended).start()
        try:
            yield
        finally:
            ended.set()

    def _run(self, ended: threading.Event) -> None:
        guard = Guard("standby", self._instance.name)
        while not ended.is_set():
            found: RelayError | None = None
            with guard:
                found = self._check()
            if guard.error is not None:
                found = RelayError(
                    f"An unexpected error prevented the check whether the relay could take over "
                    f"({guard.error!r})."
                )
            if not ended.is_set():
                self.error = found
            ended.wait(max(_POLL_SECONDS, guard.pause_s))

    def _check(self) -> RelayError | None:
        try:
            self._mapping.check_readable()
            state = TopicAdmin(self._kafka).state(self._store.topic)
            if state is not None:
                accept(self._store.findings(state))
        except RelayError as exc:
            return exc
        return self._check_sources()

    def _check_sources(self) -> RelayError | None:
        """Of a group that holds all are needed; where dead sources are passed one is enough."""
        group = self._instance.group
        errors = [self._check_one(each) for each in self._instance.each_source().values()]
        found = [error for error in errors if error is not None]
        all_needed = group is not None and group.when_source_dies == "hold"
        return found[0] if found and (all_needed or len(found) == len(errors)) else None

    def _check_one(self, source: SourceSettings) -> RelayError | None:
        """Check a source: it or its standby must be available.

        The leader chooses which of them is read.
        """
        whole = self._instance.message.row_image == "full"
        servers = [each for each in (source, source.at_standby()) if each is not None]
        errors = [_first_error(check_source(each, whole_images=whole)) for each in servers]
        return None if None in errors else errors[0]


def _first_error(checks: list[SourceCheck]) -> RelayError | None:
    return next(
        (each.error for each in checks if not each.warning and each.error is not None), None
    )
