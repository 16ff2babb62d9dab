"""Where a real table goes."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class FieldTagView(BaseModel):
    """A tag that a change carries when it touches the field."""

    field: str
    tag: str


class MatchingRuleView(BaseModel):
    """An entry of a document that applies, with the line where it stands."""

    data_id: str = Field(serialization_alias="dataId")
    pointer: str
    line: int
    rule: str


class RouteView(BaseModel):
    """A real table's fate under a mapping set.

    `outcome` "stop" means that the instance would stand still at its first row.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "database": "shop_01",
                "table": "user",
                "instance": "shop",
                "mapping_set": 12,
                "outcome": "published",
                "sentence": "shop_01.user is shop.client in topic people, tagged client.",
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
    logical_database: str | None = None
    logical_table: str | None = None
    topics: list[str] = []
    tags: list[str] = []
    field_tags: list[FieldTagView] = []
    rules: list[MatchingRuleView] = []
