"""The instances that operators may name: those of the configuration file, and those that were defined at run time."""

from relay.errors import ConfigurationError
from relay.settings import InstanceSettings, RelaySettings, instance_settings
from relay.state import InstanceDocumentStore, Paths
from relay.zk import Session


def instance_of(settings: RelaySettings, name: str, session: Session | None = None, *, resolved: bool = True) -> InstanceSettings:
    """The instance's settings; a name in the file is the file's. Without a session only that is looked at.

    Not `resolved`: `${NAME}` in a document stays, for whoever needs no secret. Raises ConfigurationError where nobody knows the name, or
    where its document cannot be used.
    """
    found = next((each for each in settings.instances if each.name == name), None)
    if found is not None:
        return found
    documents = () if session is None else InstanceDocumentStore(session, Paths.of(settings.zookeeper, settings.installation)).all()
    for document in documents:
        if document.name == name:
            return instance_settings(document.fields, f"Instance {name}", resolved=resolved)
    known = ", ".join([*(each.name for each in settings.instances), *(each.name for each in documents)])
    raise ConfigurationError(f"There is no instance {name!r}; known are {known or 'none'}.")


def is_known(settings: RelaySettings, name: str, session: Session) -> bool:
    """Whether an instance of this name is defined."""
    try:
        instance_of(settings, name, session, resolved=False)
    except ConfigurationError:
        return False
    return True
