"""Describes the state of a spool for operators."""

from dataclasses import dataclass
from time import time

from relay.pipeline.spooling.spool_stream import SpooledStream
from relay.pipeline.spooling.spool_writer import SpoolWriter
from relay.spool import Spool


@dataclass(frozen=True, slots=True)
class SpoolView:
    """The present state of the spool.

    state        "filling", "draining" or "full"; "": nothing is in it
    size_bytes   the size of its files
    age_seconds  the age of the oldest waiting event
    problem      the last error; "": none
    """

    state: str = ""
    size_bytes: int = 0
    age_seconds: float = 0.0
    problem: str = ""


def spool_view(
    spool: Spool | None,
    filling: SpoolWriter | None,
    stream: SpooledStream | None,
    problem: str,
) -> SpoolView:
    """Return the state of a spool.

    spool    the files of the spool; None: the instance has no usable spool
    filling  the thread that writes to it; None: no such thread runs
    stream   the stream that reads it; None: no such stream is open
    problem  the last error of its folder; "": no error
    """
    if spool is None:
        return SpoolView(problem=problem)
    if filling is not None and filling.error is not None:
        problem = str(filling.error)
    full = filling is not None and filling.full
    if stream is not None and stream.from_disk:
        state, since_ms = "full" if full else "draining", stream.waiting_since_ms
    elif filling is not None and filling.reading:
        state, since_ms = "full" if full else "filling", spool.oldest_ms
    else:
        state, since_ms = "", None
    age_s = 0.0 if since_ms is None else max(0.0, time() - since_ms / 1000)
    return SpoolView(state, 0 if spool.empty else spool.size_bytes, age_s, problem)
