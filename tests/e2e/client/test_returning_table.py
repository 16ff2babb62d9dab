"""A table that a mapping edit gives its former topic again, while another instance that feeds the
topic has not left it.
"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import tomli_w
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.audit import AuditTrail
from relay.cli import app
from relay.route import TOPICS
from relay.settings import RelaySettings
from relay.state import InstanceStatus
from tests.e2e.client.conftest import Shop
from tests.e2e.client.test_moved_table import PARTITIONS, move, read, subscription, write
from tests.e2e.conftest import NewInstallation
from tests.support.relays.admin_server import TOKEN, serving
from tests.support.relays.relay_process import RelayProcess
from tests.support.waiting import wait_until

CODE = "TABLE_RETURNS_EARLY"


@pytest.fixture
def shop(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> Iterator[Shop]:
    """Instance shop publishes table t, instance other table u, to one topic."""
    installation = new_installation(mariadb, kafka, partition={"partitions_num": PARTITIONS})
    name = installation.name
    mariadb.execute(f"create table {name}.u (id int primary key)")
    (first,) = installation.document["instances"]
    installation.document["instances"] = [
        {**first, "filter": {"filter_regex": f"{name}\\.t"}},
        {
            **first,
            "name": "other",
            "filter": {"filter_regex": f"{name}\\.u"},
            "source": {**first["source"], "server_id": first["source"]["server_id"] + 1},
        },
    ]
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    installation.map(tbs=[{"logicTb": "t", "realTbs": "t"}])
    settings = RelaySettings.model_validate(
        {**installation.document, "placement": {}, "api": {"port": 0, "token": TOKEN}}
    )
    with serving(settings) as server, RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        # A new instance begins where the source is at its start: it lacks rows from before.
        wait_until(
            lambda: any(
                (each.name, each.state) == ("other", "RUNNING") for each in installation.statuses()
            ),
            "the other instance",
        )
        yield Shop(installation, mariadb, kafka, relay, server.url, tmp_path)


def status(shop: Shop, instance: str = "shop") -> InstanceStatus:
    return next(each for each in shop.installation.statuses() if each.name == instance)


def wait_for_set(shop: Shop, number: int, *instances: str) -> None:
    """Wait until Kafka has a record of each instance that names this set."""

    def reached() -> bool:
        found = {each.name: each.published_set for each in shop.installation.statuses()}
        return all(found.get(each) == number for each in instances)

    wait_until(reached, f"{instances} under set {number}")


def roma(shop: Shop, *arguments: str) -> tuple[int, str]:
    told = CliRunner().invoke(app, [*arguments, "--config", str(shop.installation.file)])
    return told.exit_code, told.output


def begin(shop: Shop) -> int:
    """Let both instances feed the first topic, pause `other`, and move the tables away.

    Return the number of the first set.
    """
    first = shop.installation.mapping_number()
    shop.execute(f"insert into {shop.name}.u values (1)")
    wait_for_set(shop, first, "shop", "other")
    # The record of a first start names the set as well, before `other` feeds the topic.
    wait_until(lambda: status(shop, "other").published_rows == 1, "the row of other")
    assert roma(shop, "instance", "pause", "other")[0] == 0
    wait_until(lambda: status(shop, "other").state == "PAUSED", "the pause")
    move(shop, f"{shop.name}-second")
    wait_for_set(shop, first + 1, "shop")
    return first


def test_an_edit_back_waits_until_all_instances_have_left_the_topic(shop: Shop) -> None:
    write(shop, 1)
    with subscription(shop) as changes:
        first = begin(shop)
        seen = read(changes, 2)
        refused(shop, first)
        move(shop, shop.name)  # as an older admin saves it
        wait_until(lambda: CODE in status(shop).mapping_problem, "the held set")
        write(shop, 2)
        shop.relay.kill()  # the next session holds it as well
        shop.relay.start()
        shop.relay.wait_for("RUNNING")
        wait_until(lambda: CODE in status(shop).mapping_problem, "the held set")
        write(shop, 3)
        assert (status(shop).mapping_set, status(shop).published_set) == (first + 1, first + 1)
        assert roma(shop, "instance", "resume", "other")[0] == 0
        wait_for_set(shop, first + 2, "shop", "other")
        assert status(shop).mapping_problem == ""
        write(shop, 4)
        seen += read(changes, 6)
    second = f"{shop.name}-second"
    topics = ((shop.name, 1), (second, 2), (second, 3), (shop.name, 4))
    assert sorted(seen) == sorted((topic, id_, n) for topic, n in topics for id_ in (0, n))
    assert [n for _, id_, n in seen if id_ == 0] == [1, 2, 3, 4], "each key has its order"
    assert roma(shop, "mapping", "rollback", str(first + 1), "--yes", shop.name)[0] == 0


def refused(shop: Shop, number: int) -> None:
    """See that neither command nor admin goes back to a set, and that a dry run says so."""
    code, text = roma(shop, "mapping", "rollback", str(number), "--yes", shop.name)
    assert (code, CODE in text, "other" in text) == (1, True, True)
    with admin_of(shop) as client:
        asked, base = {"set": number}, {"If-Match": f'"{number + 1}"'}
        answer = client.post("/api/v1/mappings/rollback", json=asked, headers=base)
        assert (answer.status_code, answer.json()["code"]) == (409, CODE)
        topics = [{"logicDb": shop.name, "topic": shop.name}]
        trial = client.post("/api/v1/mappings/dry-run", json={TOPICS: topics}).json()
        assert (trial["acceptable"], "other" in trial["problems"][0]["sentence"]) == (False, True)
        form = {"set": str(number), "base": str(number + 1), "comment": "back"}
        page = client.post("/mappings/rollback", data=form)
        assert (page.status_code, CODE in page.text) == (409, True)
        assert client.get("/api/v1/mappings/sets").json()[0]["set"] == number + 1


def admin_of(shop: Shop) -> httpx.Client:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return httpx.Client(base_url=shop.admin, headers=headers, trust_env=False, timeout=60)


def test_no_edit_waits_for_an_instance_that_was_retired(shop: Shop) -> None:
    write(shop, 1)
    first = begin(shop)
    assert "leads instance" in roma(shop, "instance", "retire", "other", "--yes", shop.name)[1]
    shop.relay.stop()
    shop.installation.document["instances"].pop()
    shop.installation.file.write_text(tomli_w.dumps(shop.installation.document), encoding="utf-8")
    shop.relay.start()
    shop.relay.wait_for("RUNNING")
    back = ("mapping", "rollback", str(first), "--yes", shop.name)
    assert roma(shop, *back)[0] == 1
    with admin_of(shop) as client:
        answer = client.post("/api/v1/instances/other/retire")
        assert answer.json() == {"topics": [shop.name]}
    (entry,) = AuditTrail(shop.installation.settings.kafka, shop.name).entries(1)
    assert (entry.act, entry.subject) == ("instance.retired", "other")
    assert (
        "publishes to no topic" in roma(shop, "instance", "retire", "other", "--yes", shop.name)[1]
    )
    assert roma(shop, *back)[0] == 0
    wait_for_set(shop, first + 2, "shop")
