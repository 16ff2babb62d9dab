"""Starts servers again that an earlier round left paused or ended.

A round may fail before it ends its fault, and a server can end unexpectedly.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from deploy.embedded import KafkaCluster, ServerProcess
from tools.faults.gated_kafka import GatedKafka


def start_again(servers: Iterable[ServerProcess]) -> list[str]:
    """Resume every running server, and start the ended ones; return the names of the started ones.

    They are started in parallel, because a broker of a cluster does not answer before another
    broker runs. Raises EmbeddedError if a server does not start.
    """
    ended = []
    for each in servers:
        if isinstance(each, GatedKafka):
            each.line.reopen()
        if each.running:
            each.resume()
        else:
            ended.append(each)
    if ended:
        with ThreadPoolExecutor(len(ended)) as starts:
            list(starts.map(lambda each: each.start(), ended))
    return sorted(each.name for each in ended)


def servers_in(values: Iterable[object]) -> Iterator[ServerProcess]:
    """Yield the servers among some values, and those of clusters and of lists."""
    for each in values:
        if isinstance(each, ServerProcess):
            yield each
        elif isinstance(each, KafkaCluster):
            yield from each.brokers
        elif isinstance(each, list):
            yield from servers_in(each)
