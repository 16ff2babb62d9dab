"""Sends the parent's requests to a worker over a socket."""

import asyncio
import socket
from contextlib import suppress
from itertools import count
from typing import Final, Self

from relay.app.workers.link import OK

_MOST_UNANSWERED: Final = 16
"""Largest number of unanswered requests. A worker with more gets no further request until it
answers.
"""


class NoAnswer(Exception):
    """A worker did not answer. The text is the reason, to follow the worker's name in a
    sentence.
    """


class WorkerConnection:
    """Sends requests to one worker. A request may be sent before earlier ones are answered."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = count(1)
        self._open: dict[int, asyncio.Future[bytes]] = {}
        self._unanswered = 0
        self._reading = asyncio.get_running_loop().create_task(self._read())

    @classmethod
    async def over(cls, connection: socket.socket) -> Self:
        """Return the connection that uses this socket."""
        return cls(*await asyncio.open_unix_connection(sock=connection))

    async def ask(self, what: str, seconds: float) -> bytes:
        """Return the worker's answer to the request `what`.

        Raises NoAnswer if no answer arrives in `seconds`.
        """
        if self._reading.done():
            raise NoAnswer("has closed its connection")
        if self._unanswered >= _MOST_UNANSWERED:
            raise NoAnswer("does not answer")
        number, answer = next(self._numbers), asyncio.get_running_loop().create_future()
        self._open[number] = answer
        self._unanswered += 1
        try:
            self._writer.write(f"{number} {what}\n".encode())
            return await asyncio.wait_for(answer, seconds)
        except TimeoutError as exc:
            raise NoAnswer(f"does not answer within {seconds:g} s") from exc
        except OSError as exc:
            raise NoAnswer(f"does not accept requests ({exc})") from exc
        finally:
            self._open.pop(number, None)

    async def close(self) -> None:
        """Close the connection. Open requests raise NoAnswer."""
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading
        self._writer.transport.abort()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _read(self) -> None:
        try:
            while line := await self._reader.readline():
                number, outcome, length = line.split()
                body = await self._reader.readexactly(int(length))
                self._unanswered -= 1
                answer = self._open.get(int(number))
                if answer is None or answer.done():
                    continue
                if outcome == OK:
                    answer.set_result(body)
                else:
                    answer.set_exception(NoAnswer(f"cannot answer ({body.decode()})"))
        except (OSError, EOFError):
            pass  # the worker ended in the middle of an answer
        finally:
            for answer in self._open.values():
                if not answer.done():
                    answer.set_exception(NoAnswer("has closed its connection"))
