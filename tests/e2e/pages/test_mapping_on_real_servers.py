"""A mapping edited on the page changes where the next row of a real source goes."""

from playwright.sync_api import Browser, expect

from deploy.embedded import Kafka, MariaDB
from relay.settings import ApiSettings
from tests.e2e.conftest import NewInstallation
from tests.support.browser import opened
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until


def ids(kafka: Kafka, topic: str) -> list[str]:
    return [
        row["id"]
        for seen in read_topic(kafka.bootstrap, topic)
        if seen.value is not None
        for row in seen.value["data"]
    ]


def set_of(installation: Installation) -> int:
    status = installation.status()
    return 0 if status is None else status.mapping_set


def test_an_edit_on_the_page_moves_the_next_row_and_a_broken_one_is_refused(
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
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
        wait_until(lambda: ids(kafka, name) == ["1"], "the first row in the first topic")

        page.goto("/mappings/edit#topics")
        text = page.get_by_role("textbox", name="com.pajk.Roma.topics")
        text.fill(f'[\n  {{"logicDb": "{name}",\n   "topic": "no topic"}}\n]')
        page.get_by_role("button", name="Show what changes").click()
        expect(page.get_by_role("link", name="Line 3")).to_be_visible()

        text.fill(f'[\n  {{"logicDb": "{name}",\n   "topic": "{name}_2"}}\n]')
        page.get_by_role("button", name="Show what changes").click()
        expect(page.get_by_text(f"moved from topic {name} to topic {name}_2.")).to_be_visible()
        page.get_by_label("Comment").fill("a topic of its own")
        page.get_by_role("button", name="Save set 2").click()
        expect(page.get_by_text("The set is saved.")).to_be_visible()

        wait_until(lambda: set_of(installation) == 2, "the relay to use set 2")
        mariadb.execute(f"insert into {name}.t values (2, 2, 'b')")
        wait_until(lambda: ids(kafka, f"{name}_2") == ["2"], "the next row in the new topic")
        assert ids(kafka, name) == ["1"]
        wait_until(
            lambda: "mapping.saved" in [each["act"] for each in admin.get("/api/v1/audit").json()],
            "the save in the audit trail",
        )
