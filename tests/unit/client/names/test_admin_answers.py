"""Answers of proxies and broken connections while a client runs: it continues to read."""

import json
from http.client import HTTPMessage, IncompleteRead
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock
from urllib.error import HTTPError

import pytest

from roma_client.errors import (
    AdminRefused,
    AdminUnreachable,
    ClientError,
    NotPermitted,
    TableMoved,
    UnknownTable,
)
from roma_client.names.answer import Answer
from roma_client.names.cache import Cache
from roma_client.names.topic_directory import Directory
from roma_client.names.watcher import NameWatcher
from tests.support.waiting import wait_until

PROBLEM = {"code": "NOT_FOUND", "detail": "There is no table shop.orders."}


class CutOff(BytesIO):
    """A body whose connection ends in the middle."""

    def read(self, *_: Any) -> bytes:
        raise IncompleteRead(b"{", 100)


def refused(
    monkeypatch: pytest.MonkeyPatch, folder: Path, status: int, body: BytesIO
) -> ClientError:
    """The error of a client that gets this answer."""
    error = HTTPError("http://admin", status, "", HTTPMessage(), body)
    opened = SimpleNamespace(open=Mock(side_effect=error))
    monkeypatch.setattr("roma_client.names.topic_directory.build_opener", lambda *_: opened)
    directory = Directory("http://admin", None, Cache(folder), typed=True)
    with pytest.raises(ClientError) as told:
        directory.ask_table("shop", "orders")
    return told.value


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (404, json.dumps(PROBLEM).encode(), UnknownTable),
        (404, b"default backend - 404", AdminUnreachable),
        (404, b'{"message": "no Route matched"}', AdminUnreachable),
        (404, b"", AdminUnreachable),
        (403, b"<html>", NotPermitted),
        (429, b"slow down", AdminRefused),
        (503, b"", AdminUnreachable),
    ],
)
def test_only_the_admin_itself_says_that_there_is_no_such_table(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    status: int,
    body: bytes,
    expected: type[ClientError],
) -> None:
    error = refused(monkeypatch, tmp_path, status, BytesIO(body))
    assert type(error) is expected
    assert error.reason


@pytest.mark.parametrize(
    ("status", "expected"), [(502, AdminUnreachable), (404, AdminUnreachable), (400, AdminRefused)]
)
def test_a_refusal_that_is_cut_off_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int, expected: type[ClientError]
) -> None:
    error = refused(monkeypatch, tmp_path, status, CutOff())
    assert type(error) is expected
    assert f"status {status}" in error.reason


@pytest.mark.parametrize(
    "passing", [AdminRefused("status 404"), AdminUnreachable("away"), RuntimeError("unforeseen")]
)
def test_a_client_still_sees_an_edit_after_an_answer_that_it_could_not_use(
    passing: Exception,
) -> None:
    failures = [passing, passing]
    moved = TableMoved("to b")

    def ask() -> Answer:
        if failures:
            raise failures.pop()
        return Answer(7, "kafka:9092", "", ())

    found: list[ClientError] = []

    def has_found(watcher: NameWatcher) -> bool:
        try:
            watcher.check()
        except ClientError as exc:
            found.append(exc)
        return bool(found)

    with NameWatcher(ask, lambda newest: moved if newest.number == 7 else None, 0.01) as watcher:
        wait_until(lambda: has_found(watcher), "the edit")
    assert found == [moved]
