"""Combines the answers of the workers into those of the parent's HTTP server."""

import asyncio
import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final, NamedTuple

import structlog

from relay.app.workers.connection import NoAnswer
from relay.app.workers.link import HEALTH, METRICS, READINESS, STATUSES
from relay.app.workers.table import Worker
from relay.app.workers.union import union
from relay.telemetry import Reply, merged
from relay.telemetry.metrics import CONTENT_TYPE, WORKER_UP
from relay.telemetry.status_server import JSON, NO_SUCH_PATH, TEXT
from relay.telemetry.worker_metrics import render_parent

PARENT: Final = 0
"""The number of the parent in logs and metrics, which otherwise have the number of a worker."""
MISSING_HEADER: Final = "Roma-Missing-Workers"
"""Header of /status and /metrics that names the workers without an answer."""
_ANSWER_SECONDS: Final = 2.0

_log = structlog.stdlib.get_logger(__name__)


class Answered(NamedTuple):
    """A worker, and its answer or the reason why it did not answer."""

    worker: Worker
    answer: bytes | NoAnswer


class JointAnswers:
    """Requests answers from all workers in parallel. A worker that does not answer delays the
    result by two seconds.
    """

    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers

    async def answer(self, path: str) -> Reply:
        """Return the combined answer to an HTTP request GET of this path."""
        match path:
            case "/healthz":
                return await self._whether(HEALTH)
            case "/readyz":
                return await self._whether(READINESS)
            case "/metrics":
                return await self._metrics()
            case "/status":
                return await self._status()
            case _:
                return Reply(HTTPStatus.NOT_FOUND, TEXT, NO_SUCH_PATH)

    async def _whether(self, what: str) -> Reply:
        """Return "ok", or a line for each worker that reports a problem or does not answer."""
        reasons = [
            f"Worker {worker.number} {answer}."
            if isinstance(answer, NoAnswer)
            else f"Worker {worker.number}: {answer.decode()}"
            for worker, answer in await self._ask(what)
            if answer
        ]
        status = HTTPStatus.SERVICE_UNAVAILABLE if reasons else HTTPStatus.OK
        return Reply(status, TEXT, "".join(f"{each}\n" for each in reasons or ["ok"]).encode())

    async def _status(self) -> Reply:
        found = await self._ask(STATUSES)
        statuses = union(json.loads(each) for _, each in found if isinstance(each, bytes))
        return Reply(HTTPStatus.OK, JSON, json.dumps(statuses).encode(), _missing(found))

    async def _metrics(self) -> Reply:
        found = await self._ask(METRICS)
        for worker, answer in found:
            WORKER_UP.labels(str(worker.number)).set(isinstance(answer, bytes))
        own, of_process = render_parent()
        text = merged(
            [
                ("", own),
                (str(PARENT), of_process),
                *(
                    (str(worker.number), answer)
                    for worker, answer in found
                    if isinstance(answer, bytes)
                ),
            ]
        )
        return Reply(HTTPStatus.OK, CONTENT_TYPE, text, _missing(found))

    async def _ask(self, what: str) -> list[Answered]:
        return await asyncio.gather(*(_ask_one(worker, what) for worker in self._workers))


async def _ask_one(worker: Worker, what: str) -> Answered:
    """Ask a worker; log once when it stops answering, and when it answers again."""
    try:
        answer: bytes | NoAnswer = await worker.ask(what, _ANSWER_SECONDS)
    except NoAnswer as exc:
        answer = exc
    is_silent = isinstance(answer, NoAnswer)
    if is_silent and not worker.is_silent:
        _log.warning(
            "worker_stopped_answering", worker=worker.number, pid=worker.pid, reason=str(answer)
        )
    elif worker.is_silent and not is_silent:
        _log.info("worker_answered_again", worker=worker.number, pid=worker.pid)
    worker.is_silent = is_silent
    return Answered(worker, answer)


def _missing(found: Sequence[Answered]) -> dict[str, str]:
    missing = [str(each.worker.number) for each in found if isinstance(each.answer, NoAnswer)]
    return {MISSING_HEADER: ", ".join(missing)} if missing else {}
