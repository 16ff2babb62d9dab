"""The source of an instance, opened with its settings: for direct publishing, or for the spool."""

from collections.abc import Iterable

from relay.model.positions.position import SourcePosition
from relay.pipeline.ingest.compiled_events import event_scanner
from relay.settings import InstanceSettings, SourceSettings
from relay.source import ExcludedRange, SourceStream, open_source


def open_for(
    installation: str,
    instance: InstanceSettings,
    source: SourceSettings,
    resume: SourcePosition | None,
    excluded: Iterable[ExcludedRange],
) -> SourceStream:
    """Open the server that `source` names, the instance's own or its standby.

    Raises as `open_source` does.
    """
    return open_source(
        source,
        resume,
        instance.start_at(source),
        excluded=excluded,
        clock_limit_s=instance.transaction.max_clock_skew_seconds,
        scanner=event_scanner(),
        replica=f"{installation}.{instance.name}",
        whole_images=instance.message.row_image == "full",
    )
