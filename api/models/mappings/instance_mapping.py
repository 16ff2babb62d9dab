"""Bodies about the mapping set under which an instance publishes, compared with the one in
ZooKeeper.
"""

from pydantic import BaseModel, Field

from api.models.position import Confirmed
from relay.model.names.mapping_name import MappingName
from relay.operations import MappingComparison, compared


class SetName(BaseModel):
    """The number and digest that identify a mapping set."""

    set: int = Field(description="Its number; 0: none was ever saved.")
    digest: str = Field(
        description="The digest of its documents; empty where an older relay did not note it."
    )

    @classmethod
    def of(cls, name: MappingName) -> "SetName":
        """Return the number and the digest of a mapping set."""
        return cls(set=name.number, digest=name.digest)


class MappingComparisonView(BaseModel):
    """The set under which an instance publishes, the set in ZooKeeper, and their differences."""

    instance: str
    published_under: SetName
    in_zookeeper: SetName
    same: bool = Field(
        description=(
            "Nothing needs to be accepted: the relay follows the set in ZooKeeper by itself."
        )
    )
    known: bool = Field(
        description=(
            "Whether the documents of the former set can be read; otherwise it is compared as an "
            "empty one."
        )
    )
    sentences: list[str]

    @classmethod
    def of(cls, instance: str, comparison: MappingComparison) -> "MappingComparisonView":
        """Return the view of a comparison, with the sentences that `roma mapping` prints."""
        return cls(
            instance=instance,
            published_under=SetName.of(comparison.named),
            in_zookeeper=SetName.of(comparison.found),
            same=comparison.same,
            known=comparison.known,
            sentences=compared(instance, comparison).splitlines(),
        )


class AcceptedMapping(Confirmed, SetName):
    """The mapping set that the instance must use: number and digest, as a comparison showed
    them.
    """
