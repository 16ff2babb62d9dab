"""Opens the stream of a source with the instance's settings, for publishing or for the spool."""

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
    """Open the stream of a source.

    installation  name of the installation
    instance      the settings of the instance
    source        the server to read: the configured one or its standby
    resume        the position after which the stream begins; None: the instance's start setting
    excluded      rolled-back rows that the stream leaves out

    Raises the errors of `open_source`.
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
