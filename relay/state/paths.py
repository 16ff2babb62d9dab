"""Every znode path of an installation; nowhere else is one put together."""

from dataclasses import dataclass
from urllib.parse import quote

from relay.settings import ZooKeeperSettings


@dataclass(frozen=True, slots=True)
class Paths:
    """The tree below `<zookeeper.root>/<installation>`.

    mappings/pointer                     the number of the set in force
    mappings/sets/<number>               which version of each document, author, time, comment
    mappings/documents/<dataId>/<number> a document's body with author, time, comment; never
    overwritten
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
    accounts                             the admin's users and tokens
    sessions/<hash of its secret>        one sign-in of a user
    placement                            what operators want: moves, servers in maintenance
    """

    base: str

    @classmethod
    def of(cls, zookeeper: ZooKeeperSettings, installation: str) -> "Paths":
        """Return the paths of this installation below the `root` of the ZooKeeper settings."""
        return cls(f"/{zookeeper.root.strip('/')}/{installation}".replace("//", "/"))

    @property
    def mapping_pointer(self) -> str:
        """Return the node with the number of the mapping set in force."""
        return f"{self.base}/mappings/pointer"

    @property
    def mapping_sets(self) -> str:
        """Return the parent of all mapping sets."""
        return f"{self.base}/mappings/sets"

    def mapping_set(self, number: int) -> str:
        """Return the node of one mapping set, which lists the version of each document."""
        return f"{self.mapping_sets}/{_numbered(number)}"

    def mapping_documents(self, data_id: str) -> str:
        """Return the parent of all versions of this document."""
        return f"{self.base}/mappings/documents/{_node(data_id)}"

    def mapping_document(self, data_id: str, version: int) -> str:
        """Return the node of one version of a document, which is never overwritten."""
        return f"{self.mapping_documents(data_id)}/{_numbered(version)}"

    @property
    def instances(self) -> str:
        """Return the parent of all nodes about instances."""
        return f"{self.base}/instances"

    def instance_status(self, instance: str) -> str:
        """Return the node of the status that the leader of the instance writes."""
        return f"{self.instances}/{_node(instance)}/status"

    def instance_started(self, instance: str) -> str:
        """Return the node of the start note: the position of the first start."""
        return f"{self.instances}/{_node(instance)}/started"

    def instance_dropped(self, instance: str) -> str:
        """Return the node of the tables that the mapping of the instance leaves out."""
        return f"{self.instances}/{_node(instance)}/dropped"

    def instance_tables(self, instance: str) -> str:
        """Return the node of the real tables that the instance has read so far."""
        return f"{self.instances}/{_node(instance)}/tables"

    def instance_flow(self, instance: str) -> str:
        """Return the node of the operators' pause and limits."""
        return f"{self.instances}/{_node(instance)}/flow"

    def instance_called(self, instance: str) -> str:
        """Return the node that operators touch when the instance must check its orders."""
        return f"{self.instances}/{_node(instance)}/called"

    @property
    def definitions(self) -> str:
        """Return the parent of all instances that were defined at run time."""
        return f"{self.base}/definitions"

    def definition(self, instance: str) -> str:
        """Return the node with the settings of an instance that was defined at run time."""
        return f"{self.definitions}/{_node(instance)}"

    def topic_agreement(self, topic: str) -> str:
        """Return the node with the instances of a topic and their partition rules."""
        return f"{self.base}/topics/{_node(topic)}"

    @property
    def leaders(self) -> str:
        """Return the parent of the leader elections."""
        return f"{self.base}/leaders"

    def leader(self, instance: str) -> str:
        """Return the node below which relays are elected leader of the instance."""
        return f"{self.leaders}/{_node(instance)}"

    @property
    def accounts(self) -> str:
        """Return the node of all users and API tokens."""
        return f"{self.base}/accounts"

    @property
    def login_sessions(self) -> str:
        """Return the parent of all sign-ins of users."""
        return f"{self.base}/sessions"

    def login_session(self, session_id: str) -> str:
        """Return the node of one sign-in."""
        return f"{self.login_sessions}/{_node(session_id)}"

    @property
    def placement(self) -> str:
        """Return the node of all moves of instances and of all servers in maintenance."""
        return f"{self.base}/placement"

    def failover_orders(self, instance: str, source: str = "") -> str:
        """Return the node of the operators' orders; `source` names one source of a group."""
        return f"{self._failover(instance, source)}/orders"

    def failover_view(self, instance: str, source: str = "") -> str:
        """Return the node of the leader's view; `source` names one source of a group."""
        return f"{self._failover(instance, source)}/view"

    def failover_history(self, instance: str, source: str = "") -> str:
        """Return the node of past switches; `source` names one source of a group."""
        return f"{self._failover(instance, source)}/history"

    def _failover(self, instance: str, source: str) -> str:
        whole = f"{self.instances}/{_node(instance)}/failover"
        return f"{whole}/sources/{_node(source)}" if source else whole

    @property
    def relays(self) -> str:
        """Return the parent of the ephemeral nodes of all running relays."""
        return f"{self.base}/relays"

    def relay(self, name: str) -> str:
        """Return the ephemeral node of one relay process."""
        return f"{self.relays}/{_node(name)}"


def _numbered(number: int) -> str:
    """Ten digits, so that names sort as numbers do."""
    return f"{number:010d}"


def _node(name: str) -> str:
    """Return a node's name; ZooKeeper takes neither `.` nor `..`."""
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")
