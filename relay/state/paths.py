"""Every node path of an installation in ZooKeeper. No other module builds one."""

from dataclasses import dataclass
from urllib.parse import quote

from relay.settings import ZooKeeperSettings


@dataclass(frozen=True, slots=True)
class Paths:
    """The tree below `<zookeeper.root>/<installation>`.

    mappings/pointer                     the number of the active set
    mappings/sets/<number>               which version of each document, author, time, comment
    mappings/documents/<dataId>/<number> a document's body with author, time, comment; never
                                         overwritten
    instances/<name>/status              the present state of the instance
    instances/<name>/started             the coordinates where it started for the first time
    instances/<name>/dropped             the tables that its mapping leaves out
    instances/<name>/tables              the real tables that it has read
    instances/<name>/called              changed by an operator's act: its relay reads its position
                                         again
    instances/<name>/flow                whether it is paused, and its limits
    instances/<name>/snapshots/<id>      a request to copy tables into their topics
    instances/<name>/failover/orders     the wanted server, and the accepted losses
    instances/<name>/failover/view       both servers in the relay's view
    instances/<name>/failover/history    past switches
    instances/<name>/failover/sources/<source>/…   the same three nodes for each source of a group
    definitions/<instance>               the settings of an instance that was defined at run time
    topics/<topic>                       which instances publish to it, and how they assign its rows
                                         to partitions
    key-forms/<topic>/<table>            in which text forms keys of a logical table were hashed
    leaders/<instance>                   ephemeral: the relay that leads it
    relays/<name>                        ephemeral: a running relay process
    accounts                             the admin's users and tokens
    sessions/<hash of its secret>        one sign-in of a user
    hidden-tables                        unmapped tables that operators have hidden
    erasure/owner                        ephemeral: the process that erases a person now
    erasure/settings/<topic>             what `segment.ms` was before an erasure changed it
    placement                            operators' hand-overs of instances, servers in maintenance
    """

    base: str

    @classmethod
    def of(cls, zookeeper: ZooKeeperSettings, installation: str) -> "Paths":
        """Return the paths of this installation below the `root` of the ZooKeeper settings."""
        return cls(f"/{zookeeper.root.strip('/')}/{installation}".replace("//", "/"))

    @property
    def mapping_pointer(self) -> str:
        """Return the node with the number of the active mapping set."""
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

    def instance_snapshots(self, instance: str) -> str:
        """Return the parent of the requests to copy tables of the instance."""
        return f"{self.instances}/{_node(instance)}/snapshots"

    def instance_snapshot(self, instance: str, request: str) -> str:
        """Return the node of one request to copy tables."""
        return f"{self.instance_snapshots(instance)}/{_node(request)}"

    def instance_called(self, instance: str) -> str:
        """Return the node that is written after an operator's change, so that the instance's relay
        reads its position again.
        """
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
        return f"{self.topic_agreements}/{_node(topic)}"

    @property
    def topic_agreements(self) -> str:
        """Return the parent of the nodes of topics."""
        return f"{self.base}/topics"

    def key_forms(self, topic: str, table: str, bucket: int | None = None) -> str:
        """Return the node of the text forms in which keys of a logical table are hashed in a topic.

        If keys contain the names of real tables, several real tables share one node below it.
        `bucket` is the number of such a node; None: the node of the logical table itself.
        """
        node = f"{self.base}/key-forms/{_node(topic)}/{_node(table)}"
        return node if bucket is None else f"{node}/{bucket}"

    @property
    def leaders(self) -> str:
        """Return the parent of the leader elections."""
        return f"{self.base}/leaders"

    def leader(self, instance: str) -> str:
        """Return the node below which relays are elected leader of the instance."""
        return f"{self.leaders}/{_node(instance)}"

    @property
    def hidden_tables(self) -> str:
        """Return the node of the unmapped tables that operators have hidden."""
        return f"{self.base}/hidden-tables"

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
        """Return the node of all hand-overs of instances and of all servers in maintenance."""
        return f"{self.base}/placement"

    @property
    def erasure_owner(self) -> str:
        """Return the ephemeral node of the process that erases a person now."""
        return f"{self.base}/erasure/owner"

    @property
    def erasure_settings(self) -> str:
        """Return the parent of the nodes with the former values of settings that an erasure has
        changed.
        """
        return f"{self.base}/erasure/settings"

    def erasure_setting(self, topic: str) -> str:
        """Return the node with the `segment.ms` that a topic had before an erasure changed it."""
        return f"{self.erasure_settings}/{_node(topic)}"

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
    """Return the number with ten digits, so that names sort as numbers do."""
    return f"{number:010d}"


def _node(name: str) -> str:
    """Return a valid node name: ZooKeeper accepts neither `.` nor `..`."""
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")
