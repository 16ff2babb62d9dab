"""Bodies of answers about real tables that no mapping document lists."""

from pydantic import BaseModel, ConfigDict, Field


class LikeColumnsView(BaseModel):
    """A published table with the same or nearly the same columns."""

    table: str = Field(description="`database.table` as its messages name it.")
    common: int = Field(description="Number of columns that both tables have.")
    all: int = Field(description="Number of columns that at least one of them has.")
    sentence: str


class ToolTableView(BaseModel):
    """The schema change tool that gives tables such a name. Only the name was compared."""

    tool: str = Field(examples=["gh-ost"])
    original: str = Field(description="The real table that the tool changes.")
    sentence: str


class UnmappedView(BaseModel):
    """A real table that no document lists, although an instance published or skipped rows of it."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "name": "shop_03.orders_2027",
                "instance": "shop-a",
                "reason": 'no table mapping lists it, and unmapped_table is "drop".',
                "rows": 4118,
                "first_seen_ms": 1795427528204,
                "similar": "orders_2026",
                "like_columns": {
                    "table": "shop.orders",
                    "common": 12,
                    "all": 12,
                    "sentence": "the same columns as shop.orders",
                },
                "tool": None,
            }
        }
    )

    name: str
    instance: str
    reason: str
    rows: int = Field(description="Rows left out since the relay's start.")
    first_seen_ms: int | None = Field(
        description="When a relay left it out first, Unix milliseconds; null: not known."
    )
    similar: str = Field(description="A real table's name that the documents list; may be empty.")
    like_columns: LikeColumnsView | None = Field(
        description="A table that the same instance publishes, with at least 4 of 5 columns in "
        "common; null: none is known."
    )
    tool: ToolTableView | None = Field(
        description="A schema change tool that gives tables such a name; null: none does."
    )


class HiddenTableView(BaseModel):
    """An unmapped table that is hidden from the list."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "name": "crm_01._lead_gho",
                "author": "ann",
                "comment": "a table of gh-ost",
                "hidden_ms": 1795427528204,
            }
        }
    )

    name: str
    author: str
    comment: str
    hidden_ms: int
