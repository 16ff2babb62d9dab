"""What the overview makes of the watch's readings."""

import pytest

from api.services.watch import Facts, Moment, Selection, StatePeriod
from api.web.views.figures.sparkline import spark_path
from api.web.views.overview import MOST_UNFOLDED, Asked, chips, columns, groups, sentence
from tests.unit.api.watch.instances import view_of

NOW = 1_767_225_600_000
LIMIT_S = 60.0


def facts_of(name: str, state: str, *, alive: bool = True, **more: object) -> Facts:
    view = view_of(name, state, relay_alive=alive, **more)
    return Facts(view, StatePeriod(NOW, state, view.code, "", "r1", exact=True), rate=1200.0)


def moment_of(*facts: Facts) -> Moment:
    return Moment(NOW, {each.view.name: each for each in facts}, addresses={"shop": "db:3306"})


SHOP = facts_of("shop", "RUNNING", lag_seconds=0.4, execute_time=NOW - 2000)
ADS = facts_of("ads", "RUNNING", lag_seconds=90.0)
CRM = facts_of("crm", "STOPPED", lag_seconds=90.0, code="BINLOG_PURGED")
GONE = facts_of("gone", "STANDBY", alive=False, lag_seconds=1.0)


def test_the_sentence_counts_states_and_names_the_greatest_lag() -> None:
    assert sentence(moment_of(SHOP, ADS, CRM)) == (
        "3 instances: 2 running, 1 stopped. 3,600 rows/s now. "
        "The greatest lag of a running instance is 1 min (ads)."
    )
    assert sentence(moment_of()) == "No instance yet."


def test_rows_say_what_the_table_shows() -> None:
    moment = moment_of(SHOP, ADS, CRM, GONE)
    asked = Asked(Selection(sort="name"))
    (found,) = groups(moment, {"shop": [1.0, 2.0]}, asked, LIMIT_S)
    ads, crm, gone, shop = found.rows
    assert (shop.source, shop.lag, shop.rate, shop.change) == (
        "db:3306",
        "0.4 s",
        "1,200",
        "2.0 s ago",
    )
    assert (shop.lag_kind, ads.lag_kind, crm.lag_kind) == ("", "lag-hi", "lag-bad")
    assert (gone.relay.shown, gone.lag, gone.note) == ("", "\N{EN DASH}", "no relay leads it")
    assert (shop.flat, crm.flat, crm.code) == (False, True, "BINLOG_PURGED")


def test_a_name_stays_one_part_of_the_path() -> None:
    (found,) = groups(moment_of(facts_of("a/b?c", "RUNNING")), {}, Asked(Selection()), LIMIT_S)
    (row,) = found.rows
    assert row.path == "/instances/a%2Fb%3Fc"


def test_groups_by_state_come_in_the_order_of_their_rows() -> None:
    found = groups(moment_of(SHOP, ADS, CRM), {}, Asked(Selection(), "state"), LIMIT_S)
    assert [(each.title, len(each.rows)) for each in found] == [("Stopped", 1), ("Running", 2)]
    assert [(each.folded, each.address) for each in found] == [(False, "")] * 2


def test_a_thousand_instances_are_one_list_and_one_more_are_folded_groups() -> None:
    many = [facts_of(f"i{number}", "RUNNING") for number in range(MOST_UNFOLDED - 1)]
    (one,) = groups(moment_of(CRM, *many), {}, Asked(Selection()), LIMIT_S)
    assert (one.title, one.size, len(one.rows), one.folded) == ("", 1000, 1000, False)
    folded = groups(moment_of(CRM, ADS, *many), {}, Asked(Selection()), LIMIT_S)
    assert [(each.title, each.size, each.rows, each.folded) for each in folded] == [
        ("Stopped", 1, [], True),
        ("Running", 1000, [], True),
    ]
    assert folded[0].address == "?group=state&open=Stopped"


def test_a_folded_group_says_its_worst_state_and_an_opened_one_has_rows() -> None:
    many = [facts_of(f"i{number}", "RUNNING") for number in range(MOST_UNFOLDED)]
    asked = Asked(Selection(), "server", frozenset({"No relay", "Gone"}))
    led, nobody = groups(
        moment_of(CRM, GONE, facts_of("off", "PAUSED", relay=""), *many), {}, asked, LIMIT_S
    )
    assert (led.worst, led.worst_count, led.rows) == ("STOPPED", 1, [])
    assert (nobody.title, nobody.worst, [each.name for each in nobody.rows]) == (
        "No relay",
        "PAUSED",
        ["off"],
    )
    assert led.address.endswith("&open=Gone&open=No+relay&open=r1%2C+which+has+ended")


def test_a_filter_that_leaves_few_instances_shows_them() -> None:
    many = [facts_of(f"i{number}", "RUNNING") for number in range(MOST_UNFOLDED + 5)]
    (found,) = groups(moment_of(*many), {}, Asked(Selection("i77")), LIMIT_S)
    assert (found.folded, found.size, len(found.rows)) == (False, 11, 11)


def test_chips_and_columns_keep_the_rest_of_the_query() -> None:
    asked = Asked(Selection("db", "STOPPED", "lag"), "state")
    every, stopped, running = chips(moment_of(SHOP, ADS, CRM), asked)
    assert every.address == "?filter=db&group=state&sort=lag"
    assert (stopped.current, every.current, running.instances) == (True, False, 2)
    assert running.address == "?filter=db&state=RUNNING&group=state&sort=lag"
    lag = next(each for each in columns(asked) if each.title == "Lag")
    assert (lag.order, lag.address) == (
        "ascending",
        "?filter=db&state=STOPPED&group=state&sort=-lag",
    )


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ([], ""),
        ([None, None], ""),
        ([0.0, 0.0], "M0 21.0L88 21.0"),
        ([1.0, None, 2.0], "M0 12.0M88 3.0"),
        ([2.0, 1.0, None], "M0 3.0L44 12.0"),
    ],
)
def test_a_gap_interrupts_the_line(values: list[float | None], path: str) -> None:
    assert spark_path(values) == path
