"""Limits of copies of tables into their topics, and the settings that make a copy impossible."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from relay.settings.base import Settings

if TYPE_CHECKING:
    from relay.settings.instance import InstanceSettings


class CopyingSettings(Settings):
    """Limits of load and lag above which a copy of tables pauses."""

    threads_running: Annotated[int, Field(ge=0)] = 25
    """No chunk is read while `Threads_running` of the source exceeds this number. 0: no limit."""
    lag_seconds: Annotated[float, Field(ge=0)] = 10.0
    """No chunk is read while the lag of published rows exceeds this, in seconds. 0: no limit."""


def copies_refusal(instance: "InstanceSettings") -> str:
    """Return a sentence that says why an instance with these settings cannot copy tables; "" if it
    can.
    """
    message = instance.message
    if instance.group is not None:
        return "The instance reads a group of sources; their tables are not copied yet."
    if instance.transaction.delivery == "at_least_once":
        return (
            'With delivery = "at_least_once" a chunk could be published twice, after a newer row.'
        )
    if message.value_style == "canal":
        return 'With value_style = "canal" a SELECT does not give the bytes of live messages.'
    if message.rows_per_message == "event":
        return (
            'With rows_per_message = "event" packed messages of copied rows are not supported yet.'
        )
    if not instance.source.gtid:
        return "With source.gtid = false the relay cannot find which transactions a SELECT shows."
    if "INSERT" not in instance.filter.operations:
        return "filter.operations lacks INSERT, and copied rows are inserts."
    return ""
