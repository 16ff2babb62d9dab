"""Bodies of answers with instances in groups."""

from pydantic import BaseModel, ConfigDict, Field


class InstanceGroupView(BaseModel):
    """Instances with the same state, or on the same server."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "name": "db-relay-1",
                "instances": ["ads-1", "shop"],
                "count": 2,
                "worst": "WAITING",
                "worst_count": 1,
            }
        }
    )

    name: str = Field(description="The state or the server; empty if all are one group.")
    instances: list[str] = Field(description="The names of its instances.")
    count: int = Field(description="Number of its instances.")
    worst: str = Field(description="The most urgent state in it.")
    worst_count: int = Field(description="Number of its instances in that state.")
