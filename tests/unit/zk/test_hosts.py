"""What stands in zookeeper.hosts is read before anything is connected."""

import pytest

from relay.errors import ConfigurationError
from relay.settings import ZooKeeperSettings
from relay.zk import Session, SessionState


@pytest.mark.parametrize("hosts", ["", "a:b", "a:99999999", "[::1"])
def test_what_is_no_list_of_hosts_is_refused(hosts: str) -> None:
    with pytest.raises(ConfigurationError, match=r"zookeeper\.hosts"):
        Session(ZooKeeperSettings(hosts=hosts))


def test_a_path_belongs_to_the_root() -> None:
    with pytest.raises(ConfigurationError, match=r"zookeeper\.root"):
        Session(ZooKeeperSettings(hosts="a:2181,b:2181/chroot"))


@pytest.mark.parametrize("hosts", ["a", "a:2181", "a:2181,b:2181", "[::1]:2181"])
def test_a_list_of_hosts_is_taken(hosts: str) -> None:
    session = Session(ZooKeeperSettings(hosts=hosts))
    assert (session.state, session.id, session.sessions) == (SessionState.LOST, None, 0)
