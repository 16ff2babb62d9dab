"""What a client gets for right and wrong packets."""

import time

import pytest

from canal_server import channel, connection
from canal_server.wire.kinds import PacketKind
from tests.support.waiting import wait_until
from tests.unit.canal_server.conftest import NewWorld


def test_batches_are_acknowledged_in_order_and_rolled_back(new_world: NewWorld) -> None:
    world = new_world()
    client = world.subscribed()
    assert [client.get(5).batch_id for _ in range(2)] == [1, 2]
    client.ack_batch(1)
    client.ack_batch(-1)
    client.roll_back()
    batch = client.get(5, 1500)
    assert (batch.batch_id, list(batch.messages)) == (3, [b"entry"])
    assert world.sessions[0].calls == [
        ("subscribe", "shop\\..*", ""),
        *[("get", 5, None)] * 2,
        ("ack", 1),
        ("rollback", 0),
        ("get", 5, 1.5),
    ]


def test_an_acknowledgement_out_of_order_is_answered_and_ends_the_connection(
    new_world: NewWorld,
) -> None:
    client = new_world().subscribed()
    client.get()
    client.get()
    client.ack_batch(2)
    refusal = client.ack()
    assert refusal.error_code == 400
    assert "BATCH_UNKNOWN" in refusal.error_message
    assert client.is_closed()


def test_a_rollback_before_the_subscription_is_not_answered(new_world: NewWorld) -> None:
    """Canal's clients send it when they connect."""
    client = new_world().connect()
    client.log_in()
    client.roll_back()
    assert client.subscribe("shop\\.orders").error_code == 0


@pytest.mark.parametrize(
    ("user", "password", "is_right"),
    [
        ("canal", "secret", True),
        ("canal", "Secret", False),
        ("canal", "", False),
        ("", "secret", False),
    ],
)
def test_user_and_password_are_checked(
    new_world: NewWorld,
    monkeypatch: pytest.MonkeyPatch,
    user: str,
    password: str,
    is_right: bool,
) -> None:
    pause = 0.1
    monkeypatch.setattr(connection, "_WRONG_PASSWORD_SECONDS", pause)
    began = time.monotonic()
    client = new_world(user="canal", password="secret").connect()
    answer = client.log_in(user, password)
    assert (answer.error_code == 0) == is_right
    if not is_right:
        assert time.monotonic() >= began + pause
        assert "password is wrong" in answer.error_message
        assert client.is_closed()


@pytest.mark.parametrize(
    ("fields", "number", "text"),
    [
        ({"destination": "other"}, 400, "no destination 'other'"),
        ({"destination": ""}, 401, "lacks"),
        ({"client_id": ""}, 401, "lacks"),
        ({"client_id": "a"}, 401, "not a number"),
        ({"client_id": "99999999999999999999"}, 401, "not a number"),
        ({"client_id": "000001"}, 401, "not a number"),
        ({"client_id": "\u0661"}, 401, "not a number"),
    ],
)
def test_other_names_are_refused(
    new_world: NewWorld, fields: dict[str, str], number: int, text: str
) -> None:
    client = new_world().connect()
    client.log_in()
    client.ask(PacketKind.SUBSCRIPTION, "Sub", **fields)
    refusal = client.ack()
    assert refusal.error_code == number
    assert text in refusal.error_message
    assert client.is_closed()


def test_a_login_subscribes_by_right_names_only(new_world: NewWorld) -> None:
    """Destination `a` with the client id `b.7` would share a position with `a.b` and `7`."""
    world = new_world(destinations=[{"name": "a"}, {"name": "a.b"}])
    right, wrong = world.connect(), world.connect()
    assert right.log_in(destination="a.b", client_id="7").error_code == 0
    refusal = wrong.log_in(destination="a", client_id="b.7")
    assert (refusal.error_code, len(world.sessions)) == (401, 1)
    assert "'b.7' is not a number" in refusal.error_message
    assert wrong.is_closed()


def test_a_connection_serves_one_client_id(new_world: NewWorld) -> None:
    client = new_world().subscribed()
    client.place["client_id"] = "1002"
    assert "one client id" in client.get().error_message


@pytest.mark.parametrize(
    "data",
    [
        b"\x7f\xff\xff\xff",
        b"\xff\xff\xff\xff",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0\0\0\x02\xff\xff",
        b"\0\0\0\x02\x18\x09",
    ],
)
@pytest.mark.parametrize("logged_in", [False, True])
def test_other_bytes_are_refused_by_name(new_world: NewWorld, data: bytes, logged_in: bool) -> None:
    client = new_world().connect()
    if logged_in:
        client.log_in()
    else:
        client.received(PacketKind.HANDSHAKE)
    client.raw(data)
    assert client.ack().error_code == 400
    assert client.is_closed()


def test_requests_without_a_subscription_are_refused(new_world: NewWorld) -> None:
    world = new_world()
    for ask in ("get", "ack"):
        client = world.connect()
        client.log_in()
        if ask == "get":
            assert "before the subscription" in client.get().error_message
        else:
            client.ack_batch(1)
            assert "before the subscription" in client.ack().error_message


def test_an_acknowledgement_without_an_id_is_refused(new_world: NewWorld) -> None:
    client = new_world().subscribed()
    client.ack_batch(0)
    assert client.ack().error_code == 402


def test_a_client_that_does_not_log_in_is_closed(new_world: NewWorld) -> None:
    client = new_world(login_seconds=0.1).connect()
    client.received(PacketKind.HANDSHAKE)
    assert client.is_closed()


def test_a_packet_that_is_never_complete_is_refused(
    new_world: NewWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "_FRAME_SECONDS", 0.1)
    client = new_world().subscribed()
    client.raw(b"\0\0")
    assert "not complete" in client.ack().error_message
    assert client.is_closed()


def test_the_newest_connection_serves_a_client_id(new_world: NewWorld) -> None:
    world = new_world()
    former = world.subscribed()
    former.get()
    newest = world.subscribed()
    assert world.sessions[0].closed.is_set(), "its session ended first"
    assert "newer connection" in former.ack().error_message
    assert former.is_closed()
    assert newest.get().batch_id == 1


def test_a_waiting_request_ends_with_its_client_and_with_the_server(new_world: NewWorld) -> None:
    world = new_world()
    world.waits = True
    clients = [world.connect(), world.connect()]
    for number, client in enumerate(clients):
        client.place["client_id"] = str(number + 1)
        client.log_in()
        client.subscribe()
        client.ask(PacketKind.GET, "Get", fetch_size=1, timeout=0)
        assert world.sessions[number].asked.wait(10)
    clients[0].socket.close()
    wait_until(world.sessions[0].closed.is_set, "the session of the client that left")
    assert not world.sessions[1].closed.is_set()
    world.stop.set()
    wait_until(world.sessions[1].closed.is_set, "the session at the server's end")


def test_an_unexpected_error_is_answered_without_its_text(new_world: NewWorld) -> None:
    world = new_world()
    client = world.subscribed()
    world.sessions[0].get = lambda *_: 1 / 0  # type: ignore[assignment]
    assert client.get().error_message == "The server failed; its log has the reason."
    assert world.sessions[0].closed.wait(10)
