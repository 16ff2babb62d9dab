"""Bodies of answers with the mapping as logical databases and tables."""

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from api.models.mappings.route import FieldTagView
from api.models.problem import MappingProblemView

Grouping: TypeAlias = Literal["db", "topic", "instance"]


class ShardView(BaseModel):
    """One name in a `realDbs` list: the databases that match it, and the instances that read
    them.
    """

    rule: str
    logical_database: str
    databases: list[str]
    instances: list[str]


class LogicalTableView(BaseModel):
    """A logical table with the rules that name it. Without such a rule it has the name of its real
    tables.
    """

    logical_database: str
    logical_table: str
    rules: list[str]
    real_tables: int = Field(description="Real tables that relays have read and publish.")
    rows_per_second: float | None = Field(
        description="Rows of the last minute that the instances publish, as far as they report "
        "rates of single tables; null: none of them does."
    )
    rows_per_second_is_bound: bool = Field(
        default=False,
        description="Whether the true rate may be higher, because an instance reports no rates of "
        "single tables, or not of all tables.",
    )
    topics: list[str]
    tags: list[str]
    field_tags: list[FieldTagView]
    instances: list[str] = Field(description="Instances that have read real tables of it.")


class LogicalGroupView(BaseModel):
    """The tables of one logical database, topic or instance."""

    name: str
    shards: list[ShardView]
    topics: list[str]
    instances: list[str]
    accepted: int = Field(description="How many tables of the group the filter accepts.")
    tables: list[LogicalTableView] = Field(description="Those of the requested page.")


class LogicalView(BaseModel):
    """The active mapping set, grouped. A set that contradicts itself has `problems` and no
    groups.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "set": 12,
                "by": "db",
                "groups": [
                    {
                        "name": "shop",
                        "shards": [
                            {
                                "rule": "shop_01",
                                "logical_database": "shop",
                                "databases": ["shop_01"],
                                "instances": ["shop-a"],
                            }
                        ],
                        "topics": ["shop"],
                        "instances": ["shop-a"],
                        "accepted": 1,
                        "tables": [
                            {
                                "logical_database": "shop",
                                "logical_table": "client",
                                "rules": ["user", "customer"],
                                "real_tables": 2,
                                "rows_per_second": 12.4,
                                "topics": ["shop"],
                                "tags": ["client"],
                                "field_tags": [{"field": "email", "tag": "contact"}],
                                "instances": ["shop-a"],
                            }
                        ],
                    }
                ],
                "problems": [],
            }
        }
    )

    set: int
    by: Grouping
    groups: list[LogicalGroupView] = []
    problems: list[MappingProblemView] = []
