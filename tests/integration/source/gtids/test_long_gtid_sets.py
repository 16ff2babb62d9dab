"""GTID sets that are longer than the texts of SHOW VARIABLES, which servers cut off: MySQL after
1,024 characters, MariaDB after 2,048 (MySQL manual, "SHOW VARIABLES Statement").
"""

from collections.abc import Callable
from contextlib import closing
from uuid import UUID

from deploy.embedded import MariaDB, MySQL, SqlServer
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import ServerFacts, read_server_facts
from tests.support.sources.source_reading import ask, source_settings

_NUMBER = 4_000_000_000


def facts_of(server: SqlServer) -> ServerFacts:
    with closing(SourceConnection(source_settings(server))) as connection:
        return read_server_facts(connection)


def test_mysql_that_has_transactions_of_many_servers(new_mysql: Callable[..., MySQL]) -> None:
    server = new_mysql()
    foreign = [f"{UUID(int=each)}:1-{_NUMBER}" for each in range(1, 60)]
    server.execute(f"SET GLOBAL gtid_purged = '+{','.join(foreign)}'")
    found = facts_of(server)
    assert set(foreign) <= set(found.executed.split(","))
    assert set(foreign) <= set(found.purged.split(","))


def test_mariadb_that_has_many_domains(new_mariadb: Callable[..., MariaDB]) -> None:
    server = new_mariadb()
    state = [f"{domain}-{_NUMBER}-{_NUMBER}" for domain in range(1, 200)]
    server.execute("RESET MASTER", f"SET GLOBAL gtid_binlog_state = '{','.join(state)}'")
    found = facts_of(server)
    assert set(found.binlog_state.split(",")) == set(state)
    assert found.executed == ask(server, "SELECT @@GLOBAL.gtid_binlog_pos")[0][0]
