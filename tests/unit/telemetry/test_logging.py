"""The log's two forms, and what never stands in it."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from pydantic import SecretStr

from relay.settings import LogSettings
from relay.telemetry import set_up_logging


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def logged(settings: LogSettings) -> tuple[io.StringIO, structlog.stdlib.BoundLogger]:
    stream = io.StringIO()
    set_up_logging(settings, stream)
    return stream, structlog.stdlib.get_logger("relay.test")


def test_json_is_one_object_a_line() -> None:
    stream, log = logged(LogSettings(format="json"))
    log.info("instance_started", instance="shop", position=4)
    record = json.loads(stream.getvalue())
    assert {
        "event": "instance_started",
        "instance": "shop",
        "position": 4,
        "level": "info",
        "logger": "relay.test",
    }.items() <= record.items()
    assert record["timestamp"].endswith("Z")


def test_the_log_of_libraries_has_the_same_form() -> None:
    stream, _ = logged(LogSettings(format="json"))
    logging.getLogger("some.library").warning("about %s", "this")
    assert json.loads(stream.getvalue())["event"] == "about this"


def test_the_console_form_is_for_reading() -> None:
    stream, log = logged(LogSettings())
    log.warning("instance_stopped", code="BINLOG_PURGED")
    assert "instance_stopped" in stream.getvalue()
    assert "code=BINLOG_PURGED" in stream.getvalue()
    assert "\x1b" not in stream.getvalue(), "no colours where there is no terminal"


def test_the_level_holds() -> None:
    stream, log = logged(LogSettings(level="WARNING"))
    log.info("unimportant")
    logging.getLogger("some.library").info("unimportant")
    assert stream.getvalue() == ""


@pytest.mark.parametrize("form", ["json", "console"])
def test_secrets_are_masked_by_type_and_by_name(form: str) -> None:
    stream, log = logged(LogSettings.model_validate({"format": form}))
    log.info(
        "login",
        password="s3cr3t",
        api_token="s3cr3t",
        settings={"sasl.password": "s3cr3t"},
        secret=SecretStr("s3cr3t"),
        user="u",
    )
    assert "s3cr3t" not in stream.getvalue()
    assert "user" in stream.getvalue()


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_traceback_is_written(form: str) -> None:
    stream, log = logged(LogSettings.model_validate({"format": form}))
    try:
        raise ValueError("the cause")
    except ValueError:
        log.exception("instance_failed")
    assert "ValueError: the cause" in stream.getvalue()


def test_each_line_names_its_worker() -> None:
    stream = io.StringIO()
    set_up_logging(LogSettings(format="json"), stream, worker=3)
    structlog.stdlib.get_logger("relay.test").info("instance_started")
    structlog.stdlib.get_logger("relay.test").info("worker_ended", worker=5)
    logging.getLogger("some.library").warning("about this")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [each["worker"] for each in lines] == [3, 5, 3]
    stream, log = logged(LogSettings(format="json"))
    log.info("instance_started")
    assert "worker" not in json.loads(stream.getvalue())
