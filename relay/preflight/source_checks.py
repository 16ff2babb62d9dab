"""Checks the sources: everything that must be true before a binlog is read."""

from collections.abc import Iterator

from relay.errors import RelayError, Unreachable
from relay.model.positions.position import SourcePosition
from relay.preflight.finding import Finding, found, not_checked, passed
from relay.settings import InstanceSettings
from relay.source import SourceCheck, check_source, check_start

_START = "source start"


def check_instance_source(
    instance: InstanceSettings, saved: SourcePosition | None, unsure: str, *, replica: str
) -> list[Finding]:
    """Check the instance's source.

    `saved` is its position; `unsure` says why that is unknown, "" if it is known. `replica` names
    the replica that will read.
    """
    whole = instance.message.row_image == "full"
    limit_s = instance.transaction.max_clock_skew_seconds
    checks = check_source(instance.source, limit_s, replica=replica, whole_images=whole)
    findings = [of_check(check, instance.name) for check in checks]
    if isinstance(checks[0].error, Unreachable) and saved is None and not unsure:
        findings = [*findings, *_start_at_standby(instance)]
    if checks[0].error is not None:
        return [*findings, not_checked("source", "the relay cannot log in", instance.name)]
    start = not_checked(_START, unsure, instance.name) if unsure else _start(instance, saved)
    cause = next((each.check for each in findings if each.sentence == start.sentence), None)
    return [
        *findings,
        start if cause is None else not_checked(_START, f"{cause} failed", instance.name),
    ]


def of_check(check: SourceCheck, instance: str) -> Finding:
    """Return a check of relay.source as a finding."""
    if check.error is None:
        return passed(check.name, f"{check.detail[0].upper()}{check.detail[1:]}.", instance)
    return found(check.name, check.error, instance, warning=check.warning)


def _start(instance: InstanceSettings, saved: SourcePosition | None) -> Finding:
    try:
        at = _place(instance, saved)
    except RelayError as exc:
        return found(_START, exc, instance.name)
    how = (
        "continues after the saved position"
        if saved is not None
        else "has no saved position and starts"
    )
    return passed(_START, f"The instance {how} at {at.binlog}.", instance.name)


def _place(instance: InstanceSettings, saved: SourcePosition | None) -> SourcePosition:
    """Return where reading would begin; after a switch that is a position of the standby.

    An instance without a position begins at a source that answers, and nowhere else.
    """
    standby = instance.source.at_standby()
    try:
        return check_start(instance.source, saved, instance.start)
    except RelayError as exc:
        if standby is None or saved is None:
            raise
        try:
            return check_start(standby, saved, instance.start_at(standby))
        except RelayError:
            raise exc from None


def _start_at_standby(instance: InstanceSettings) -> Iterator[Finding]:
    """Yield where an instance without a position would begin while its source is down; nothing
    if its standby has no start settings.
    """
    standby = instance.source.at_standby()
    if standby is None or not instance.source.starts_at_standby:
        return
    try:
        at = check_start(standby, None, instance.start_at(standby))
    except RelayError as exc:
        yield found(_START, exc, instance.name)
        return
    place = f"{standby.host} at {at.binlog}"
    yield passed(_START, f"The instance may start at the standby {place}.", instance.name)
