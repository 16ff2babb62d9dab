"""A relay is named by what operators chose and know."""

from api.models.instance import RelayView
from api.web.views.relay_names import RelayName, RelayNames


def relay(host: str, pid: int, server: str) -> RelayView:
    return RelayView(
        name=f"{host}-{pid}",
        host=host,
        pid=pid,
        status_url="",
        instances=[],
        started_ms=0,
        server=server,
        session_timeout_ms=0,
    )


NAMES = RelayNames.of(
    [
        relay("rack-a", 7, "rack-a"),
        relay("10.0.0.7", 8, "red"),
        *(relay("b", n, "b") for n in (1, 2)),
    ]
)


def test_a_relay_has_the_name_of_its_server_and_its_process_in_the_title() -> None:
    assert NAMES("rack-a-7") == RelayName("rack-a", "", "process rack-a-7, pid 7")
    assert NAMES("10.0.0.7-8") == RelayName("red", "10.0.0.7", "process 10.0.0.7-8, pid 8")


def test_relays_of_one_server_are_told_apart() -> None:
    assert [NAMES(each).shown for each in ("b-1", "b-2")] == ["b (pid 1)", "b (pid 2)"]


def test_a_relay_that_has_ended_is_named_by_its_host() -> None:
    gone = NAMES("rack-z-4711")
    assert (gone.shown, gone.title) == ("rack-z", "process rack-z-4711, which has ended")
    assert NAMES("unlike").shown == "unlike"
    assert NAMES("") == RelayName("", "", "")
