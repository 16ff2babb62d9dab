"""Connects to one Thrift2 gateway, and sends several requests without waiting for each answer."""

import io
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

import thriftpy2
from thriftpy2.protocol import TCyBinaryProtocol
from thriftpy2.thrift import TApplicationException, TMessageType, TPayload
from thriftpy2.transport import TCyBufferedTransport, TCyFramedTransport, TSocket

Transport: TypeAlias = Literal["buffered", "framed"]
idl: Final = thriftpy2.load_fp(
    io.StringIO(files("spark_jobs.hbase").joinpath("hbase.thrift").read_text(encoding="utf-8")),
    "roma_hbase_thrift",
)
_TRANSPORTS: Final = {"buffered": TCyBufferedTransport, "framed": TCyFramedTransport}
# the gateway answers in order; so many answers fit into its socket's buffer while more questions
# come
_UNDER_WAY: Final = 200


class Connection:
    """A connection to one gateway with the protocol TBinaryProtocol.

    The methods raise TException and OSError; the connection cannot be used after that.
    """

    def __init__(self, address: str, transport: Transport, timeout_s: float) -> None:
        host, _, port = address.rpartition(":")
        socket = TSocket(host.strip("[]"), int(port), socket_timeout=int(timeout_s * 1000))
        self._transport = _TRANSPORTS[transport](socket)
        self._protocol = TCyBinaryProtocol(self._transport)
        self._transport.open()

    def ask(self, call: str, questions: Sequence[TPayload]) -> list[Any]:
        """Call a method for each of the requests, and return the answers in their order.

        Requests are sent before earlier answers have arrived. `call` is the method's name.
        """
        waiting = iter(questions)
        answers: list[Any] = []
        while block := list(islice(waiting, _UNDER_WAY)):
            self._send(call, block)
            answers += self._answers(call, len(block))
        return answers

    def close(self) -> None:
        """Close the connection. It never raises an error."""
        self._transport.close()

    def _send(self, call: str, questions: Sequence[TPayload]) -> None:
        for number, question in enumerate(questions):
            self._protocol.write_message_begin(call, TMessageType.CALL, number)
            self._protocol.write_struct(question)
            self._protocol.write_message_end()
        self._transport.flush()

    def _answers(self, call: str, count: int) -> Iterator[Any]:
        for _ in range(count):
            _, kind, _ = self._protocol.read_message_begin()
            if kind == TMessageType.EXCEPTION:
                refusal = TApplicationException()
                self._protocol.read_struct(refusal)
                self._protocol.read_message_end()
                raise refusal
            answer = getattr(idl.THBaseService, f"{call}_result")()
            self._protocol.read_struct(answer)
            self._protocol.read_message_end()
            if getattr(answer, "io", None) is not None:
                raise answer.io
            yield getattr(answer, "success", None)
