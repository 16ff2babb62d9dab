"""Several sources that one instance reads as one stream."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from relay.settings.base import Settings
from relay.settings.source import OtherServerSettings, SourceSettings, StandbySettings

SourceName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]


class GroupSourceSettings(OtherServerSettings):
    """A further source of a group.

    Settings that are missing have the values of the first source, except the standby.
    """

    name: SourceName
    """Name of the source. Its position is stored under it; never change it."""
    standby: OtherServerSettings | None = None
    """Standby of this source. Not set: none."""


class GroupSettings(Settings):
    """Sources that are merged with the instance's own into one ordered stream of whole transactions
    (docs/groups.md).

    `merge_by` is "execute_time" or "column:<name>". The relay assumes that an idle source has no
    transaction from before its heartbeat minus `merge_slack_seconds`. While a source cannot be
    reached, the instance also waits with the other sources ("hold"), or continues without that
    source ("pass").
    """

    merge_by: Annotated[str, Field(pattern=r"^(execute_time|column:.+)$")] = "execute_time"
    """Order of the merged transactions: `execute_time` or `column:<name>`."""
    merge_slack_seconds: Annotated[float, Field(ge=0)] = 0.5
    """An idle source is assumed to have no transaction from before its heartbeat minus this, in
    seconds.
    """
    when_source_dies: Literal["hold", "pass"] = "hold"
    """While a source cannot be reached, the instance also waits with the other sources (`hold`), or
    continues without the source (`pass`).
    """
    name: SourceName = "first"
    """Name of the instance's own source in the group."""
    sources: Annotated[tuple[GroupSourceSettings, ...], Field(min_length=1)]
    """The further sources."""

    @model_validator(mode="after")
    def _each_source_has_a_name(self) -> "GroupSettings":
        names = [self.name, *(each.name for each in self.sources)]
        if len(set(names)) < len(names):
            raise ValueError(
                f"two sources of a group have the same name: {', '.join(names)}; rename one of them"
            )
        return self

    def members(self, source: SourceSettings) -> dict[str, SourceSettings]:
        """Return the settings of all sources by name. `source` is the instance's own source."""
        further = {
            each.name: source.at(each).model_copy(update={"standby": _standby(each)})
            for each in self.sources
        }
        return {self.name: source, **further}


def _standby(source: GroupSourceSettings) -> StandbySettings | None:
    """Return the standby of a further source as the type that an instance's own source has. That
    type also has start settings, which stay empty here.
    """
    if source.standby is None:
        return None
    given = source.standby.model_fields_set
    return StandbySettings.model_construct(given, **dict(source.standby))
