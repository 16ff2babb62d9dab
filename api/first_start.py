"""Prints the link for the first administrator at the start of an admin without users, or logs
why there is none.
"""

from threading import Event
from time import monotonic
from typing import Final

import structlog

from api.composition import Admin
from relay.errors import RelayError
from relay.operations import has_users, traces_of_work
from relay.service import Say, say_text
from relay.threads import RelayThread

_TRIED_SECONDS: Final = 60.0
"""ZooKeeper and Kafka must have answered after this time."""
_POLL_SECONDS: Final = 1.0
_REMEDY: Final = (
    "Add a user on a server with the configuration file: roma users add NAME --role admin "
    "--password-from-stdin"
)

_log = structlog.stdlib.get_logger(__name__)


class FirstStart:
    """Checks once, in a separate thread, whether this is the first start of an installation."""

    def __init__(self, admin: Admin, url: str, say: Say = say_text) -> None:
        """`say` prints the link."""
        self._admin = admin
        self._url = url
        self._say = say
        self._ended = Event()
        self._thread = RelayThread("first-start", "", self._run)

    def start(self) -> None:
        """Start the thread. Nothing happens if the configuration file has a token, because that
        token can be used to add users.
        """
        token = self._admin.settings.api.token
        if token is None or not token.get_secret_value():
            self._thread.start()

    def stop(self) -> None:
        """End the check; the thread ends at its next poll."""
        self._ended.set()

    def _run(self) -> None:
        until = monotonic() + _TRIED_SECONDS
        while not self._ended.wait(_POLL_SECONDS):
            try:
                self.print_link()
            except RelayError as error:
                if monotonic() < until:
                    continue
                _log.warning("no_first_admin_link", reason=error.reason, remedy=_REMEDY)
            return

    def print_link(self) -> None:
        """Print the link, or log why the admin offers none. If users exist, nothing happens.

        Raises RelayError if ZooKeeper or Kafka is unavailable.
        """
        settings, session = self._admin.settings, self._admin.session
        if has_users(settings, session):
            return
        if traces := traces_of_work(settings, session):
            reason = (
                f"There are no users, but this is not the first start of the installation: {traces}"
            )
            _log.warning("no_first_admin_link", reason=reason, remedy=_REMEDY)
            return
        code = self._admin.access.first_admin.offer()
        self._say("first administrator", f"{self._url}/first-admin?code={code}")
        _log.info("first_admin_link_printed", valid_minutes=15)
