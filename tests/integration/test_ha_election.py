"""One leader among members, on a real ZooKeeper."""

import threading
from collections.abc import Callable
from contextlib import ExitStack

from deploy.embedded import ZooKeeper
from relay.deadline import Deadline
from relay.ha import Election
from relay.settings import ZooKeeperSettings
from relay.zk import Session


def test_the_next_in_line_leads_when_the_leader_resigns(zookeeper: ZooKeeper, fresh_name: Callable[[str], str]) -> None:
    path = f"/{fresh_name('election')}"
    settings = ZooKeeperSettings(hosts=zookeeper.hosts)
    stop = threading.Event()
    with ExitStack() as stack:
        first, second = Session(settings), Session(settings)
        for session in (first, second):
            session.start(Deadline.after(20))
            stack.callback(session.stop)
        one, two = Election(first, path, "one"), Election(second, path, "two")
        one.join()
        two.join()
        assert one.wait_until_leading(stop, 10)
        assert one.leads()
        assert not two.wait_until_leading(stop, 0.2)
        assert two.leader() == "one"
        one.resign()
        assert two.wait_until_leading(stop, 10)
        assert not one.leads_synced()


def test_a_node_of_an_unanswered_join_is_taken_over(zookeeper: ZooKeeper, fresh_name: Callable[[str], str]) -> None:
    path = f"/{fresh_name('election')}"
    session = Session(ZooKeeperSettings(hosts=zookeeper.hosts))
    session.start(Deadline.after(20))
    try:
        Election(session, path, "me").join()
        again = Election(session, path, "me")
        assert again.wait_until_leading(threading.Event(), 10)
        assert len(session.children(path)) == 1
    finally:
        session.stop()
