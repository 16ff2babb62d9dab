"""Every znode path of an installation; nowhere else is one put together."""

from dataclasses import dataclass
from urllib.parse import quote

from relay.settings import ZooKeeperSettings


@dataclass(frozen=True, slots=True)
class Paths:
    """The tree below `<zookeeper.root>/<installation>`.

    mappings/pointer                     the number of the set in force
    mappings/sets/<number>               which version of each document, author, time, comment
    mappings/documents/<dataId>/<number> a document's body with author, time, comment; never overwritten
    instances/<name>/status              what the instance does now
    instances/<name>/started             the place where it started for the first time
    instances/<name>/dropped             the tables that its mapping leaves out
    instances/<name>/tables              the real tables that it has met
    instances/<name>/called              an operator did something that the instance must look at
    instances/<name>/flow                whether it is paused, and its limits
    instances/<name>/failover/orders     which source operators want, and which losses they accept
    instances/<name>/failover/view       both servers of the source as its relay sees them
    instances/<name>/failover/history    which switches there were
    instances/<name>/failover/sources/<source>/…   the same three of each source of a group
    definitions/<instance>               the settings of an instance that was defined at run time
    topics/<topic>                       which instances feed it, and how they place its rows
    leaders/<instance>                   ephemeral: the relay that leads it
    relays/<name>                        ephemeral: a relay process that lives
    placement                            what operators want: moves, servers in maintenance
    """

    base: str

    @classmethod
    def of(cls, zookeeper: ZooKeeperSettings, installation: str) -> "Paths":
        return cls(f"/{zookeeper.root.strip('/')}/{installation}".replace("//", "/"))

    @property
    def mapping_pointer(self) -> str:
        return f"{self.base}/mappings/pointer"

    @property
    def mapping_sets(self) -> str:
        return f"{self.base}/mappings/sets"

    def mapping_set(self, number: int) -> str:
        return f"{self.mapping_sets}/{_numbered(number)}"

    def mapping_documents(self, data_id: str) -> str:
        return f"{self.base}/mappings/documents/{_node(data_id)}"

    def mapping_document(self, data_id: str, version: int) -> str:
        return f"{self.mapping_documents(data_id)}/{_numbered(version)}"

    @property
    def instances(self) -> str:
        return f"{self.base}/instances"

    def instance_status(self, instance: str) -> str:
        return f"{self.instances}/{_node(instance)}/status"

    def instance_started(self, instance: str) -> str:
        return f"{self.instances}/{_node(instance)}/started"

    def instance_dropped(self, instance: str) -> str:
        return f"{self.instances}/{_node(instance)}/dropped"

    def instance_tables(self, instance: str) -> str:
        return f"{self.instances}/{_node(instance)}/tables"

    def instance_flow(self, instance: str) -> str:
        return f"{self.instances}/{_node(instance)}/flow"

    def instance_called(self, instance: str) -> str:
        return f"{self.instances}/{_node(instance)}/called"

    @property
    def definitions(self) -> str:
        return f"{self.base}/definitions"

    def definition(self, instance: str) -> str:
        return f"{self.definitions}/{_node(instance)}"

    def topic_agreement(self, topic: str) -> str:
        return f"{self.base}/topics/{_node(topic)}"

    @property
    def leaders(self) -> str:
        return f"{self.base}/leaders"

    def leader(self, instance: str) -> str:
        return f"{self.leaders}/{_node(instance)}"

    @property
    def placement(self) -> str:
        return f"{self.base}/placement"

    def failover_orders(self, instance: str, source: str = "") -> str:
        return f"{self._failover(instance, source)}/orders"

    def failover_view(self, instance: str, source: str = "") -> str:
        return f"{self._failover(instance, source)}/view"

    def failover_history(self, instance: str, source: str = "") -> str:
        return f"{self._failover(instance, source)}/history"

    def _failover(self, instance: str, source: str) -> str:
        whole = f"{self.instances}/{_node(instance)}/failover"
        return f"{whole}/sources/{_node(source)}" if source else whole

    @property
    def relays(self) -> str:
        return f"{self.base}/relays"

    def relay(self, name: str) -> str:
        return f"{self.relays}/{_node(name)}"


def _numbered(number: int) -> str:
    """Ten digits, so that names sort as numbers do."""
    return f"{number:010d}"


def _node(name: str) -> str:
    """Return a node's name; ZooKeeper takes neither `.` nor `..`."""
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")
