"""Errors after which the instance waits with backoff and tries again."""

from relay.errors.base import RelayError


class Unreachable(RelayError):
    """A server does not answer or is not ready; the instance waits with backoff and tries again."""

    code = "UNREACHABLE"


class SourceUnreachable(Unreachable):
    """The database server cannot be reached, or closed the connection."""

    code = "SOURCE_UNREACHABLE"
    remedy = (
        "Check host, port and network of the source; the relay continues by itself when the server "
        "answers."
    )


class SourceSilent(SourceUnreachable):
    """The source sent neither an event nor a heartbeat during the read timeout."""

    code = "SOURCE_SILENT"
    remedy = (
        "Check the network to the source; the relay reconnects by itself from the committed "
        "position."
    )


class ServerIdContested(Unreachable):
    """Another replica connected with this server_id, and the source ended the relay's stream."""

    code = "SERVER_ID_CONTESTED"
    remedy = (
        "If another relay runs this instance with another ZooKeeper (zookeeper.hosts, "
        "zookeeper.root), stop it. If another replica or "
        "installation has this server_id, give the instance another one, or none. The relay "
        "tries again by itself, after up to a minute."
    )


class StandbyBehind(Unreachable):
    """The server to switch to does not have all published transactions yet."""

    code = "STANDBY_BEHIND"
    remedy = (
        "No action is needed while the server's replication catches up. If it cannot catch up: "
        "start the former server again, or accept the loss of the missing transactions (POST "
        "/api/v1/instances/{name}/failover/accept-loss)."
    )


class BrokerUnreachable(Unreachable):
    """Kafka's brokers do not answer."""

    code = "BROKER_UNREACHABLE"
    remedy = (
        "Check kafka.bootstrap_servers and the brokers; the relay continues by itself when they "
        "answer."
    )


class ClockAhead(BrokerUnreachable):
    """The brokers refuse messages because their timestamps are too far ahead of the brokers'
    clocks.
    """

    code = "CLOCK_AHEAD"
    remedy = (
        "Set this machine's clock to the brokers' time, and use the same time servers; the relay "
        "then continues by itself. Brokers accept times up to message.timestamp.after.max.ms ahead "
        "of their own (an hour by default since Kafka 4.0)."
    )


class LookupUnreachable(Unreachable):
    """The server does not answer the lookups of transforms, or refuses them."""

    code = "LOOKUP_UNREACHABLE"
    remedy = (
        "Check the lookup's query, and the rights of the source's user; the relay continues by "
        "itself when the server answers the query."
    )


class ClaimStoreUnreachable(Unreachable):
    """The store of claimed values does not answer, or broke the connection."""

    code = "CLAIM_STORE_UNREACHABLE"
    remedy = (
        "Check claims.url and the store that it names; the relay continues by itself when it "
        "accepts values again."
    )


class RegistryUnreachable(Unreachable):
    """The schema registry does not answer, or is not ready."""

    code = "REGISTRY_UNREACHABLE"
    remedy = (
        "Check registry.url and the registry; the relay continues by itself when it answers. "
        "Nothing is lost: rows wait for the id of their schema."
    )


class StoreUnreachable(Unreachable):
    """ZooKeeper does not answer."""

    code = "ZOOKEEPER_UNREACHABLE"
    remedy = (
        "Check zookeeper.hosts and the ensemble; running instances continue, and an instance "
        "that starts waits."
    )


class StoreLoginRefused(StoreUnreachable):
    """ZooKeeper answers, but refuses user or password of zookeeper.auth."""

    code = "ZOOKEEPER_LOGIN_REFUSED"
    remedy = (
        "Correct user and password of zookeeper.auth, or the servers' list of users (JAAS); "
        "the relay logs in again each second, with the present password in secrets.folder. "
        "Running instances continue, and an instance that starts waits."
    )


class StoreTlsRefused(StoreUnreachable):
    """ZooKeeper answers, but no TLS connection with it can be made."""

    code = "ZOOKEEPER_TLS_REFUSED"
    remedy = (
        "Check that zookeeper.hosts names the port for TLS, and zookeeper.tls: ca, mode, and "
        "cert and key if the server requires them. The files are read again for each "
        "connection. Running instances continue, and an instance that starts waits."
    )


class MappingLost(Unreachable):
    """ZooKeeper lacks the mapping set under which rows were published.

    The instance waits, because another set could drop rows or change their topics.
    """

    code = "MAPPING_LOST"
    remedy = (
        "Restore the documents (`roma restore`, or save them again as they were); the relay then "
        "continues by itself. If the mapping in ZooKeeper is correct: run `roma mapping accept "
        "INSTANCE`, which shows the changes and, after you confirm them, activates it."
    )


class MappingMissing(Unreachable):
    """The instance has published nothing yet, and no mapping is saved.

    The instance waits, because without a mapping it would leave out all rows.
    """

    code = "MAPPING_MISSING"
    remedy = (
        "Save the mapping documents (docs/mappings.md): the relay then starts by itself. To "
        "publish without a mapping, set "
        "routing.unmapped_db = 'default_topic'."
    )


class FormatsDiffer(Unreachable):
    """Another instance publishes to the same topic in another format: a reader of one format would
    fail on messages of the other.
    """

    code = "FORMATS_DIFFER"
    remedy = (
        "Give the topic the same format in both instances, or map the tables of one to another "
        "topic; the relay then continues by itself. If the other instance is permanently removed: "
        "`roma instance retire NAME` (docs/formats/index.md)."
    )


class PartitionsDiffer(Unreachable):
    """Another instance publishes to the same topic with other partition settings: one key would be
    in two partitions.
    """

    code = "PARTITIONS_DIFFER"
    remedy = (
        "Give both instances the same partition settings; the relay then continues by itself. If "
        "the other instance is permanently removed, or all of them should change: `roma "
        "position repartition` (docs/operations/partitions.md)."
    )
