"""One source of a group is moved, or a transaction of it skipped, by hand: the others go on, and
nothing else is lost or repeated.
"""

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import pytest
from pydantic import SecretStr

from deploy.embedded import Kafka, MariaDB
from relay.settings import ApiSettings
from tests.e2e.conftest import NewInstallation
from tests.e2e.operating.test_position_by_hand import Shop
from tests.servers.running import running
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.sources.group_rows import assert_one_order, ids, insert, member, seen, table_on
from tests.support.waiting import wait_until

Pair: TypeAlias = tuple[MariaDB, MariaDB]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two servers of the tests' own; the binlog of the second has no names of columns."""
    with running(MariaDB()) as one, running(MariaDB({"binlog_row_metadata": "NO_LOG"})) as other:
        yield one, other


def insert_as(server: MariaDB, name: str, number: int, gtid: str) -> None:
    """Insert a row in a transaction that is called so, whatever the server would call it."""
    domain, server_id, sequence = gtid.split("-")
    called = (
        f"set session gtid_domain_id = {domain}, session server_id = {server_id}, session "
        f"gtid_seq_no = {sequence}"
    )
    server.execute(called, f"insert into {name}.t (id, n) values ({number}, 1)")


def wait_for(kafka: Kafka, name: str, *numbers: int) -> None:
    """Wait until exactly these rows were published, repeats counted."""
    wait_until(lambda: Counter(ids(kafka, name)) == Counter(numbers), f"rows {numbers}")


def orders_of(kafka: Kafka, name: str, number: int) -> list[str]:
    return [
        each.order
        for each in seen(kafka, name)
        if int((each.value or {})["data"][0]["id"]) == number
    ]


def _over_http(installation: Installation, place: tuple[str, ...]) -> None:
    """The same functions behind the admin's addresses."""
    to = {"file": place[0], "offset": int(place[1])}
    address = "/api/v1/instances/shop/position"
    with admin_client(
        installation.settings.model_copy(
            update={"api": ApiSettings(port=0, token=SecretStr(TOKEN))}
        )
    ) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        unnamed = admin.post(f"{address}/preview", json=to)
        assert (unnamed.status_code, unnamed.json()["code"]) == (400, "SOURCE_NOT_NAMED")
        preview = admin.post(
            f"{address}/preview", json={**to, "source": "second", "as_new": True}
        ).json()
        assert (preview["kind"], preview["epoch"]) == ("as new", 3)
        skip = {"source": "second", "gtid": "9-99-900", "confirm": "shop"}
        after = admin.post(f"{address}/skip", json=skip).json()
        assert (
            after["sources"]["first"]["skips"],
            after["sources"]["second"]["skips"],
            after["format"],
        ) == ([], ["9-99-900"], 5)
        after = admin.post(f"{address}/skip", json={**skip, "undo": True}).json()
        assert (after["sources"]["second"]["skips"], after["format"]) == ([], 5)


@pytest.mark.long
def test_one_source_of_a_group_is_moved_and_past_a_transaction(
    pair: Pair, kafka: Kafka, new_installation: NewInstallation
) -> None:
    one, other = pair
    installation = new_installation(one, kafka, group={"sources": [member("second", other)]})
    name = installation.name
    table_on(other, name)
    shop, second = Shop(installation, one, kafka), Shop(installation, other, kafka)
    gtid, yes = "9-99-500", ("--yes", "shop")
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        insert(one, name, 1)
        insert(other, name, 1001)
        wait_for(kafka, name, 1, 1001)

        unnamed = shop.roma("position", "skip", "shop", "--gtid", gtid, *yes)
        assert (
            unnamed.exit_code,
            "SOURCE_NOT_NAMED" in unnamed.output,
            "first, second" in unnamed.output,
        ) == (1, True, True)
        skipped = shop.roma("position", "skip", "shop", "--source", "second", "--gtid", gtid, *yes)
        assert (skipped.exit_code, f"To be skipped: {gtid}." in skipped.output) == (0, True), (
            skipped.output
        )
        insert_as(one, name, 2, gtid)
        insert_as(other, name, 1002, gtid)
        insert(one, name, 3)
        insert(other, name, 1003)
        wait_for(kafka, name, 1, 1001, 2, 3, 1003)
        wait_until(lambda: len(shop.entries("transaction.skipped")) == 1, "the skip written down")
        (entry,) = shop.entries("transaction.skipped")
        assert (entry.after["source"], entry.after["rows_by_table"]) == ("second", {f"{name}.t": 1})
        assert "format     5" in shop.roma("position", "show", "shop").output

        assert relay.stop() == 0
        before, between = second.ask("show master status"), 1004
        insert(other, name, between)
        place = second.ask("show master status")
        insert(other, name, 1005)
        insert(one, name, 4)
        to = (
            "position",
            "set",
            "shop",
            "--source",
            "second",
            "--file",
            place[0],
            "--offset",
            place[1],
            *yes,
        )
        forward = shop.roma(*to)
        said = [
            words in forward.output
            for words in ("LEFT OUT", "The other sources continue at their positions.")
        ]
        assert (forward.exit_code, said) == (0, [True, True]), forward.output
        relay.start()
        wait_for(kafka, name, 1, 1001, 2, 3, 1003, 4, 1005)

        back = (
            "position",
            "set",
            "shop",
            "--source",
            "second",
            "--file",
            before[0],
            "--offset",
            before[1],
        )
        refused = shop.roma(*back, *yes)
        assert (
            refused.exit_code,
            "MOVE_REFUSED" in refused.output,
            "--as-new" in refused.output,
        ) == (1, True, True), refused.output
        assert shop.roma(*back, "--as-new", *yes, "--actor", "ann").exit_code == 0
        wait_for(kafka, name, 1, 1001, 2, 3, 1003, 4, 1005, between, 1005)
        newest = shop.entries("position.set")[0]
        assert (newest.actor, newest.after["source"], newest.after["place"]) == (
            "ann",
            "second",
            f"{before[0]}:{before[1]}",
        )
        assert newest.before["source"] == "second"
        found = shop.roma(
            "position",
            "search",
            "shop",
            "--source",
            "second",
            "--timestamp",
            "2100-01-01T00:00:00Z",
        )
        assert "roma position set shop --source second --file" in found.output, found.output
        _over_http(installation, before)
        relay.wait_for("RUNNING")
        insert(one, name, 5)
        insert(other, name, 1006)
        wait_for(kafka, name, 1, 1001, 2, 3, 1003, 4, 1005, between, 1005, 5, 1006)
    first, again = orders_of(kafka, name, 1005)
    assert first < orders_of(kafka, name, between)[0] < again
    assert_one_order(seen(kafka, name))
