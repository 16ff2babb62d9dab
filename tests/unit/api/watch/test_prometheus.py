"""Figures of Prometheus: placed into steps, and problems named without credentials."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import pytest
from pydantic import SecretStr

from api.services.watch import prometheus as module
from api.services.watch.charts import AWAY_SECONDS, MOST_AT_ONCE, Charts
from api.services.watch.history import Series
from api.services.watch.prometheus import PrometheusReader, PrometheusUnusable
from tests.support.waiting import wait_until

SEEN = Series(0, 30.0, [1.0] * 120)
GOOD = (
    '{"status":"success","data":{"resultType":"matrix","result":['
    '{"metric":{"instance":"shop"},"values":[[30,"1.5"],[60,"NaN"],[90,"+Inf"],[120,"x"],7,'
    '[119,"-4"],[150,"5"],[9e99,"1"]]},{"metric":{"instance":"crm"},"values":[]}]}}'
)


def answer(body: str, status: str = "200 OK") -> bytes:
    text = body.encode()
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n" % (status.encode(), len(text)) + text


@contextmanager
def served(respond: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that answers each connection so; its address has credentials."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=hold, args=(connection,), daemon=True).start()

        def hold(connection: socket.socket) -> None:
            with connection:
                connection.recv(65_536)
                respond(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://ann:s3cret@127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def read(url: str) -> dict[str, Series]:
    return PrometheusReader(SecretStr(url), {}).series("rows", "shop", 0, 30.0, 5)


def test_values_are_placed_into_their_steps() -> None:
    with served(lambda connection: connection.sendall(answer(GOOD))) as url:
        found = read(url)
    assert found["shop"] == Series(0, 30.0, [1.5, None, None, 0.0, 5.0])
    assert found["crm"].values == [None] * 5


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (answer('{"status":"error","error":"bad  \\n data"}', "400 Bad"), "query: bad data"),
        (answer("<html>", "200 OK"), "does not answer as Prometheus does"),
        (answer("[1]"), "does not answer as Prometheus does"),
        (
            answer('{"status":"success","data":{"resultType":"vector","result":[]}}'),
            "does not answer as Prom",
        ),
        (answer("", "302 Found\r\nLocation: http://127.0.0.1:1/"), "status 302"),
        (answer("[" * 100_000), "does not answer as Prometheus does"),
        (b"SSH-2.0-OpenSSH\r\n", "did not answer"),
        (b"", "did not answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", "did not answer"),
    ],
)
def test_what_is_no_answer_is_named_without_credentials(sent: bytes, words: str) -> None:
    with (
        served(lambda connection: connection.sendall(sent)) as url,
        pytest.raises(PrometheusUnusable) as raised,
    ):
        read(url)
    assert words in str(raised.value)
    assert "s3cret" not in str(raised.value)
    assert "ann" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize("url", ["", "ftp://ann:s3cret@h/", "http://", "http://[", "h:9090"])
def test_an_address_that_is_none_is_named_by_its_setting(url: str) -> None:
    with pytest.raises(PrometheusUnusable, match="prometheus_url"):
        read(url)


def test_an_answer_of_too_many_bytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    with (
        served(lambda connection: connection.sendall(answer(GOOD))) as url,
        pytest.raises(PrometheusUnusable, match="more than 10 bytes"),
    ):
        read(url)


class SeenWatch:
    """A watch with one instance."""

    def series(self, *_: object) -> Series:
        return SEEN

    def sparks(self, *_: object) -> dict[str, Series]:
        return {"shop": Series(0, 150.0, [2.0] * 24)}


def charts(url: str, clock_s: Callable[[], float] = monotonic) -> Charts:
    reader = PrometheusReader(SecretStr(url), {"job": 'a"b'})
    return Charts(SeenWatch(), reader, clock_s)  # type: ignore[arg-type]  # of the watch, two methods are asked


def is_asked(charts: Charts) -> bool:
    """Whether the server was asked: not too many queries were under way."""
    problem = charts.series("shop", "rows", "1h")[1]
    return "already running" not in problem


@pytest.mark.parametrize("part", [b"", b"HTTP/1.1 200 OK\r\nX: "])
def test_a_server_that_drips_holds_a_page_for_a_bounded_time(
    monkeypatch: pytest.MonkeyPatch, part: bytes
) -> None:
    monkeypatch.setattr("api.services.watch.charts.TIMEOUT_SECONDS", 0.2)
    ended = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(part)
        while part and not ended.wait(0.05):
            connection.sendall(b"x")
        ended.wait(5)

    with served(drip) as url:
        now_s = [0.0]
        asked = charts(url, lambda: now_s[0])
        for _ in range(MOST_AT_ONCE):
            series, problem = asked.series("shop", "rows", "1h")
            assert (series, "did not answer" in problem) == (SEEN, True)
            assert asked.series("shop", "lag", "1h")[1] == problem, "asked again too soon"
            now_s[0] += AWAY_SECONDS
        assert "already running" in asked.series("shop", "rows", "1h")[1]
        ended.set()
        wait_until(lambda: is_asked(asked), "a query, once a former one has ended")


def test_an_answer_is_kept_for_some_seconds_and_asked_for_with_the_labels() -> None:
    asked: list[bytes] = []

    def respond(connection: socket.socket) -> None:
        asked.append(b"")
        connection.sendall(answer(GOOD))

    with served(respond) as url:
        one = charts(url)
        for _ in range(3):
            series, problem = one.series("shop", "rows", "1h")
            assert (len(series.values), problem) == (120, "")
        assert one.series("other", "rows", "1h")[0].values == [None] * 120
        assert one.sparks("rows").series["shop"].values == [None] * 24
    assert len(asked) == 3


def test_labels_are_quoted() -> None:
    reader = PrometheusReader(SecretStr("http://h"), {"job": 'a"b'})
    query = reader._query("rows", 'x"}', 30.0)  # noqa: SLF001 - the text that goes out
    assert query == (
        'sum by (instance) (rate(roma_published_rows_total{instance="x\\"}",job="a\\"b"}[60s]))'
    )
