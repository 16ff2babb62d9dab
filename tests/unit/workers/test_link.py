"""Questions of a parent and answers of its workers, over real sockets."""

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator

import pytest

from relay.app.workers.answers import MISSING_HEADER, JointAnswers
from relay.app.workers.connection import NoAnswer, WorkerConnection
from relay.app.workers.link import HEALTH, METRICS, READINESS, STATUSES, ParentLink
from relay.app.workers.table import Worker
from relay.telemetry import Answers
from tests.support.waiting import wait_until


class End:
    """A worker's end of the socket, and the parent's."""

    def __init__(self) -> None:
        self.parents, self.workers = socket.socketpair()
        self.parent_ended = threading.Event()
        self.link = ParentLink(self.workers, "http://h:1", self.parent_ended.set)

    def close(self) -> None:
        self.parents.close()
        self.workers.close()


@pytest.fixture
def end() -> Iterator[End]:
    made = End()
    yield made
    made.close()


def answers(name: str = "shop", unhealthy: str | None = None, state: str = "RUNNING") -> Answers:
    shown = [{"name": name, "state": state}]
    return Answers(lambda: unhealthy, lambda: None, lambda: shown)


def asked(end: End, *what: str, seconds: float = 5) -> list[bytes | str]:
    """The answers to the questions, or why there is none."""

    async def ask() -> list[bytes | str]:
        connection = await WorkerConnection.over(end.parents)
        found = await asyncio.gather(
            *(connection.ask(each, seconds) for each in what), return_exceptions=True
        )
        await connection.close()
        assert all(isinstance(each, bytes | NoAnswer) for each in found)
        return [each if isinstance(each, bytes) else str(each) for each in found]

    return asyncio.run(ask())


def test_questions_are_answered(end: End) -> None:
    end.link.start()
    assert end.link.open(answers(unhealthy="A thread died.")) == "http://h:1"
    health, readiness, statuses, text = asked(end, HEALTH, READINESS, STATUSES, METRICS)
    assert (health, readiness) == (b"A thread died.", b"")
    assert json.loads(statuses) == [{"name": "shop", "state": "RUNNING"}]
    assert isinstance(text, bytes)
    assert b"# TYPE roma_published_rows_total counter" in text


def test_a_worker_that_waits_for_zookeeper_is_healthy_and_not_ready(end: End) -> None:
    end.link.start()
    assert asked(end, HEALTH, READINESS, STATUSES) == [
        b"",
        b"It cannot reach ZooKeeper yet, and tries again.",
        b"[]",
    ]


def test_an_answer_that_fails_is_told_and_others_follow(end: End) -> None:
    def fail() -> str:
        raise ValueError("unheard of")

    end.link.open(Answers(fail, lambda: None, list))
    end.link.start()
    first, second, third = asked(end, HEALTH, READINESS, "nothing")
    assert "unheard of" in str(first)
    assert second == b""
    assert "unknown request" in str(third)


def test_the_end_of_the_parent_is_noticed(end: End) -> None:
    end.link.start()
    assert not end.parent_ended.is_set()
    end.parents.close()
    wait_until(end.parent_ended.is_set, "the worker to notice it")


def test_the_end_of_the_parent_is_noticed_during_an_answer(end: End) -> None:
    asked_for, ends = threading.Event(), threading.Event()

    def hang() -> None:
        asked_for.set()
        ends.wait()

    end.link.open(Answers(hang, lambda: None, list))
    end.link.start()
    end.parents.sendall(b"1 health\n2 health\n")
    wait_until(asked_for.is_set, "the question to be read")
    end.parents.close()
    wait_until(end.parent_ended.is_set, "the worker to notice it")
    ends.set()


def test_a_worker_that_is_silent_is_left_after_the_time(end: End) -> None:
    (reason,) = asked(end, HEALTH, seconds=0.05)
    assert reason == "does not answer within 0.05 s"


def test_a_late_answer_is_not_taken_for_the_next_one(end: End) -> None:
    async def ask() -> tuple[str, bytes]:
        connection = await WorkerConnection.over(end.parents)
        with pytest.raises(NoAnswer) as late:
            await connection.ask(HEALTH, 0.05)
        end.link.open(answers())
        end.link.start()
        found = str(late.value), await connection.ask(STATUSES, 5)
        await connection.close()
        return found

    reason, statuses = asyncio.run(ask())
    assert "does not answer" in reason
    assert json.loads(statuses) == [{"name": "shop", "state": "RUNNING"}]


def test_a_silent_worker_is_not_asked_without_end(end: End) -> None:
    found = asked(end, *[HEALTH] * 40, seconds=0.2)
    assert found.count("does not answer") == 24


def test_the_end_of_a_worker_ends_open_questions(end: End) -> None:
    async def ask() -> None:
        connection = await WorkerConnection.over(end.parents)
        asyncio.get_running_loop().call_later(0.05, end.workers.close)
        with pytest.raises(NoAnswer, match="closed its connection"):
            await connection.ask(HEALTH, 30)
        with pytest.raises(NoAnswer, match="closed its connection"):
            await connection.ask(HEALTH, 30)
        await connection.close()

    asyncio.run(ask())


def joint(
    ends: list[End], use: Callable[[JointAnswers], Awaitable[None]], *, dead: bool = False
) -> None:
    """Ask several workers as the parent does; `dead`: one more has ended."""

    async def run() -> None:
        workers = [
            Worker(number, 1000 + number, await WorkerConnection.over(each.parents))
            for number, each in enumerate(ends, 1)
        ]
        if dead:
            workers.append(Worker(len(ends) + 1, end="was ended by SIGKILL"))
        await use(JointAnswers(workers))
        for each in workers:
            if each.connection is not None:
                await each.connection.close()

    asyncio.run(run())
    for each in ends:
        each.close()


def test_joint_answers_name_the_worker_that_has_a_reason() -> None:
    ends = [End(), End()]
    for each, unhealthy in zip(ends, (None, "A thread died."), strict=True):
        each.link.open(answers(unhealthy=unhealthy))
        each.link.start()

    async def use(asked: JointAnswers) -> None:
        health = await asked.answer("/healthz")
        assert (health.status, health.body) == (503, b"Worker 2: A thread died.\n")
        ready = await asked.answer("/readyz")
        assert (ready.status, ready.body) == (200, b"ok\n")
        assert (await asked.answer("/none")).status == 404

    joint(ends, use)


def test_a_silent_and_a_dead_worker_are_named_and_block_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("relay.app.workers.answers._ANSWER_SECONDS", 0.3)
    ends = [End(), End()]
    ends[0].link.open(answers())
    ends[0].link.start()

    async def use(asked: JointAnswers) -> None:
        health = await asked.answer("/healthz")
        assert health.status == 503
        silent, dead = health.body.decode().splitlines()
        assert silent == "Worker 2 does not answer within 0.3 s."
        assert dead.startswith("Worker 3 was ended by SIGKILL; it is started again in ")
        status = await asked.answer("/status")
        assert json.loads(status.body) == [{"name": "shop", "state": "RUNNING"}]
        assert status.headers == {MISSING_HEADER: "2, 3"}
        text = (await asked.answer("/metrics")).body.decode()
        shown = [line for line in text.splitlines() if line.startswith("roma_worker_up{")]
        assert shown == [
            'roma_worker_up{worker="1"} 1.0',
            'roma_worker_up{worker="2"} 0.0',
            'roma_worker_up{worker="3"} 0.0',
        ]
        assert 'roma_zookeeper_connected{worker="1"}' in text
        assert 'process_start_time_seconds{worker="0"}' in text

    joint(ends, use, dead=True)
