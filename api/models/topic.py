"""Bodies of answers about topics and the consumer groups that read them."""

from pydantic import BaseModel, ConfigDict, Field

from api.services.topics import TopicReport


class GroupProgressView(BaseModel):
    """How far one consumer group has read the topic."""

    group: str
    state: str = Field(description="As Kafka names it: STABLE, EMPTY, …", examples=["STABLE"])
    behind: int = Field(
        description=(
            "Offsets between what the group committed and the end, markers of Kafka transactions "
            "included: a group that has read everything may be behind by one for each partition."
        )
    )
    partitions: int = Field(description="Partitions that the group has committed offsets for.")


class PartitionView(BaseModel):
    """The readable offsets of one partition: from `first` up to and excluding `end`."""

    partition: int
    first: int
    end: int


class TopicView(BaseModel):
    """A topic that the active mapping feeds."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "topic": "shop",
                "exists": True,
                "partitions": [{"partition": 0, "first": 0, "end": 1200}],
                "offsets": 1200,
                "logical_tables": ["shop.client", "shop.orders"],
                "instances": ["shop-a"],
                "groups": [{"group": "billing", "state": "STABLE", "behind": 17, "partitions": 1}],
            }
        }
    )

    topic: str
    exists: bool = Field(
        description="Whether Kafka has the topic. A relay creates it before it writes to it."
    )
    partitions: list[PartitionView]
    offsets: int = Field(description="Offsets that can be read, transaction markers included.")
    logical_tables: list[str]
    instances: list[str] = Field(description="Instances that have read tables of the topic.")
    groups: list[GroupProgressView]

    @classmethod
    def of(cls, report: TopicReport) -> "TopicView":
        """Return the view of a topic, with its partitions, logical tables and consumer groups."""
        there = report.partitions
        ranges = {} if there is None else there.ranges
        return cls(
            topic=report.name,
            exists=there is not None,
            partitions=[
                PartitionView(partition=number, first=each.first, end=each.end)
                for number, each in sorted(ranges.items())
            ],
            offsets=0 if there is None else there.offsets,
            logical_tables=[
                f"{each.logical_database}.{each.logical_table}" for each in report.group.tables
            ],
            instances=report.group.instances,
            groups=[
                GroupProgressView(
                    group=each.group,
                    state=each.state,
                    behind=each.behind,
                    partitions=each.partitions,
                )
                for each in report.readers
            ],
        )
