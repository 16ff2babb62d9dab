"""Sets up the log on standard error: each line has one event name and its fields, as text or as
JSON.
"""

import logging
import sys
from typing import Final, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from relay.settings import LogSettings
from relay.telemetry.log_output import LogHandler
from relay.telemetry.terminal_escapes import visible

_SECRET_WORDS: Final = ("password", "passwd", "secret", "token", "credential")
_OF_SEVERAL_LINES: Final = ("exception", "stack")
_MASK: Final = "**********"
# kazoo repeats a line every second while ZooKeeper does not answer. The relay logs each change of
# the session's state once.
_QUIET_LOGGERS: Final = {"relay.zk.kazoo": logging.ERROR, "uvicorn.access": logging.WARNING}


def set_up_logging(
    settings: LogSettings, stream: TextIO | None = None, *, worker: int | None = None
) -> None:
    """Send all logging, the relay's and that of libraries, to one stream in one form.

    `worker` is the value of the field `worker` in each line; None: lines have no such field.

    A second call replaces the first setup. Lines that no process reads in time are dropped and
    counted.
    """
    shared = _completing(worker)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    target = stream or sys.stderr
    handler = LogHandler(target)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=_rendering(settings, target)
        )
    )
    root = logging.getLogger()
    former, root.handlers[:] = list(root.handlers), [handler]
    for each in former:
        if isinstance(each, LogHandler):
            each.give_up()
    root.setLevel(settings.level)
    for name, level in _QUIET_LOGGERS.items():
        logging.getLogger(name).setLevel(level)


def _completing(worker: int | None) -> list[Processor]:
    """Return the processors that add the common fields to an event and mask secrets."""
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        mask_secrets,
        *([] if worker is None else [_naming(worker)]),
    ]


def _naming(worker: int) -> Processor:
    """Return the processor that adds the field `worker` to an event without it."""

    def name_worker(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event.setdefault("worker", worker)
        return event

    return name_worker


def mask_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Hide the values of fields with secret names, also inside objects."""
    for field, value in event.items():
        event[field] = _masked(field, value)
    return event


def show_hidden(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Write control characters as escapes, except in tracebacks.

    Fields may contain texts of other people, such as comments. A terminal would execute the control
    sequences in them.
    """
    return {
        key: visible(value) if isinstance(value, str) and key not in _OF_SEVERAL_LINES else value
        for key, value in event.items()
    }


def _masked(field: str, value: object) -> object:
    if any(word in field.lower() for word in _SECRET_WORDS):
        return _MASK
    if isinstance(value, dict):
        return {key: _masked(str(key), each) for key, each in value.items()}
    return value


def _rendering(settings: LogSettings, target: TextIO) -> list[Processor]:
    remove = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if settings.format == "json":
        return [
            remove,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(default=str),
        ]
    return [
        remove,
        show_hidden,
        structlog.dev.ConsoleRenderer(
            colors=target.isatty(), exception_formatter=structlog.dev.plain_traceback
        ),
    ]
