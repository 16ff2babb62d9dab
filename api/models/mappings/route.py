"""Bodies of answers with the route of a real table."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class FieldTagView(BaseModel):
    """A tag that a message gets if the change touches the field."""

    field: str
    tag: str


class MatchingRuleView(BaseModel):
    """An entry of a mapping document that applies to the table, with its line."""

    data_id: str = Field(serialization_alias="dataId")
    pointer: str
    line: int
    rule: str


class PartitionStepView(BaseModel):
    """How an instance assigns rows of a table to partitions."""

    rule: str = Field(description="The matching part of `partition_hash`; empty: none matches.")
    columns: list[str] | None = Field(description="The hashed columns; null: those of the key.")
    partitions_num: int | None = Field(
        description="Number of partitions of topics that the relay creates. Null: it is not set; "
        "the relay then creates one partition. An existing topic keeps its number."
    )
    sentence: str


class RouteView(BaseModel):
    """The route of a real table under a mapping set.

    `outcome` "stop" means that the instance would stop at the first row of the table.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "database": "shop_01",
                "table": "user",
                "instance": "shop",
                "mapping_set": 12,
                "outcome": "published",
                "sentence": (
                    "shop_01.user is published as shop.client to topic people, tagged client."
                ),
                "filter_step": "No filter_regex is set, so every table is included.",
                "partition": {
                    "rule": ".*\\\\..*:$pk$",
                    "columns": None,
                    "partitions_num": 16,
                    "sentence": "The rule .*\\\\..*:$pk$ hashes the values of the primary key.",
                },
                "key": '["shop.client", …]',
                "logical_database": "shop",
                "logical_table": "client",
                "topics": ["people"],
                "tags": ["client"],
                "field_tags": [{"field": "email", "tag": "contact"}],
                "rules": [
                    {
                        "dataId": "com.pajk.Roma.dbs",
                        "pointer": "/0/realDbs",
                        "line": 2,
                        "rule": "shop_01",
                    }
                ],
            }
        }
    )

    database: str
    table: str
    instance: str | None
    mapping_set: int
    outcome: Literal["published", "dropped", "stop"]
    sentence: str
    filtered: bool = Field(
        default=False, description="The instance's filter leaves it out, so no rule applies."
    )
    filter_step: str = Field(
        default="", description="Which expression of the filter includes or excludes the table."
    )
    partition: PartitionStepView | None = Field(
        default=None,
        description="Null without an instance, where instances differ, and for tables left out.",
    )
    key: str | None = Field(
        default=None, description="The form of the message key; null as for `partition`."
    )
    logical_database: str | None = None
    logical_table: str | None = None
    topics: list[str] = []
    tags: list[str] = []
    field_tags: list[FieldTagView] = []
    rules: list[MatchingRuleView] = []
