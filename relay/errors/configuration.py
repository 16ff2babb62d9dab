"""Errors of the configuration file, of mapping documents, and requests that ZooKeeper refuses."""

from relay.errors.base import RelayError


class ConfigurationError(RelayError):
    """The configuration contradicts itself or the servers that it names."""

    code = "CONFIGURATION"
    remedy = "Correct the configuration file and start again."


class MappingRefused(ConfigurationError):
    """A mapping document is invalid or contradicts another one.

    `data_id` names the document. `pointer` is the JSON pointer (RFC 6901) of the refused part.
    """

    code = "MAPPING_REFUSED"
    remedy = (
        "Correct the document at the named position and save it again. Until then the active set "
        "stays active."
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
        "Nothing was saved. Save fewer documents in one request. If one document alone is too "
        "large, name its shards by regular expressions instead of one by one."
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
    """ZooKeeper answered and refused the request: a quota is exhausted, or a node of another
    program is in the way.
    """

    code = "ZOOKEEPER_REFUSED"
    remedy = (
        "Raise ZooKeeper's quota, or remove the other program's nodes below zookeeper.root, as the "
        "reason says; then try again."
    )


class StoreNotPermitted(StoreRefused):
    """The access rights (ACL) of a ZooKeeper node do not allow the relay's login."""

    code = "ZOOKEEPER_NOT_PERMITTED"
    remedy = (
        "See with `roma zookeeper show` who may use the nodes. Set zookeeper.auth to such a user, "
        "or run `roma zookeeper protect` as such a user to give the rights to others."
    )
