"""An operator's orders from the page, carried out by a real relay on real servers under load."""

from contextlib import ExitStack

from playwright.sync_api import Browser, Page, expect
from pydantic import SecretStr

from deploy.embedded import Kafka, MariaDB
from relay.settings import RelaySettings
from tests.e2e.conftest import NewInstallation
from tests.servers.availability import require
from tests.servers.running import running
from tests.support.browser import opened
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import CountingLoad, assert_in_order
from tests.support.sources.source_pair import caught_up
from tests.support.waiting import wait_until


def test_a_pause_a_resume_and_a_switch_from_the_page_lose_and_repeat_nothing(
    kafka: Kafka, new_installation: NewInstallation, browser: Browser
) -> None:
    require(MariaDB)
    with ExitStack() as stack:
        master, replica = (
            stack.enter_context(running(MariaDB({"log_slave_updates": "ON"}))) for _ in range(2)
        )
        replica.replicate_from(master)
        installation = new_installation(
            master,
            kafka,
            source={
                "standby": {"host": replica.host, "port": replica.port},
                "heartbeat_seconds": 0.2,
            },
            failover={"detecting_interval_seconds": 0.2, "retry_threshold": 2},
        )
        relay = stack.enter_context(RelayProcess(installation))
        relay.wait_for("RUNNING")
        admin = stack.enter_context(admin_client(settings_of(installation)))
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        page = stack.enter_context(opened(browser, str(admin.base_url)))
        with CountingLoad(master, installation.name) as load:
            pause_and_resume(page, relay)
            switch(page)
            installation.wait_for_epoch(1, "the standby is read")
        caught_up(replica, master)
        wait_until(lambda: len(seen(kafka, installation)) >= load.changes, "everything published")
        assert len(seen(kafka, installation)) == load.changes
        assert_in_order(read_topic(kafka.bootstrap, installation.name))
        expect_standby(page)
        (switched,) = installation.failover.history("shop")
        assert (switched.to, switched.asked_by) == ("standby", "api.token")


def settings_of(installation: Installation) -> RelaySettings:
    settings = installation.settings
    api = settings.api.model_copy(update={"token": SecretStr(TOKEN), "port": 0})
    return settings.model_copy(update={"api": api})


def pause_and_resume(page: Page, relay: RelayProcess) -> None:
    page.goto("/instances/shop")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("textbox", name="Comment").fill("broker disks")
    page.get_by_role("button", name="Pause shop").click()
    expect(page.get_by_text("The pause is ordered.")).to_be_visible()
    relay.wait_for("PAUSED")
    expect(page.locator("#live-head .s-PAUSED")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Resume shop").click()
    expect(page.get_by_text("The instance continues.")).to_be_visible()
    relay.wait_for("RUNNING")


def switch(page: Page) -> None:
    page.goto("/failover?instance=shop")
    page.get_by_role("button", name="Switch to the standby").click()
    order = page.get_by_role("button", name="Order the switch")
    expect(page.get_by_role("heading", name="Read the standby of shop")).to_be_focused()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Comment (required)").fill("upgrade")
    dialog.get_by_label("Type shop to confirm").fill("shop")
    order.click()
    expect(page.get_by_text("The switch is ordered.")).to_be_visible()


def expect_standby(page: Page) -> None:
    expect(page.locator("#detail .srv.read h3")).to_have_text("Standby")
    page.goto("/instances/shop")
    expect(page.locator("#live-head .s-RUNNING")).to_be_visible()
    assert "no value is known" not in (
        page.locator("#live-charts svg").first.get_attribute("aria-label") or ""
    )


def seen(kafka: Kafka, installation: Installation) -> list[object]:
    return list(read_topic(kafka.bootstrap, installation.name))
