"""The faults of a round, each at a random moment and against a random service."""

import signal
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from tools.clients.service import Service
from tools.clients.shop import SESSION_SECONDS, Shop

_MOST_PAUSE_SECONDS: Final = SESSION_SECONDS + 4


def _chosen(shop: Shop) -> Service:
    return shop.run.chance.choice(shop.services)


def _kill(shop: Shop) -> None:
    service = _chosen(shop)
    service.kill()
    shop.run.rest(0, 2)
    shop.replace(service)


def _pause(shop: Shop) -> None:
    """Pause a service, sometimes for longer than its session."""
    service = _chosen(shop)
    service.signal(signal.SIGSTOP)
    try:
        shop.run.rest(0.5, _MOST_PAUSE_SECONDS)
    finally:
        service.signal(signal.SIGCONT)


def _long_pause(shop: Shop) -> None:
    """Pause the service that is active until its session is over and another one works.

    A paused service with an inbox may hold SQLite's only lock; then no other service can work.
    """
    done = len(shop.works())
    pid = shop.works()[-1].pid
    service = next((each for each in shop.services if each.pid == pid), shop.services[0])
    service.signal(signal.SIGSTOP)
    try:
        shop.run.rest(SESSION_SECONDS, SESSION_SECONDS + 2)
        others = {each.pid for each in shop.services} - {service.pid}
        if shop.kind == "inbox":
            return
        shop.wait(lambda: others & {each.pid for each in shop.works()[done:]}, "another service")
    finally:
        service.signal(signal.SIGCONT)


def _rebalance(shop: Shop) -> None:
    """Start one service and stop another one, in a random order and nearly at the same time."""
    service = _chosen(shop)
    if shop.run.chance.random() < 0.5:
        shop.start_service()
        shop.run.rest(0, 2)
        service.ask_to_stop()
        service.wait(60)
        shop.services.remove(service)
    else:
        service.ask_to_stop()
        shop.run.rest(0, 0.3)
        shop.start_service()
        service.wait(60)
        shop.services.remove(service)


def _edit(shop: Shop) -> None:
    shop.move_table()


def _broker(shop: Shop) -> None:
    """Kill the broker and start it again. No client may be opened during the outage: it would fail,
    which is correct behaviour.
    """
    shop.wait(lambda: all(each.is_open for each in shop.services), "all services to be open")
    shop.run.broker.kill()
    shop.run.rest(0, 3)
    shop.run.broker.start()


def _relay(shop: Shop) -> None:
    shop.relay.kill()
    shop.run.rest(0, 2)
    shop.relay.start()


FAULTS: Final[Mapping[str, Callable[[Shop], None]]] = MappingProxyType(
    {
        "kill": _kill,
        "pause": _pause,
        "long-pause": _long_pause,
        "rebalance": _rebalance,
        "edit": _edit,
        "broker": _broker,
        "relay": _relay,
    }
)
