"""The instances that a relay should run: those of its file, and those defined at run time in
ZooKeeper.
"""

from collections.abc import Mapping
from time import time

import structlog

from relay.errors import ConfigurationError, RelayError, StoreUnreachable
from relay.pipeline.supervision.run_time_remedy import remedy_at_run_time
from relay.settings import InstanceSettings, RelaySettings
from relay.state import InstanceDocument, InstanceDocumentStore, InstanceStatus, InstanceStore

_log = structlog.stdlib.get_logger(__name__)


class DesiredInstances:
    """Reads which instances should run; each call of `settings` reads the documents in ZooKeeper
    again.

    If the configuration file and a document define the same name, the file is used. An invalid
    document is reported, and does not change a running instance.
    """

    def __init__(
        self,
        settings: RelaySettings,
        store: InstanceDocumentStore,
        notes: InstanceStore,
        relay: str,
    ) -> None:
        self._of_file = {each.name: each for each in settings.instances}
        self._variables = settings.secrets.of_documents()
        self._store = store
        self._notes = notes
        self._relay = relay
        self._defined: dict[str, InstanceSettings] = {}
        self._refused: dict[str, str] = {}

    def settings(self) -> Mapping[str, InstanceSettings]:
        """Return the settings of each instance by name. While ZooKeeper is unavailable, the
        documents that were read last apply.
        """
        try:
            documents = self._store.all()
        except StoreUnreachable:
            return {**self._defined, **self._of_file}
        known = {each.name: found for each in documents if (found := self._used(each)) is not None}
        self._defined = known
        return {**known, **self._of_file}

    def _used(self, document: InstanceDocument) -> InstanceSettings | None:
        try:
            found = document.settings(self._variables)
            if found.name != document.name:
                raise ConfigurationError(
                    f"The document of instance {document.name} has the name {found.name} inside."
                )
        except ConfigurationError as exc:
            self._refuse(document, exc)
            return self._defined.get(document.name)
        self._refused.pop(document.name, None)
        return found

    def _refuse(self, document: InstanceDocument, error: ConfigurationError) -> None:
        """Report an invalid document once: in the log, and also in the status if no instance of
        that name runs.
        """
        if self._refused.get(document.name) == document.state:
            return
        self._refused[document.name] = document.state
        _log.error(
            "instance_document_refused",
            instance=document.name,
            version=document.version,
            reason=error.reason,
        )
        if document.name in self._defined:
            return
        remedy = remedy_at_run_time(error, document.name)
        status = InstanceStatus(
            document.name,
            "STOPPED",
            error.code,
            error.reason,
            remedy,
            relay=self._relay,
            run_time=True,
            updated_ms=int(time() * 1000),
        )
        try:
            self._notes.put_status(status)
        except RelayError as exc:
            _log.warning("status_not_written", reason=exc.reason)
