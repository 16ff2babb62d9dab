"""Errors that prevent reading the topics."""

from spark_jobs.errors.base import JobError


class BrokerUnreachable(JobError):
    """No broker of `bootstrap_servers` answers."""

    remedy = (
        "Check kafka.bootstrap_servers and the network, and start again; the job continues at its "
        "checkpoint."
    )


class BrokerRefused(JobError):
    """The broker refuses the login, or the right to read the topics."""

    remedy = (
        "Check kafka.client and kafka.jaas, and the access rights to the topics, and start again."
    )


class StatementsUnread(JobError):
    """The job follows TRUNCATEs, but does not read the topic in which they are published."""

    remedy = (
        "Add the topics in the reason to kafka.topics, or set truncate = 'quarantine', and start "
        "again; the job continues at its checkpoint."
    )


class TopicUnknown(JobError):
    """A topic that the job reads does not exist."""

    remedy = (
        "Check kafka.topics. The relay creates a topic, and its `.ddl` topic, before its first "
        "row there: start the job after that."
    )


class OffsetsLost(JobError):
    """The topic no longer has offsets that the job must read, because of retention or because the
    topic was created again.
    """

    remedy = (
        "The copies lack the changes at these offsets. Copy the tables again: remove the "
        "checkpoint, start this job again, and run `roma bootstrap --anew` at the same time. Then "
        "set a retention of the topics that is longer than any pause of the job."
    )


class FormatNotRead(JobError):
    """The topic has messages in a format that the jobs do not read."""

    remedy = (
        "The jobs read only the format canal-json. Let an instance with message.format = "
        "'canal-json' publish these tables to separate topics, and name those in kafka.topics."
    )


class RawRuleRefused(JobError):
    """`raw_rule = true` compares binlog offsets, and the messages do not contain them."""

    remedy = (
        'Set message.headers = "full" in the relay, which adds the header source; messages from '
        "then on can be read by the raw rule."
    )
