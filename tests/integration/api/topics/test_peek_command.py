"""`roma peek` on a real Kafka and a real ZooKeeper."""

import json
from pathlib import Path

import tomli_w
from typer.testing import CliRunner

from deploy.embedded import Kafka, ZooKeeper
from relay.cli import app
from tests.servers.fixtures import FreshName
from tests.support.relays.peeked import INSTANCES, SECRET, peeked_admin


def test_the_command_shows_rows_that_are_there_without_what_is_hidden(
    zookeeper: ZooKeeper, kafka: Kafka, fresh_name: FreshName, tmp_path: Path
) -> None:
    name, config = fresh_name("command"), tmp_path / "relay.toml"
    document = {
        "installation": name,
        "zookeeper": {"hosts": zookeeper.hosts},
        "kafka": {
            "bootstrap_servers": kafka.bootstrap,
            "replication_factor": 1,
            "min_insync_replicas": 1,
        },
        "instances": INSTANCES,
    }
    config.write_text(tomli_w.dumps(document), encoding="utf-8")

    def peek(*arguments: str) -> tuple[int, str]:
        command = ["peek", *arguments, "--config", str(config), "--no-follow", "--from", "last"]
        result = CliRunner().invoke(app, command)
        return result.exit_code, result.output

    with peeked_admin(zookeeper.hosts, kafka.bootstrap, name) as (client, feed):
        feed.row("INSERT", "1")
        feed.row("UPDATE", "2", {"state": "open", "email": SECRET})
        code, printed = peek("shop.client")
        assert code == 0, printed
        # The admin of the test logs into the same output.
        first, second = [each for each in printed.splitlines() if " UTC  " in each]
        assert first.endswith("INSERT  1  id='1'  state='paid'  email=***")
        assert second.endswith("UPDATE  2  state='open' to 'paid'  email=***")
        _, lines = peek("shop.client", "--json", "--key", "2")
        (row,) = [json.loads(each) for each in lines.splitlines() if each.startswith("{")]
        assert (row["key"], row["changed"]) == (["2"], ["state", "email"])
        assert SECRET not in printed + lines
        code, told = peek("shop.clinet")
        assert (code, "did you mean shop.client" in told) == (1, True)
        entries = client.get("/api/v1/audit", params={"act": "table.peeked"}).json()
    assert {each["via"] for each in entries} == {"command line"}
