"""Metrics and states of instances over time.

Without Prometheus they begin with the start of the admin.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

_GAP = "null: not known, for the admin or the relay did not run, or ZooKeeper was away."

_PROBLEM = (
    "Why the values are what this admin has seen, although `prometheus_url` is set; else empty."
)


class SeriesView(BaseModel):
    """The values of one metric of one instance at equal intervals."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "instance": "shop",
                "metric": "rows",
                "range": "1h",
                "from_ms": 1767225600000,
                "step_seconds": 30.0,
                "values": [None, 12480.0, 12466.5],
                "problem": "",
            }
        }
    )

    instance: str
    metric: Literal["rows", "lag"] = Field(description="Rows per second, or seconds of lag.")
    range: str
    from_ms: int = Field(description="Where the first step begins (Unix milliseconds).")
    step_seconds: float
    values: list[float | None] = Field(
        description=f"Means of rows per second, greatest lag of each step. {_GAP}"
    )
    problem: str = Field(default="", description=_PROBLEM)


class SparkView(BaseModel):
    """The last hour of one instance in 24 values."""

    rows: list[float | None]
    lag: list[float | None]


class SparksView(BaseModel):
    """The values of one metric during the last hour, for every instance by name."""

    from_ms: int
    step_seconds: float
    instances: dict[str, SparkView]
    problem: str = Field(default="", description=_PROBLEM)


class StateView(BaseModel):
    """A period in which an instance was in one state: begin, end and reason."""

    since_ms: int
    until_ms: int | None = Field(description="null: the state has not ended.")
    state: str = Field(description="Empty: nothing was read in this time.")
    code: str
    reason: str
    relay: str
    exact: bool = Field(
        description="Whether the admin saw the change itself; if not, it may have begun earlier."
    )


class StatesView(BaseModel):
    """The states of an instance, the oldest first."""

    instance: str
    from_ms: int
    read_ms: int
    states: list[StateView]
