"""MySQL's partial updates of JSON from end to end: messages hold the whole document, in every way
that such an update may come.
"""

from pathlib import Path
from typing import Any

from pymysql.cursors import DictCursor
from typer.testing import CliRunner

from deploy.embedded import Kafka, MySQL
from relay.cli import app
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.source_reading import ask, end_of
from tests.support.waiting import wait_until

_DOCUMENT = """'{"a": 1, "b": [1, "zwei"], "filler": "%s"}'""" % ("x" * 400)


class Documents:
    """The table `j`, written in parts; what its one row held after each change."""

    def __init__(self, server: MySQL, database: str) -> None:
        self._server = server
        self._table = f"{database}.j"
        self.held: list[dict[str, Any]] = []
        server.execute(
            f"create table {self._table} (id int primary key, n int, j json)",
            f"insert into {self._table} values (1, 0, {_DOCUMENT})",
        )

    def update(self, change: str, *before: str, after: tuple[str, ...] = ()) -> None:
        update = f"update {self._table} set {change} where id = 1"
        self._server.execute(
            "set session binlog_row_value_options = 'PARTIAL_JSON'", *before, update, *after
        )
        with (
            self._server.connect(cursorclass=DictCursor) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(
                f"select cast(id as char) id, cast(n as char) n, cast(j as char) j from "
                f"{self._table}"
            )
            self.held += cursor.fetchall()


def test_parts_of_documents_are_applied(
    mysql_9: MySQL, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mysql_9, kafka)
    name = installation.name
    documents = Documents(mysql_9, name)
    start = end_of(mysql_9)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        documents.update("j = json_set(j, '$.a', 99)")
        documents.update("n = 5")
        documents.update(
            "j = json_remove(j, '$.b[0]'), n = 6", "set session binlog_transaction_compression = on"
        )
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 3, "three changes")
        relay.kill()
        xa = (f"xa end '{name}'", f"xa prepare '{name}'", f"xa commit '{name}'")
        documents.update(
            "j = json_set(j, '$.new', json_array('ü', 1.50))", f"xa start '{name}'", after=xa
        )
        relay.start()
        documents.update("id = 2, j = json_replace(j, '$.new[1]', cast('2026-01-02' as date))")
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 6, "all changes")
        assert relay.stop() == 0
    kinds = [
        str(row[2])
        for row in ask(mysql_9, f"show binlog events in '{start.file}' from {start.offset}")
    ]
    assert {"Update_rows_partial", "Transaction_payload"} <= set(kinds)
    values = [
        each.value or {}
        for each in sorted(read_topic(kafka.bootstrap, name), key=lambda each: each.order)
    ]
    assert [value["type"] for value in values] == ["UPDATE"] * 4 + ["DELETE", "INSERT"]
    states = [value["data"][0] for value in values]
    assert [*states[:4], states[5]] == documents.held
    assert states[4] == states[3]
    assert [sorted(value["old"][0]) for value in values[:4]] == [["j"], ["n"], ["j", "n"], ["j"]]
    assert values[1]["old"] == [{"n": "0"}]
    assert values[3]["old"] == [{"j": documents.held[2]["j"]}]


def test_the_preflight_lets_them_pass(
    mysql_9: MySQL, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    installation = new_installation(mysql_9, kafka)
    mysql_9.execute("set global binlog_row_value_options = 'PARTIAL_JSON'")
    try:
        said = CliRunner().invoke(app, ["preflight", "--config", str(installation.file)])
    finally:
        mysql_9.execute("set global binlog_row_value_options = ''")
    assert "binlog_row_value_options" not in said.output
    assert said.exit_code == 0, said.output
