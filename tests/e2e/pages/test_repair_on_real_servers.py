"""Rows that are published again from the page: a running relay carries the request out."""

import json
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, expect

from deploy.embedded import Kafka, MariaDB
from relay.audit import AuditTrail
from relay.settings import ApiSettings
from tests.e2e.conftest import NewInstallation
from tests.support.browser import opened
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until


def test_rows_that_a_consumer_lacks_are_repaired_from_the_page_and_over_http(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, browser: Browser
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    settings = installation.settings.model_copy(
        update={"api": ApiSettings.model_validate({"port": 0, "token": TOKEN})}
    )
    with (
        RelayProcess(installation) as relay,
        admin_client(settings) as admin,
        opened(browser, str(admin.base_url)) as page,
    ):
        relay.wait_for("RUNNING")
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin")
        mariadb.execute(*(f"insert into {name}.t values ({i}, {i}, 'a')" for i in (1, 2, 3)))
        wait_until(lambda: values(kafka, name) == {"1": "a", "2": "a", "3": "a"}, "the rows")
        # Changes that no binlog has: a consumer's copy is wrong from now on.
        mariadb.execute(
            "set sql_log_bin = 0",
            f"update {name}.t set v = 'changed' where id in (2, 3)",
            f"insert into {name}.t values (4, 4, 'hidden')",
        )

        repair_by_page(page, f"{name}.t", ["2", "4", "5"])
        wait_until(lambda: values(kafka, name).get("4") == "hidden", "the missing row")
        assert values(kafka, name) == {"1": "a", "2": "changed", "3": "a", "4": "hidden"}
        expect(page.locator("#copies-list")).to_contain_text("Done")

        repair_by_report(admin, f"{name}.t", "3")
        wait_until(lambda: values(kafka, name)["3"] == "changed", "the row of the report")
        assert sorted(each.snapshot for each in rows(kafka, name)) == [False] * 3 + [True] * 3
        mariadb.execute(f"insert into {name}.t values (6, 6, 'live')")
        wait_until(lambda: values(kafka, name).get("6") == "live", "the live stream")
        relay.wait_for("RUNNING")
    assert_audited(installation)


def repair_by_page(page: Page, table: str, keys: list[str]) -> None:
    page.goto("/instances/shop/copies")
    page.get_by_role("link", name="Repair rows").click()
    page.get_by_label("Table", exact=True).fill(table)
    page.get_by_label("Keys, one per line").fill("\n".join(keys))
    page.get_by_role("button", name="Show what will happen").click()
    expect(page.get_by_text("reads the present rows of 3 keys")).to_be_visible()
    page.get_by_label("Comment").fill("ticket 7")
    page.get_by_role("button", name="Publish these rows again").click()
    expect(
        page.get_by_text("The repair is requested. It begins when earlier requests are done.")
    ).to_be_visible()


def repair_by_report(admin: httpx.Client, table: str, key: str) -> None:
    found = {"key": json.dumps([table, key]), "what": "other values"}
    report = {"tables": [{"table": table, "different": [found]}]}
    wish = {"report": report, "instances": ["shop"]}
    told = admin.post("/api/v1/snapshots/repair/preview", json=wish).json()["sentences"]
    assert "the present rows of 1 key" in told[0]
    made = admin.post("/api/v1/snapshots/repair", json=wish)
    assert (made.status_code, len(made.json()["made"])) == (202, 1), made.text


def rows(kafka: Kafka, topic: str) -> list[Seen]:
    return [each for each in read_topic(kafka.bootstrap, topic) if each.value is not None]


def values(kafka: Kafka, topic: str) -> dict[str, Any]:
    """What a consumer has that keeps the newest row of each key."""
    return {
        row["id"]: row["v"] for each in rows(kafka, topic) for row in (each.value or {})["data"]
    }


def assert_audited(installation: Installation) -> None:
    trail = AuditTrail(installation.settings.kafka, installation.name)
    entries = [each for each in trail.entries(20) if each.act == "snapshot.started"]
    assert [(each.actor, each.subject, each.comment) for each in entries] == [
        ("api.token", "shop", ""),
        ("api.token", "shop", "ticket 7"),
    ]
