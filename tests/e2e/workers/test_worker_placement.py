"""Operators' acts treat the workers of a relay as several relays on its server, and a relay may
change its number of workers.
"""

import json
from contextlib import ExitStack
from functools import partial

import pytest
from confluent_kafka import Consumer
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.cli import app
from relay.state import Note
from tests.e2e.delivery.test_giant_transaction import ROWS
from tests.support.relays.half_published import is_visible, visible
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.worker_relay import Shards, ask, pid_of, wait_for_workers
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

NOTE = Note("test", "test")


def status_lines(shards: Shards) -> list[dict[str, object]]:
    told = CliRunner().invoke(
        app,
        ["status", "--json", "--config", str(shards.installation.file)],
        env={"SERVER": "first"},
    )
    return [json.loads(line) for line in told.stdout.splitlines()]


def test_drains_and_moves_take_workers_as_relays_of_their_server(shards: Shards) -> None:
    installation = shards.installation
    shards.write(server="${SERVER}", rebalance_seconds=0.2)
    with RelayProcess(installation, "first", SERVER="first") as first, ExitStack() as stack:
        here = wait_for_workers(installation, first, 2).values()
        shards.wait_until_led()
        second = RelayProcess(installation, "second", SERVER="second")
        stack.enter_context(second)
        there = wait_for_workers(installation, second, 2).values()
        shards.wait_until_led()
        loads = shards.load(stack)
        shards.wait_for_rows()
        installation.overrides.drain("first", NOTE)
        shards.wait_until_led(lambda leader: pid_of(leader) in there)
        wait_until(lambda: len(shards.spread()) == 2, "both workers of the other server")
        assert {(each["state"], each["relay_alive"]) for each in status_lines(shards)} == {
            ("RUNNING", True)
        }
        installation.overrides.end_maintenance("first")
        for name in shards.names:
            installation.overrides.hand_over(name, "first", NOTE)
        shards.wait_until_led(lambda leader: pid_of(leader) in here)
        wait_until(lambda: len(shards.spread()) == 2, "both workers of the server")
        one = min(shards.leaders().values())
        for name in shards.names:
            installation.overrides.hand_over(name, one, NOTE)
        shards.wait_until_led(lambda leader: leader == one)
        shown = ask(first, "/status").json()
        assert [each["name"] for each in shown] == sorted(shards.names)
        assert {each["relay"] for each in shown} == {one}
        assert ask(first, "/readyz").text == "ok\n"
        shards.assert_exactly_once(loads)
        assert (second.stop(), first.stop()) == (0, 0)


@pytest.mark.long
def test_a_rolling_restart_from_one_process_to_four_and_back(shards: Shards) -> None:
    installation = shards.installation
    relays = [RelayProcess(installation, name) for name in ("first", "second")]
    with ExitStack() as stack:
        shards.write(processes=1, rebalance_seconds=0.2)
        for each in relays:
            stack.enter_context(each)
            wait_until(partial(is_registered, shards, each), "the relay")
        shards.wait_until_led()
        loads = shards.load(stack)
        shards.wait_for_rows()
        for processes in (4, 1):
            shards.write(processes=processes)
            for each in relays:
                assert each.stop() == 0
                each.start()
                if processes > 1:
                    wait_for_workers(installation, each, processes)
                else:
                    wait_until(partial(is_registered, shards, each), "the relay")
                shards.wait_until_led()
        shards.assert_exactly_once(loads)


def is_registered(shards: Shards, relay: RelayProcess) -> bool:
    return relay.pid in {each.pid for each in shards.installation.membership.members()}


@pytest.mark.long
def test_a_stop_inside_a_split_transaction_repeats_nothing(
    shards: Shards, mariadb: MariaDB, kafka: Kafka
) -> None:
    installation = shards.installation
    for each in installation.document["instances"]:
        each["transaction"] = {"split_bytes": 1_000_000}
    shards.write()
    schema = shards.schemas["one"]
    with RelayProcess(installation) as relay:
        wait_for_workers(installation, relay, 2)
        shards.wait_until_led()
        mariadb.execute(
            f"insert into {schema}.t select seq, seq, repeat('x', 400) "
            f"from {schema}.seq_1_to_{ROWS}"
        )
        reader = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "t"})
        wait_until(partial(is_visible, reader, schema, 2_000), "a part published")
        assert relay.stop() == 0, relay.log_tail()
        assert visible(reader, schema) < ROWS, "the stop came too late"
        reader.close()
        relay.start()
        mariadb.execute(f"insert into {schema}.t values (0, 0, 'last')")
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, schema, seconds=60)) > ROWS, "the end", 120
        )
    seen = read_topic(kafka.bootstrap, schema, seconds=60)
    assert sorted(int((each.value or {})["data"][0]["id"]) for each in seen) == list(
        range(ROWS + 1)
    )
