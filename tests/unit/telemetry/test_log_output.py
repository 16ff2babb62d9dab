"""The log to a pipe or socket that nobody reads: it drops lines, counts them and does not block."""

import json
import logging
import os
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from io import TextIOWrapper
from typing import TypeAlias

import pytest
import structlog

from relay.settings import LogSettings
from relay.telemetry import log_output, set_up_logging
from relay.telemetry.log_output import LogHandler
from relay.telemetry.metrics import REGISTRY

Make: TypeAlias = "Callable[[ExitStack], tuple[int, TextIOWrapper]]"

_JSON = LogSettings(format="json")
_LONG = "x" * 3000


@pytest.fixture(autouse=True)
def _root_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(log_output, "_WAIT_SECONDS", 0.01)
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    for each in root.handlers:
        if isinstance(each, LogHandler):
            each.give_up()
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def _pipe(stack: ExitStack) -> tuple[int, TextIOWrapper]:
    reads, writes = os.pipe()
    stack.callback(os.close, reads)
    return reads, stack.enter_context(os.fdopen(writes, "w"))


def _socket(stack: ExitStack) -> tuple[int, TextIOWrapper]:
    ours, theirs = socket.socketpair()
    stack.enter_context(closing(ours))
    return ours.fileno(), stack.enter_context(os.fdopen(theirs.detach(), "w"))


def _terminal(stack: ExitStack) -> tuple[int, TextIOWrapper]:
    ours, theirs = os.openpty()
    stack.callback(os.close, ours)
    return ours, stack.enter_context(os.fdopen(theirs, "w"))


def _lost() -> float:
    return REGISTRY.get_sample_value("roma_log_lines_lost_total") or 0.0


def _read(file: int) -> bytes:
    """Return all bytes that wait there."""
    found = b""
    while select.select([file], [], [], 0)[0]:
        found += os.read(file, 1 << 20)
    return found


@pytest.mark.parametrize("make", [_pipe, _socket, _terminal])
def test_a_full_output_drops_lines_and_says_how_many(make: Make) -> None:
    log = logging.getLogger("full")
    before = _lost()

    def fill() -> None:
        while _lost() < before + 3:
            log.warning(_LONG)

    with ExitStack() as stack:
        reads, stream = make(stack)
        set_up_logging(_JSON, stream)
        filling = threading.Thread(target=fill, daemon=True)
        filling.start()
        filling.join(60)
        assert not filling.is_alive(), "the log blocks the thread that writes it"

        whole = _read(reads)
        log.warning("read again")
        lines = (whole + _read(reads)).decode().splitlines()
        events = [json.loads(each) for each in lines]
        assert events[-2]["event"] == "read again"
        assert (events[-1]["event"], events[-1]["lines"]) == ("log_lines_lost", 3)
        assert all(each["event"] == _LONG for each in events[:-2])


def test_an_output_without_a_reader_loses_lines_and_raises_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = _lost()
    reads, writes = os.pipe()
    with os.fdopen(writes, "w") as stream:
        set_up_logging(_JSON, stream)
        os.close(reads)
        logging.getLogger("gone").warning("nobody reads")
    assert _lost() == before + 1
    assert capsys.readouterr().err == ""


def test_the_flags_of_the_shared_file_stay() -> None:
    with ExitStack() as stack:
        _, stream = _pipe(stack)
        set_up_logging(_JSON, stream)
        assert os.get_blocking(stream.fileno())


@pytest.mark.parametrize("make", [_pipe, _socket, _terminal])
def test_a_closed_log_writes_to_no_file_that_has_its_number(make: Make) -> None:
    with ExitStack() as stack:
        reads, stream = make(stack)
        set_up_logging(_JSON, stream)
        (handler,) = logging.getLogger().handlers
        assert isinstance(handler, LogHandler)
        handler.close()
        logging.getLogger("late").warning("after a shutdown of logging")
        assert b"after a shutdown" in _read(reads)
        handler.give_up()
        handler.give_up()
        others = [os.memfd_create("other") for _ in range(8)]
        logging.getLogger("late").warning("after the end")
        assert [os.fstat(each).st_size for each in others] == [0] * 8
        assert _read(reads) == b""
        for each in others:
            os.close(each)
