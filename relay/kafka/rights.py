"""Access rights of Kafka (ACLs), with the names of kafka-acls.sh."""

from dataclasses import dataclass
from typing import Final

NOT_PERMITTED: Final = frozenset(
    {
        "TOPIC_AUTHORIZATION_FAILED",
        "GROUP_AUTHORIZATION_FAILED",
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        "CLUSTER_AUTHORIZATION_FAILED",
    }
)
"""Names of the errors with which brokers report that the principal lacks a right."""
_OWN: Final = (
    "Give the relay's principal the rights that docs/operations/kafka.md lists, then start again."
)


@dataclass(frozen=True, slots=True)
class Right:
    """One operation ("DescribeConfigs") on a resource.

    The kind of the resource is "topic", "transactional-id" or "cluster". The name of the cluster is
    "".
    """

    operation: str
    kind: str
    name: str = ""

    @property
    def text(self) -> str:
        """Return the right as a part of a sentence."""
        return (
            f"{self.operation} on {self.kind} {self.name}".strip()
            if self.name
            else f"{self.operation} on the {self.kind}"
        )

    @property
    def remedy(self) -> str:
        """Return the instruction by which an operator grants this right to the relay."""
        resource = f"--{self.kind} {self.name}".strip()
        command = (
            f"kafka-acls.sh --add --allow-principal User:NAME --operation {self.operation} "
            f"{resource}"
        )
        return f"Allow the relay's principal {self.text} ({command}), then start again."


def remedy_of(right: Right | None) -> str:
    """Return the remedy for a refusal. `right` is the missing right, None if it is unknown."""
    return _OWN if right is None else right.remedy
