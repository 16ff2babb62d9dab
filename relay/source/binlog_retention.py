"""Finds out how long a server keeps its binlog, and compares that with the minimum that the
operators' guide recommends.
"""

from collections.abc import Mapping
from typing import Final

from relay.errors import RelayError, SourceSettingsRefused

NEVER_PURGED: Final = 0
"""The server purges no binlog file by itself."""
GUIDE_SECONDS: Final = 3 * 86_400
"""The shortest retention that the guide recommends. An instance that stops on a Friday evening can
then still continue on Monday.
"""
_DAY_SECONDS: Final = 86_400
_REMEDY: Final = (
    "Set binlog_expire_logs_seconds (expire_logs_days on MySQL before 8.0 and MariaDB before 10.6) "
    "to 3 days or more: an instance that is stopped or paused for longer loses changes."
)


def kept_seconds(variables: Mapping[str, str]) -> int | None:
    """Return for how many seconds a binlog file is kept at least; NEVER_PURGED if the server purges
    no files, None if unknown.

    `variables` are the server's global variables. Source of the rule: the manuals of
    binlog_expire_logs_seconds, expire_logs_days and binlog_expire_logs_auto_purge.
    """
    if variables.get("binlog_expire_logs_auto_purge", "ON").upper() in ("OFF", "0"):
        return NEVER_PURGED
    seconds = _number(variables.get("binlog_expire_logs_seconds"))
    days = _number(variables.get("expire_logs_days"))
    if seconds is None and days is None:
        return None
    return int(seconds) if seconds else int((days or 0) * _DAY_SECONDS)


def retention(variables: Mapping[str, str]) -> tuple[RelayError | None, str]:
    """Return (warning, facts) about the retention of the binlog.

    The warning is an error for a retention that is shorter than the operators' guide recommends;
    None if it is not shorter, or unknown. The facts are a text about the retention. `variables` are
    the server's global variables.
    """
    kept = kept_seconds(variables)
    sync = variables.get("sync_binlog", "unknown")
    facts = (
        f"{kept_in_words(kept)} (the guide: 3 days or more), sync_binlog is {sync} (the guide: 1)"
    )
    if kept is None or kept == NEVER_PURGED or kept >= GUIDE_SECONDS:
        return None, facts
    reason = f"{facts[0].upper()}{facts[1:]}."
    return SourceSettingsRefused(reason, remedy=_REMEDY), facts


def kept_in_words(kept_s: int | None) -> str:
    """Return the retention as a clause without a full stop. `kept_s` is the result of
    `kept_seconds`.
    """
    if kept_s is None:
        return "the server does not report how long it keeps binlog files"
    if kept_s == NEVER_PURGED:
        return "binlog files are kept until they are purged by a command"
    hours = kept_s / 3600
    long = f"{kept_s / _DAY_SECONDS:.3g} days" if hours >= 48 else f"{hours:.3g} hours"
    return f"binlog files are kept for {long}"


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
