"""Fixtures of all tests: real servers, shared by a whole run and started when first asked for."""

import gc
from collections.abc import Generator

import hypothesis
import pytest
from xdist.remote import Producer

from tests.servers import side_by_side
from tests.servers.fixtures import (
    database,
    fresh_name,
    hbase,
    kafka,
    mariadb,
    mariadb_10_11,
    mysql_5_6,
    mysql_9,
    new_kafka,
    new_mariadb,
    new_mariadb_10_11,
    new_mysql,
    new_mysql_5_6,
    new_zookeeper,
    postgres,
    redis_server,
    registry,
    zookeeper,
)
from tests.servers.running import logs_of_the_dead

__all__ = [
    "database",
    "fresh_name",
    "hbase",
    "kafka",
    "mariadb",
    "mariadb_10_11",
    "mysql_5_6",
    "mysql_9",
    "new_kafka",
    "new_mariadb",
    "new_mariadb_10_11",
    "new_mysql",
    "new_mysql_5_6",
    "new_zookeeper",
    "postgres",
    "redis_server",
    "registry",
    "zookeeper",
]


# How long an example takes says how busy the machine is; pytest's own limit ends one that hangs.
hypothesis.settings.register_profile("relay", deadline=None, max_examples=50)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=10)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=200, derandomize=False)
hypothesis.settings.load_profile("relay")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Producer
) -> side_by_side.FewSparks | None:
    """Share out whole files, where that was asked for."""
    return side_by_side.FewSparks(config, log) if config.option.dist == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without garbage collection, and exclude from later ones what stays in memory:
    all modules and tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the largest pieces of work, and mix the others."""
    items[:] = side_by_side.evenly_mixed(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: "pytest.CallInfo[None]"
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows the end of the log of every server that died meanwhile."""
    outcome = yield
    if outcome.failed:
        outcome.sections.extend(logs_of_the_dead())
    return outcome


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which servers took part, and which could not and why."""
    lines = side_by_side.report()
    if lines:
        terminalreporter.section("servers")
    for line in lines:
        terminalreporter.write_line(
            line, red=line.startswith("WARNING"), bold=line.startswith("WARNING")
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand over what this process knows of the servers."""
    side_by_side.pass_on_report(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: side_by_side.FinishedWorker) -> None:
    """Keep what a finished process says of the servers."""
    side_by_side.take_report(node)
