"""Checks what an instance needs, from the admin's server."""

from threading import Lock
from time import time
from typing import Final

from api.errors import ChecksBusy, NoSuchThing
from api.models.installation.preflight import FindingView, PreflightView
from relay.errors import ConfigurationError
from relay.operations import instance_of
from relay.preflight import exit_code, preflight
from relay.settings import InstanceSettings, RelaySettings
from relay.zk import Session

_ORDER: Final = ("fail", "warn", "not checked", "pass")


class PreflightDesk:
    """Runs the checks of `roma preflight`, for one instance at a time."""

    def __init__(self, settings: RelaySettings, session: Session) -> None:
        self._settings = settings
        self._session = session
        self._runs = Lock()

    def check(self, name: str) -> PreflightView:
        """Check everything that the instance needs. Nothing is changed.

        Folders and stores of the relay's server are not checked. Sources and registries are not
        checked either if this host does not have a secret of the instance.

        Raises NoSuchThing, ChecksBusy while another check runs, StoreUnreachable.
        """
        instance, lacking = self._known(name)
        if not self._runs.acquire(blocking=False):
            raise ChecksBusy("This admin is already running the checks of an instance.")
        try:
            one = self._settings.model_copy(update={"instances": (instance,)})
            found = preflight(one, on_relay=False, without_secrets=lacking)
        finally:
            self._runs.release()
        views = sorted(map(FindingView.of, found), key=lambda each: _ORDER.index(each.verdict))
        return PreflightView(
            instance=name,
            can_run=exit_code(found) == 0,
            checked_ms=int(time() * 1000),
            findings=views,
        )

    def _known(self, name: str) -> tuple[InstanceSettings, str]:
        """Return the settings, and why a secret of them is missing here; "" if none is.

        Raises NoSuchThing, StoreUnreachable.
        """
        try:
            plain = instance_of(self._settings, name, self._session, resolved=False)
        except ConfigurationError as exc:
            raise NoSuchThing(exc.reason) from exc
        try:
            return instance_of(self._settings, name, self._session), ""
        except ConfigurationError as exc:
            return plain, f"this admin lacks a secret: {exc.reason.rstrip('.')}"
