"""One process of the fleet, with some relays, until SIGTERM: started by `tools.fleet`."""

import logging
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import structlog

from relay.deadline import Deadline
from relay.settings import ZooKeeperSettings
from relay.state import Paths
from relay.zk import Session
from tools.fleet.simulated_relay import SimulatedRelay


def main(hosts: str, base: str, instances: str, *names: str) -> int:
    """Run relays of these names for the instances, divided by commas; return the exit code."""
    logging.disable(logging.CRITICAL)  # each relay would report each restart of ZooKeeper
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    paths = Paths(base)
    wanted = tuple(instances.split(","))
    sessions = [Session(ZooKeeperSettings(hosts=hosts)) for _ in names]
    for session in sessions:
        session.start(Deadline.after(60))
    relays = [
        SimulatedRelay(name, session, paths, wanted)
        for name, session in zip(names, sessions, strict=True)
    ]
    for relay in relays:
        relay.start()
    stop.wait()
    with ThreadPoolExecutor(len(relays)) as pool:
        list(pool.map(SimulatedRelay.leave, relays))
    for session in sessions:
        session.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
