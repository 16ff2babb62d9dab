"""Several clients of one group, killed, paused and joined while rows come."""

import signal
from collections.abc import Callable
from itertools import groupby, pairwise
from pathlib import Path

from tests.e2e.client.conftest import Shop
from tests.support.clients.reading_process import Line, ReadingProcess, lines, reading
from tests.support.waiting import wait_until

KEYS, SESSION = 40, 6
STANDBY_AFTER = SESSION + 2
"""What the client promises: session timeout and 2 s."""


def wait(holds: Callable[[], bool], what: str, *clients: ReadingProcess) -> None:
    """Wait for a condition while all these clients live."""

    def either() -> bool:
        for each in clients:
            each.check()
        return holds()

    wait_until(either, what, 90)


def load(shop: Shop, begin: int, end: int) -> None:
    """Update each row to n = begin … end - 1, one transaction for each n."""
    shop.execute(*(f"update {{t}} set n = {n}" for n in range(begin, end)))


def seen(file: Path, pid: int | None = None) -> dict[str, list[int]]:
    """Key → the values of n in the order in which they were processed, by one client or all."""
    found: dict[str, list[int]] = {}
    for line in lines(file):
        if pid in (None, line.pid):
            found.setdefault(line.key, []).append(int(line.n))
    return found


def all_have(file: Path, n: int) -> bool:
    found = seen(file)
    return len(found) == KEYS and all(values[-1] == n for values in found.values())


def test_no_change_is_lost_and_keys_keep_their_order_through_kill_pause_and_join(
    shop: Shop, tmp_path: Path
) -> None:
    file = tmp_path / "processed"
    arguments = {"session_timeout_seconds": SESSION, "workers": 4, "pause_seconds": 0.002}
    shop.execute(*(f"insert into {{t}} (id, n) values ({key}, 0)" for key in range(KEYS)))
    one = shop.arguments(**arguments)
    with reading(file, **one) as killed, reading(file, **one) as paused:
        wait(lambda: all_have(file, 0), "the first changes", killed, paused)
        load(shop, 1, 20)
        wait(lambda: len(lines(file)) > KEYS * 3, "some changes", killed, paused)
        killed.kill()
        with reading(file, **one) as joined:
            load(shop, 20, 30)
            paused.signal(signal.SIGSTOP)
            wait(lambda: all_have(file, 29), "what the killed and the paused one had", joined)
            paused.signal(signal.SIGCONT)
            load(shop, 30, 40)
            wait(lambda: all_have(file, 39), "changes after the pause", joined, paused)
    assert all(set(values) == set(range(40)) for values in seen(file).values())
    for client in (killed, joined):
        for key, values in seen(file, client.pid).items():
            assert values == sorted(set(values)), key


def test_exclusive_clients_never_overlap_and_a_paused_one_acknowledges_nothing(
    shop: Shop, tmp_path: Path
) -> None:
    file = tmp_path / "processed"
    one = shop.arguments(session_timeout_seconds=SESSION, exclusive=True, pause_seconds=0.01)
    shop.execute(*(f"insert into {{t}} (id, n) values ({key}, 0)" for key in range(KEYS)))
    with reading(file, **one) as first:
        wait(lambda: all_have(file, 0), "the first changes", first)
        with reading(file, **one) as second:
            load(shop, 1, 30)
            wait(lambda: len(lines(file)) > KEYS * 3, "some changes", first, second)
            assert {each.pid for each in lines(file)} == {first.pid}
            first.signal(signal.SIGSTOP)
            wait(lambda: lines(file)[-1].pid == second.pid, "the second to take over", second)
            first.signal(signal.SIGCONT)
            wait(lambda: all_have(file, 29), "all changes", first, second)
            with reading(file, **one) as third:
                load(shop, 30, 35)
                wait(lambda: all_have(file, 34), "some more", first, second, third)
                clients = {each.pid: each for each in (first, second, third)}
                clients.pop(lines(file)[-1].pid).kill()
                load(shop, 35, 40)
                wait(lambda: all_have(file, 39), "what came after the kill", *clients.values())
    found = lines(file)
    assert all(set(values) == set(range(40)) for values in seen(file).values())
    assert max(_gaps(found)) < STANDBY_AFTER
    # The change that a client processed while it was paused ends later, and is not acknowledged.
    # Afterwards the group may give the partitions back to its oldest member, once.
    runs = [pid for pid, run in _runs(found) if run > 1]
    runs = [pid for pid, _ in groupby(runs)]
    assert runs[:2] == [first.pid, second.pid]
    assert len(runs) <= 4, f"clients were active in turn: {runs}"


def _runs(found: list[Line]) -> list[tuple[int, int]]:
    """The clients in turn, each with how many changes it processed."""
    return [(pid, len(list(run))) for pid, run in groupby(found, key=lambda each: each.pid)]


def _gaps(found: list[Line]) -> list[float]:
    """Seconds between the last change of one client and the first of its successor."""
    return [later.at - earlier.at for earlier, later in pairwise(found) if earlier.pid != later.pid]
