"""Finds published tables whose rows foreign keys change without a binlog event, and
reports them.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final

import structlog

from relay.errors import RelayError
from relay.model.names.first_names import first_names
from relay.model.table import TableId
from relay.route import Router, TableFilter
from relay.schema import CatalogReader
from relay.schema.catalog.cascades import Cascade
from relay.settings import InstanceSettings, SourceSettings
from relay.threads import Guard, RelayThread

REMEDY: Final = (
    "Run `roma reconcile --repair` for the copies of these tables on a schedule, or let the "
    "application change these rows itself: "
    "docs/limits.md."
)
_INTERVAL_SECONDS: Final = 3600.0

_log = structlog.stdlib.get_logger(__name__)


def is_relayed(instance: InstanceSettings, router: Router | None) -> Callable[[TableId], bool]:
    """Return a function that says whether rows of a real table are published.

    `router` None: only the instance's filter decides.
    """
    accepts = TableFilter(instance.filter).accepts
    return lambda table: (
        accepts(table) and (router is None or router.destination(table) is not None)
    )


def cascades_in_words(found: Sequence[Cascade]) -> str:
    """Return a sentence that names the first tables of `found`; "" if it is empty."""
    if not found:
        return ""
    return f"The binlog lacks the changes that foreign keys make in {first_names(found)}."


class UnloggedCascades:
    """Searches the sources of an instance for foreign keys that change rows without a binlog event.
    `words` is a sentence for operators about the result, "" if nothing was found.
    """

    def __init__(self, instance: InstanceSettings) -> None:
        self.words = ""
        self._instance = instance
        self._begun = False

    def watch(self, router: Callable[[], Router], stop: threading.Event) -> None:
        """Check the sources every hour until `stop`, in a separate thread. Only the first call has
        an effect.

        `router` returns the router of the active mapping set.
        """
        if not self._begun:
            self._begun = True
            RelayThread("cascades", self._instance.name, self._watch, router, stop).start()

    def _watch(self, router: Callable[[], Router], stop: threading.Event) -> None:
        guard = Guard("cascades", self._instance.name)
        while not stop.is_set():
            with guard:
                self._ask(router())
            stop.wait(max(_INTERVAL_SECONDS, guard.pause_s))

    def _ask(self, router: Router) -> None:
        source, group = self._instance.source, self._instance.group
        servers = [source] if group is None else group.members(source).values()
        try:
            # A separate router: the publishing thread uses that of the active set.
            relayed = is_relayed(self._instance, Router(router.mapping, self._instance.routing))
            words = cascades_in_words(
                [each for server in servers for each in _of_server(server, relayed)]
            )
        except RelayError as exc:
            _log.info("cascades_not_read", instance=self._instance.name, reason=exc.reason)
            return
        if words and words != self.words:
            _log.warning(
                "unlogged_cascades", instance=self._instance.name, reason=words, remedy=REMEDY
            )
        self.words = words


def _of_server(server: SourceSettings, relayed: Callable[[TableId], bool]) -> Sequence[Cascade]:
    with closing(CatalogReader(server)) as catalog:
        return catalog.unlogged_cascades(relayed)
