"""Shows the access rights of an installation's nodes in ZooKeeper, and changes them for existing
nodes.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress

from relay.audit import AuditEntry, AuditTrail
from relay.errors import NodeMissing, PlacementRefused
from relay.operations.who import Who
from relay.settings import RelaySettings
from relay.state import Membership, Paths
from relay.zk import EVERYBODY, Session


class ProtectedTree:
    """The access rights of one installation's nodes.

    `zookeeper.root` and the nodes above it are not changed, because other installations may use
    them.
    """

    def __init__(self, settings: RelaySettings, session: Session) -> None:
        self._settings = settings
        self._session = session
        self._paths = Paths.of(settings.zookeeper, settings.installation)

    def rights(self) -> Mapping[str, tuple[str, ...]]:
        """Return for each node path the identities that may use the node."""
        return dict(self._below(self._paths.base))

    def wanted(self) -> tuple[str, ...]:
        """Return the identities that may use a new node of this login, as ZooKeeper interprets
        `zookeeper.acl`.
        """
        probe = self._session.create_ephemeral_sequential(f"{self._paths.base}/rights-", b"")
        try:
            return self._session.rights(probe)
        finally:
            self._session.delete(probe)

    def to_change(self) -> list[str]:
        """Return the paths of the nodes whose access rights differ from those that `wanted`
        returns.
        """
        wanted = self.wanted()
        return [path for path, rights in self.rights().items() if rights != wanted]

    def careless_relays(self) -> list[str]:
        """Return the running relays whose nodes everybody may use: they do not log in, or have `acl
        = "open"`.
        """
        names = [member.name for member in Membership(self._session, self._paths).members()]
        return [name for name in names if EVERYBODY in self._rights(self._paths.relay(name))]

    def protect(self, who: Who) -> int:
        """Give every existing node the access rights that new nodes get, and return how many nodes
        were changed.

        An interrupted call may be repeated. The audit entry is written first. Raises
        StoreNotPermitted, and PlacementRefused if a running relay would lose its access.
        """
        careless = self.careless_relays() if self._settings.zookeeper.identities else []
        if careless:
            raise PlacementRefused(
                f"These relays create nodes that every login may use: {', '.join(careless)}. "
                "If they log in with another identity than zookeeper.acl names, they would "
                "lose their access.",
                remedy=(
                    "Set zookeeper.auth and zookeeper.acl for every relay, restart the relays, "
                    "and repeat the command."
                ),
            )
        wanted, changed = self.wanted(), self.to_change()
        entry = AuditEntry(
            who.name,
            "zookeeper.protect",
            "",
            {"nodes": len(changed)},
            {"admitted": list(wanted)},
            who.comment,
        )
        AuditTrail(self._settings.kafka, self._settings.installation).append(entry)
        for path in changed:
            with suppress(NodeMissing):
                self._session.protect(path)
        return len(changed)

    def _below(self, path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        try:
            yield path, self._session.rights(path)
            names = self._session.children(path)
        except NodeMissing:
            return
        for name in names:
            yield from self._below(f"{path}/{name}")

    def _rights(self, path: str) -> tuple[str, ...]:
        try:
            return self._session.rights(path)
        except NodeMissing:
            return ()
