"""Requests the topics of logical tables from the admin. If the admin is unavailable, the last
answer in the cache is used.
"""

import json
import logging
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from roma_client.errors import (
    AdminRefused,
    AdminUnreachable,
    NotPermitted,
    UnknownTable,
    UsageError,
)
from roma_client.log import log_event
from roma_client.names.answer import Answer, read_answer, without_ages
from roma_client.names.cache import Cache

_PATH: Final = "/api/v1/subscriptions"
_LARGEST_ANSWER: Final = 64_000_000
_SERVER_ERRORS: Final = 500
_DIGEST_DIGITS: Final = 32
_NOT_FOUND: Final = "NOT_FOUND: "
"""The admin's own answer 404. One without this code comes from a proxy whose admin is away."""


class Directory:
    """Requests logical tables from the admin of one installation.

    Proxies of the environment are not used, because the admin is in the same network.
    """

    def __init__(
        self,
        admin: str,
        token: str | None,
        cache: Cache,
        *,
        typed: bool,
        answer_seconds: float = 5,
        named_topic: str | None = None,
    ) -> None:
        """`named_topic`: see `read_answer`."""
        if urlsplit(admin).scheme not in {"http", "https"}:
            raise UsageError(f"The admin's address {admin!r} does not begin with http or https.")
        self._admin = admin.rstrip("/")
        self._token = token
        self._cache = cache
        self._read = partial(read_answer, typed=typed, named_topic=named_topic)
        self._seconds = answer_seconds
        self._open = build_opener(ProxyHandler({})).open

    def table(self, database: str, table: str) -> Answer:
        """Return the admin's answer about one logical table; the stored answer if the admin does
        not reply.

        Raises UnknownTable, NotPermitted, AdminUnreachable, AdminRefused, IncompatibleVersion.
        """
        query = urlencode({"database": database, "table": table})
        return self._answer(f"{self._admin}{_PATH}/table?{query}")

    def all_tables(self) -> Answer:
        """Return the admin's answer about all logical tables; the stored answer if the admin does
        not reply.

        Raises NotPermitted, AdminUnreachable, AdminRefused, IncompatibleVersion.
        """
        return self._answer(f"{self._admin}{_PATH}")

    def ask_table(self, database: str, table: str) -> Answer:
        """Return the admin's answer about one logical table; the cache is not used.

        Raises the errors of `table`.
        """
        query = urlencode({"database": database, "table": table})
        return self._read(self._asked(f"{self._admin}{_PATH}/table?{query}"))

    def ask_all_tables(self) -> Answer:
        """Return the admin's answer about all logical tables; the cache is not used.

        Raises the errors of `all_tables`.
        """
        return self._read(self._asked(f"{self._admin}{_PATH}"))

    def _answer(self, question: str) -> Answer:
        try:
            document = self._asked(question)
        except AdminUnreachable as exc:
            kept = self._cache.load(self._cache_key(question))
            if kept is None:
                raise
            log_event(logging.WARNING, "names_from_cache", reason=exc.reason)
            return without_ages(self._read(kept))
        answer = self._read(document)
        self._cache.store(self._cache_key(question), document)
        return answer

    def _cache_key(self, question: str) -> str:
        """Return the name of an answer in the cache: it names its caller, so each token has one."""
        if not self._token:
            return question
        return f"{question}#{sha256(self._token.encode()).hexdigest()[:_DIGEST_DIGITS]}"

    def _asked(self, question: str) -> Mapping[str, Any]:
        headers = {"Accept": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = Request(question, headers=headers)  # noqa: S310  # the scheme was checked
        try:
            with self._open(request, timeout=self._seconds) as response:
                document = json.loads(response.read(_LARGEST_ANSWER))
        except HTTPError as exc:
            raise _refusal(self._admin, exc) from exc
        except (URLError, OSError, HTTPException) as exc:
            raise AdminUnreachable(f"{self._admin} does not answer: {exc}.") from exc
        except ValueError as exc:
            raise AdminRefused(f"{self._admin} answers, but not with JSON.") from exc
        if not isinstance(document, dict):
            raise AdminRefused(f"{self._admin} answers, but not with a JSON object.")
        return document


def _refusal(admin: str, answer: HTTPError) -> Exception:
    """Return the error that an answer of the admin means."""
    try:
        problem = json.loads(answer.read(_LARGEST_ANSWER))
        reason = f"{problem['code']}: {problem['detail']}"
    except (ValueError, KeyError, TypeError, OSError, HTTPException):
        reason = f"status {answer.code}"
    match answer.code:
        case 401 | 403:
            return NotPermitted(f"{admin} refuses: {reason}")
        case 404 if reason.startswith(_NOT_FOUND):
            return UnknownTable(reason.removeprefix(_NOT_FOUND))
        case code if code >= _SERVER_ERRORS or code == 404:
            return AdminUnreachable(f"{admin} answers {reason}")
        case _:
            return AdminRefused(f"{admin} answers {reason}")
