"""Errors after which this relay no longer runs the instance."""

from relay.errors.base import RelayError


class Fenced(RelayError):
    """Kafka accepts only a newer producer of this instance."""

    code = "FENCED"
    remedy = "No action is needed: this relay joins the election again."


class ProducerContested(Fenced):
    """Kafka accepts a newer producer of this instance again and again, although ZooKeeper names
    this relay the leader.
    """

    code = "PRODUCER_CONTESTED"
    remedy = (
        "If another relay runs this instance with another ZooKeeper (zookeeper.hosts, "
        "zookeeper.root), stop it. If another program "
        "uses the instance's transactional id, stop it. The relay tries again by itself, after "
        "up to a minute."
    )


class LeadershipLost(RelayError):
    """The election node of this relay in ZooKeeper is gone."""

    code = "LEADERSHIP_LOST"
    remedy = "No action is needed: this relay joins the election again."


class HandedOver(RelayError):
    """This relay ended its batch and gave up leadership, because another relay should run the
    instance.
    """

    code = "HANDED_OVER"
    remedy = "No action is needed: the named relay continues from the committed position."
