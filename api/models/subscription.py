"""Bodies of answers with what a consumer needs to read logical tables."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from relay.envelope import ENVELOPE_VERSION


class FeedingInstanceView(BaseModel):
    """How one instance publishes the rows of a table."""

    name: str
    names: Literal["logical", "real"] = Field(description="Names in messages.")
    format: str = Field(
        description="Format of values in the first topic of the table.", examples=["canal-json"]
    )
    formats: dict[str, str] = Field(description="Format of values by topic of the table.")
    value_style: Literal["exact", "canal"]
    ddl: Literal["topic", "inline", "barrier", "drop"] = Field(
        description="Where statements go: `<topic>.ddl`, the topic of rows, or nowhere."
    )
    transaction_topic: str | None = Field(
        default=None, description="Topic of BEGIN and END messages; null if there is none."
    )


class TopicSinceView(BaseModel):
    """The mapping set that first routed a table to a topic."""

    set: int = Field(description="Number of the set; 0 if no older set lacks the topic.")
    seconds: float | None = Field(
        description="How long ago, if the table had another topic before; otherwise null."
    )


class SubscribableTableView(BaseModel):
    """The information that a consumer of one logical table needs."""

    logical_database: str
    logical_table: str
    topics: list[str] = Field(description="Each topic has all rows. A consumer reads one of them.")
    since: dict[str, TopicSinceView] = Field(
        description="By topic: since which mapping set the table is in it without a gap."
    )
    tags: list[str] = Field(description="All tags that its messages may have, sorted.")
    instances: list[FeedingInstanceView] = Field(
        description="Instances that have read real tables of it; before that all instances."
    )


class SubscriptionView(BaseModel):
    """Kafka's bootstrap servers, and the topics of the logical tables."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "installation": "prod",
                "set": 12,
                "bootstrap_servers": "kafka1:9092,kafka2:9092",
                "envelope_version": 1,
                "caller": "billing",
                "tables": [
                    {
                        "logical_database": "shop",
                        "logical_table": "orders",
                        "topics": ["shop"],
                        "since": {"shop": {"set": 11, "seconds": 86400.0}},
                        "tags": ["orders", "paid"],
                        "instances": [
                            {
                                "name": "shop-a",
                                "names": "logical",
                                "format": "canal-json",
                                "formats": {"shop": "canal-json"},
                                "value_style": "exact",
                                "ddl": "topic",
                                "transaction_topic": "shop-a.transactions",
                            }
                        ],
                    }
                ],
            }
        }
    )

    installation: str
    set: int = Field(description="Number of the active mapping set.")
    bootstrap_servers: str = Field(description="Kafka's brokers as the relays reach them.")
    envelope_version: int = Field(
        default=ENVELOPE_VERSION,
        description="Version of the message format. A reader of an older one must not read.",
    )
    caller: str = Field(
        description=(
            "Name of the user who sends the request, or whose token it carries; empty for other "
            "callers and for `api.token`. Clients begin the default name of their consumer group "
            "with it."
        )
    )
    tables: list[SubscribableTableView]
