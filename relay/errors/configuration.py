"""Errors of the configuration file, of mapping documents, and requests that ZooKeeper refuses."""

from relay.errors.base import RelayError


class ConfigurationError(RelayError):
    """The configuration contradicts itself or the servers that it names."""

    code = "CONFIGURATION"
    remedy = "Correct the configuration file and start again."


class MappingRefused(ConfigurationError):
    """A mapping document is broken or contradicts another.

    `data_id` names the document, `pointer` is the JSON pointer of the part that is refused.
    """

    code = "MAPPING_REFUSED"
    remedy = (
        "Correct the document at the named position and save it again; the active set stays active."
    )

    def __init__(
        self, reason: str, *, data_id: str, pointer: str, remedy: str | None = None
    ) -> None:
        super().__init__(reason, remedy=remedy)
        self.data_id = data_id
        self.pointer = pointer


class SaveTooLarge(MappingRefused):
    """The documents to save exceed the size of one ZooKeeper request."""

    code = "SAVE_TOO_LARGE"
    remedy = (
        "Name shards by regular expressions instead of one by one, or save the documents one after "
        "another."
    )


class PartitionRuleRefused(ConfigurationError):
    """A partitionHash rule cannot be read."""

    code = "PARTITION_RULE_REFUSED"
    remedy = "Correct partition_hash of the instance."


class ConditionRefused(ConfigurationError):
    """The condition of a rule cannot be read."""

    code = "CONDITION_REFUSED"
    remedy = "Correct `where` of the rule at the character named."


class StoreRefused(ConfigurationError):
    """ZooKeeper answered the request and refused it: a quota, or an existing node."""

    code = "ZOOKEEPER_REFUSED"
    remedy = "Check access rights and quota, and other nodes below zookeeper.root."


class StoreNotPermitted(StoreRefused):
    """The access rights (ACL) of a ZooKeeper node do not allow the relay's login."""

    code = "ZOOKEEPER_NOT_PERMITTED"
    remedy = (
        "Log in with zookeeper.auth as a user that zookeeper.acl named when the node was "
        "created; `roma zookeeper show` lists who may use the nodes, `roma zookeeper protect` "
        "sets their rights."
    )
