"""A source that was restored from an older copy and took other writes under the GTIDs that were
published: the instance stops by name.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from deploy.embedded import Kafka, MariaDB, MySQL, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.servers.running import factory
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.purging import purge
from tests.support.waiting import wait_until


@dataclass
class Restored:
    """A server with a copy of its data folder, the relay that published all of it and is stopped,
    and what consumers see.
    """

    server: SqlServer
    relay: RelayProcess
    name: str
    ids: Callable[[], list[int]]

    def insert(self, *numbers: int) -> None:
        self.server.execute(
            *(f"insert into {self.name}.t values ({number}, 1, 'x')" for number in numbers)
        )

    @contextmanager
    def older(self) -> Iterator[None]:
        """Stop the server and go back to the copy."""
        self.server.stop()
        shutil.rmtree(self.server.data)
        shutil.copytree(self.server.folder / "copy", self.server.data)
        yield
        self.server.start()

    def flush(self, times: int = 1) -> None:
        self.server.execute(*["flush binary logs"] * times)


@pytest.fixture(params=[MariaDB, MySQL], ids=lambda kind: kind.name)
def restored(
    request: pytest.FixtureRequest, kafka: Kafka, new_installation: NewInstallation
) -> Iterator[Restored]:
    """Rows 1 to 5 are in the copy too, rows 6 to 15 were written and published after it was
    made.
    """
    with factory(request.param) as start:
        server: SqlServer = start()
        installation = new_installation(server, kafka)
        name = installation.name

        def ids() -> list[int]:
            return sorted(
                int((each.value or {})["data"][0]["id"])
                for each in read_topic(kafka.bootstrap, name)
            )

        with RelayProcess(installation) as relay:
            relay.wait_for("RUNNING")
            made = Restored(server, relay, name, ids)
            made.insert(*range(1, 6))
            wait_until(lambda: ids() == [*range(1, 6)], "the first rows")
            server.stop()
            shutil.copytree(server.data, server.folder / "copy")
            server.start()
            made.insert(*range(6, 16))
            wait_until(lambda: ids() == [*range(1, 16)], "the other rows")
            relay.stop()
            yield made


def test_reused_gtids_are_another_history_where_the_positions_file_is_purged(
    restored: Restored,
) -> None:
    with restored.older():
        pass
    restored.flush(2)
    restored.insert(*range(106, 126))  # ten under GTIDs that were published, ten under new ones
    purge(restored.server)
    restored.relay.start()
    status = restored.relay.wait_for("STOPPED", "HISTORY_CHANGED")
    assert "restored from an older copy" in status.reason
    assert "repair" in status.remedy
    assert restored.ids() == [*range(1, 16)]
