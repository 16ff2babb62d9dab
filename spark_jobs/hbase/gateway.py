"""Calls of the jobs to HBase's Thrift2 gateways, repeated for `patience_seconds`.

Every call can be repeated: a put with an explicit timestamp has the same result, and a guarded
change with an equal order is applied again.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from threading import Event
from time import monotonic
from typing import Any, Final, TypeVar

from thriftpy2.protocol.cybin import ProtocolError
from thriftpy2.thrift import TApplicationException, TException, TPayload

from spark_jobs.config.hbase import HBaseSettings
from spark_jobs.errors import HBaseRefused, HBaseUnreachable
from spark_jobs.hbase.connection import Connection, idl

Result = TypeVar("Result")
ABSENT: Final = b""  # the value that represents a missing cell; the gateway crashes on null
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0


class Gateway:
    """Calls HBase through a gateway; uses the next gateway if one fails.

    The methods raise HBaseUnreachable and HBaseRefused.
    """

    def __init__(self, settings: HBaseSettings, start: int = 0) -> None:
        """`start` selects the first gateway, so that tasks are distributed over them."""
        self._settings = settings
        self._turn = count(start)
        self._connection: Connection | None = None

    def __enter__(self) -> "Gateway":
        return self

    def __exit__(self, *_: object) -> None:
        self._drop()

    def ask_all(self, call: str, questions: Iterable[dict[str, Any]]) -> list[Any]:
        """Call a method once for each set of arguments, and return the answers in order.

        If one call fails, all are repeated. `call` is the method's name, and `questions` are the
        sets of arguments.
        """
        payloads = [_question(call, arguments) for arguments in questions]
        return self._patiently(lambda connection: connection.ask(call, payloads))

    def ask(self, call: str, **arguments: object) -> Any:
        """Call a method and return its answer. A failed call is repeated, as in `ask_all`."""
        return self.ask_all(call, [arguments])[0]

    def _patiently(self, attempt: Callable[[Connection], Result]) -> Result:
        deadline = monotonic() + self._settings.patience_seconds
        pause = _FIRST_PAUSE_S
        while True:
            try:
                return attempt(self._connected(deadline))
            except ProtocolError as exc:
                raise HBaseRefused(
                    f"The server at {', '.join(self._settings.thrift)} is not a Thrift2 gateway "
                    f"({exc})."
                ) from exc
            except (TException, OSError) as exc:
                self._drop()
                self._refuse_if_final(exc)
                if monotonic() + pause > deadline:
                    places = ", ".join(self._settings.thrift)
                    raise HBaseUnreachable(
                        f"HBase does not answer through the gateway at {places}: {_says(exc)}."
                    ) from exc
            Event().wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _connected(self, deadline: float) -> Connection:
        if self._connection is None:
            address = self._settings.thrift[next(self._turn) % len(self._settings.thrift)]
            left_s = max(deadline - monotonic(), 1.0)
            self._connection = Connection(address, self._settings.transport, left_s)
        return self._connection

    def _refuse_if_final(self, exc: Exception) -> None:
        final = isinstance(exc, TApplicationException) or (
            isinstance(exc, idl.TIOError) and exc.canRetry is False
        )
        if final:
            raise HBaseRefused(f"HBase reports an error: {_says(exc)}.") from exc

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _question(call: str, arguments: dict[str, Any]) -> TPayload:
    question: TPayload = getattr(idl.THBaseService, f"{call}_args")(**arguments)
    return question


def _says(exc: Exception) -> str:
    """Return the first line of the server's message; HBase adds Java's whole trace."""
    message = getattr(exc, "message", None) or str(exc)
    return str(message).strip().splitlines()[0].rstrip(".") if message else type(exc).__name__


def rows_of(results: Sequence[Any]) -> list[tuple[bytes, list[tuple[bytes, bytes, bytes, int]]]]:
    """Return (row key, cells) for each result that has a row.

    A cell is (family, column, value, timestamp).
    """
    return [
        (
            result.row,
            [
                (cell.family, cell.qualifier, cell.value, cell.timestamp)
                for cell in result.columnValues
            ],
        )
        for result in results
        if result.row
    ]
