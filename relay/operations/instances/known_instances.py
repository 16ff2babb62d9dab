"""Reads the instances that operators may name: those of the configuration file, and those defined
at run time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from relay.errors import ConfigurationError
from relay.route import TableFilter
from relay.settings import InstanceSettings, RelaySettings
from relay.state import InstanceDocumentStore, Paths
from relay.zk import Session


@dataclass(frozen=True, slots=True)
class DefinedInstances:
    """All instances that this configuration file and the documents in ZooKeeper define.

    settings  their settings, those of the file first; secrets in documents stay `${NAME}`
    unusable  name → reason, for documents that every relay refuses
    """

    settings: tuple[InstanceSettings, ...] = ()
    unusable: Mapping[str, str] = field(default_factory=dict)


def defined_instances(settings: RelaySettings, session: Session) -> DefinedInstances:
    """Return the instances that the configuration file and the documents in ZooKeeper define. If
    both define a name, the file is used.

    Raises StoreUnreachable.
    """
    of_file = {each.name for each in settings.instances}
    variables = settings.secrets.of_documents(resolved=False)
    found, unusable = list(settings.instances), dict[str, str]()
    for document in InstanceDocumentStore(
        session, Paths.of(settings.zookeeper, settings.installation)
    ).all():
        if document.name in of_file:
            continue
        try:
            instance = document.settings(variables)
            TableFilter(instance.filter)
        except ConfigurationError as exc:
            unusable[document.name] = exc.reason
        else:
            found.append(instance)
    return DefinedInstances(tuple(found), unusable)


def instance_of(
    settings: RelaySettings, name: str, session: Session | None = None, *, resolved: bool = True
) -> InstanceSettings:
    """Return the settings of the instance `name`. If the configuration file and a document in
    ZooKeeper define it, the file is used.

    Without a session only the file is read. `resolved` False: `${NAME}` in a document stays, for
    callers that need no secret. Raises ConfigurationError if the name is unknown or its document is
    invalid.
    """
    found = next((each for each in settings.instances if each.name == name), None)
    if found is not None:
        return found
    documents = (
        ()
        if session is None
        else InstanceDocumentStore(
            session, Paths.of(settings.zookeeper, settings.installation)
        ).all()
    )
    for document in documents:
        if document.name == name:
            return document.settings(settings.secrets.of_documents(resolved=resolved))
    known = ", ".join(
        [*(each.name for each in settings.instances), *(each.name for each in documents)]
    )
    raise ConfigurationError(f"There is no instance {name!r}; known are {known or 'none'}.")


def is_known(settings: RelaySettings, name: str, session: Session) -> bool:
    """Return whether an instance of this name is defined."""
    try:
        instance_of(settings, name, session, resolved=False)
    except ConfigurationError:
        return False
    return True
