"""The sources: everything that must be true before a binlog is read."""

from relay.errors import RelayError
from relay.model.positions.position import SourcePosition
from relay.preflight.finding import Finding, found, not_checked, passed
from relay.settings import InstanceSettings
from relay.source import SourceCheck, check_source, check_start

_START = "source start"


def look_at_source(
    instance: InstanceSettings, saved: SourcePosition | None, unsure: str, *, replica: str
) -> list[Finding]:
    """Ask the instance's source.

    `saved` is its position; `unsure` says why that is not known, empty where it is.

    `replica` names who will read.
    """
    whole = instance.message.row_image == "full"
    limit_s = instance.transaction.max_clock_skew_seconds
    checks = check_source(instance.source, limit_s, replica=replica, whole_images=whole)
    findings = [of_check(check, instance.name) for check in checks]
    if checks[0].error is not None:
        return [*findings, not_checked("source", "the relay cannot log in", instance.name)]
    start = not_checked(_START, unsure, instance.name) if unsure else _start(instance, saved)
    cause = next((each.check for each in findings if each.sentence == start.sentence), None)
    return [
        *findings,
        start if cause is None else not_checked(_START, f"{cause} failed", instance.name),
    ]


def of_check(check: SourceCheck, instance: str) -> Finding:
    """A check of the source room as a finding."""
    if check.error is None:
        return passed(check.name, f"{check.detail[0].upper()}{check.detail[1:]}.", instance)
    return found(check.name, check.error, instance, warning=check.warning)


def _start(instance: InstanceSettings, saved: SourcePosition | None) -> Finding:
    try:
        at = _place(instance, saved)
    except RelayError as exc:
        return found(_START, exc, instance.name)
    how = (
        "goes on after the saved position"
        if saved is not None
        else "has no saved position and starts"
    )
    return passed(_START, f"The instance {how} at {at.binlog}.", instance.name)


def _place(instance: InstanceSettings, saved: SourcePosition | None) -> SourcePosition:
    """Where reading would begin; after a switch that is a place of the standby's."""
    standby = instance.source.at_standby()
    try:
        return check_start(instance.source, saved, instance.start)
    except RelayError as exc:
        if saved is None or standby is None:
            raise
        try:
            return check_start(standby, saved, instance.start)
        except RelayError:
            raise exc from None
