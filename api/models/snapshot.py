"""Bodies of requests and answers about copies of tables into their topics."""

import json
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from relay.errors import SnapshotRefused
from relay.operations import (
    RepairPlan,
    ShownSnapshot,
    WantedSnapshot,
    repair_of_keys,
    repair_plan,
)
from relay.state import SnapshotRequest

_NEEDS_VALUES: Final = (
    "The error may quote values of rows. Request it as a caller with the right `values`."
)


class SnapshotWish(BaseModel):
    """The tables to copy, and how to copy them."""

    model_config = ConfigDict(extra="forbid")

    tables: list[str] = Field(
        min_length=1, description="Logical names, database.table; * matches any text."
    )
    instances: list[str] = Field(default=[], description="Only these instances; empty: all.")
    where: str = Field(default="", description="Only rows for which this SQL condition holds.")
    to_topic: str = Field(default="", description="Empty: the topics of the mapping.")
    rows_per_second: int = Field(default=0, ge=0, description="0: no limit.")
    priority: int = Field(default=0, description="Requests with a greater number run first.")

    def wanted(self) -> WantedSnapshot:
        """Return the parameters of the copy for the service. They do not name instances."""
        return WantedSnapshot(
            tuple(self.tables), self.where, self.to_topic, self.rows_per_second, self.priority
        )


class RepairWish(BaseModel):
    """Rows to publish again with their present contents, named by keys of a table or by a
    report.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"table": "shop.orders", "keys": ["90217744", '["7","EU"]']}},
    )

    table: str = Field(default="", description="Logical name, database.table.")
    keys: list[str] = Field(
        default=[],
        description="Each the text of a key, or a JSON array of its columns, or a message's key.",
    )
    report: dict[str, Any] | str | None = Field(
        default=None, description="What `roma reconcile --json` printed, instead of table and keys."
    )
    instances: list[str] = Field(default=[], description="Only these instances; empty: all.")

    def plan(self) -> RepairPlan:
        """Return the requests that this repair needs. Raises SnapshotRefused for unusable keys or a
        report that cannot be read.
        """
        if self.report is not None:
            if self.table or self.keys:
                raise SnapshotRefused(
                    (
                        "The request contains a report and also tables or keys, and the report "
                        "already names those."
                    ),
                    remedy="Send either the report, or the table and its keys.",
                )
            text = self.report if isinstance(self.report, str) else json.dumps(self.report)
            return repair_plan(text.encode())
        return RepairPlan([repair_of_keys(self.table, self.keys)], [])


class RepairView(BaseModel):
    """The effect of a repair, or the requests that it created.

    made        requests that were created
    under_way   earlier requests that repair the same keys already
    sentences   the effect, and the rows that no request can repair
    """

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "made": [],
                "under_way": [],
                "sentences": ["shop.orders: shop publishes the present rows of 2 keys again."],
            }
        }
    )

    made: list["SnapshotView"] = []
    under_way: list["SnapshotView"] = []
    sentences: list[str]


class SnapshotView(BaseModel):
    """A request of one instance, with its progress while it runs."""

    id: str
    instance: str
    tables: list[str]
    where: str = Field(description="The SQL condition. Empty without the right `values`.")
    has_condition: bool
    keys: int = Field(description="Number of keys whose rows are copied; 0: all rows.")
    to_topic: str
    rows_per_second: int
    priority: int
    state: str = Field(description="RUNNING, PAUSED, DONE, CANCELLED, REFUSED or LOST.")
    reason: str
    rows: int
    by: str
    comment: str
    created_ms: int
    progress: dict[str, Any] = Field(
        description="While the request runs: table, rows, remaining, rows_per_second, tables_left, "
        "waits. Otherwise empty."
    )

    @classmethod
    def of(cls, request: SnapshotRequest, *, values: bool) -> "SnapshotView":
        """Return the view of a request without progress.

        `values` tells whether the caller may see values of rows; see `shown`.
        """
        return cls.shown(ShownSnapshot(request, {}), values=values)

    @classmethod
    def shown(cls, shown: ShownSnapshot, *, values: bool) -> "SnapshotView":
        """Return the view of a request with its progress.

        values  whether the caller may see values of rows. Otherwise the condition is empty, and the
                source's errors about the condition or keys are replaced, because they quote values
        """
        request, progress = shown.request, shown.progress
        hidden = not values and bool(request.where or request.keys)
        if hidden and progress.get("waits"):
            progress = {**progress, "waits": _NEEDS_VALUES}
        return cls(
            id=request.id,
            instance=request.instance,
            tables=list(request.tables),
            where="" if hidden else request.where,
            has_condition=bool(request.where),
            keys=len(request.keys),
            to_topic=request.to_topic,
            rows_per_second=request.rows_per_second,
            priority=request.priority,
            state="LOST" if shown.lost else request.state.value,
            reason=_NEEDS_VALUES if hidden and request.reason else request.reason,
            rows=request.rows,
            by=request.by,
            comment=request.comment,
            created_ms=request.created_ms,
            progress=progress,
        )
