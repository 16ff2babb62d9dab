"""Objects that several parts of the admin use: settings, the session, stores and the audit
trail.
"""

from dataclasses import dataclass
from functools import partial

from relay.audit import AuditTrail, DelayedTrail
from relay.operations import DefinedInstances, defined_instances, highest_recorded_set
from relay.settings import RelaySettings
from relay.state import InstanceStore, MappingStore, Paths
from relay.zk import Session


@dataclass(frozen=True, slots=True)
class Shared:
    """The objects from which the admin's parts are constructed.

    settings   the configuration file
    session    the one session with ZooKeeper
    paths      the installation's nodes in ZooKeeper
    mappings   the mapping sets
    instances  what relays report about instances
    acts       the audit trail, written in the background
    """

    settings: RelaySettings
    session: Session
    paths: Paths
    mappings: MappingStore
    instances: InstanceStore
    acts: DelayedTrail

    @classmethod
    def of(cls, settings: RelaySettings, session: Session) -> "Shared":
        """Return the stores of the installation that the settings name."""
        paths = Paths.of(settings.zookeeper, settings.installation)
        return cls(
            settings=settings,
            session=session,
            paths=paths,
            mappings=MappingStore(session, paths, partial(highest_recorded_set, settings)),
            instances=InstanceStore(session, paths),
            acts=DelayedTrail(AuditTrail(settings.kafka, settings.installation)),
        )

    def defined(self) -> DefinedInstances:
        """Read and return the instances that the configuration file and ZooKeeper define."""
        return defined_instances(self.settings, self.session)
