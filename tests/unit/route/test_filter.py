"""Canal's filters over real names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import ConfigurationError
from relay.model.change import Operation
from relay.model.table import TableId
from relay.route import TableFilter
from relay.settings import FilterSettings
from tests.unit.route.mappings import real


def passes(table: str, white: str = ".*\\..*", black: str = "") -> bool:
    return TableFilter(FilterSettings(filter_regex=white, filter_black_regex=black)).accepts(
        real(table)
    )


@pytest.mark.parametrize(
    ("table", "white", "black", "expected"),
    [
        ("shop.order", ".*\\..*", "", True),
        ("shop.order", "", "", True),
        ("shop.order", "shop\\..*", "", True),
        ("Shop.ORDER", "shop\\.order", "", True),
        ("shop.order", "SHOP\\.Order", "", True),
        ("shop.orders", "shop\\.order", "", False),
        ("myshop.order", "shop\\.order", "", False),
        ("shop.order", "a\\..*,shop\\.order", "", True),
        ("shop.order_12", "shop\\.order_\\d{1,2}", "", True),
        ("shop.order_123", "shop\\.order_\\d{1,2},x\\.y", "", False),
        ("fooooot.t", "foooo|f.*t\\.t", "", False),
        ("fooooot.t", "foooo.*,f.*t\\.t", "", True),
        ("shop.order", "shop\\.user, shop\\.order", "", False),
        ("mysql.slave_info", ".*\\..*", "mysql\\.slave_.*", False),
        ("shop.order", ".*\\..*", "mysql\\.slave_.*", True),
        ("b.cx", "a\\.c|b\\.c", "", False),
    ],
)
def test_names_pass_as_in_canal(table: str, white: str, black: str, expected: bool) -> None:
    assert passes(table, white, black) is expected


@pytest.mark.parametrize("setting", ["filter_regex", "filter_black_regex"])
def test_a_broken_expression_is_refused_by_name(setting: str) -> None:
    with pytest.raises(ConfigurationError, match=setting):
        TableFilter(FilterSettings.model_validate({setting: "shop.(a"}))


def test_an_expression_that_python_would_read_otherwise_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="nested set"):
        TableFilter(FilterSettings(filter_regex="shop\\.[[:alpha:]]+"))


def test_operations_are_chosen_by_name() -> None:
    chosen = TableFilter(FilterSettings(operations=("INSERT", "DDL"), filter_regex="a\\..*"))
    assert chosen.accepts_operation(Operation.INSERT)
    assert not chosen.accepts_operation(Operation.DELETE)
    assert chosen.accepts_statement([real("b.x"), real("a.x")], is_ddl=True)
    assert not chosen.accepts_statement([real("b.x")], is_ddl=True)
    assert chosen.accepts_statement([], is_ddl=True)
    assert not TableFilter(FilterSettings(operations=("INSERT",))).accepts_statement(
        [real("a.x")], is_ddl=True
    )
    assert TableFilter(FilterSettings(operations=("INSERT",))).accepts_statement(
        [real("a.x")], is_ddl=False
    )


@given(st.text("abAB._é", min_size=1), st.text("abAB._é", min_size=1))
def test_the_default_lets_every_table_pass(database: str, table: str) -> None:
    assert TableFilter(FilterSettings()).accepts(TableId(database, table))


@pytest.mark.parametrize(
    ("white", "expected"),
    [
        ("", True),
        (r".*\..*", True),
        (r"shop_\d+\.order", True),
        (r"crm\..*,SHOP_01\..*", True),
        (r"crm_.*\..*", False),
        (r"crm\..*,ads\.banner", False),
        (r"(crm|ads)\..*", True),  # such expressions are not taken apart
        (r"crm\..*|shop.*", True),
        (r"crm_\d{1,2}\..*", True),
        ("crm.order", True),
    ],
)
def test_a_filter_may_accept_a_database_whose_name_it_has(white: str, *, expected: bool) -> None:
    names = TableFilter(FilterSettings(filter_regex=white))
    assert names.may_accept_of("shop_01") is expected


@pytest.mark.parametrize(
    ("white", "black", "expected"),
    [
        (r".*\..*", "", True),
        ("", "", True),
        (r"shop_\d{1,2}\..*", "", True),
        (r"crm\..*,SHOP_01\..*", r"mysql\.slave_.*", True),
        (r".*\..*", r"shop_01\.orders", False),
        (r".*\..*", ".*log", False),
        (r"crm\..*", "", False),
        (r"shop_01\.orders", "", False),
        (r"shop|shop_01\..*", "", False),  # the first alternative decides
        (r"shop_01$\..*", "", False),
        (r"shop_01\\..*", "", False),
    ],
)
def test_a_filter_accepts_all_of_a_database(white: str, black: str, *, expected: bool) -> None:
    names = TableFilter(FilterSettings(filter_regex=white, filter_black_regex=black))
    assert names.accepts_all_of("shop_01") is expected


_PARTS = st.lists(
    st.tuples(
        st.sampled_from(["a", "ab", "a.*", ".*", r"a\d+", "[ab]+", "a|b", "(a|b)", "a$", "*"]),
        st.sampled_from([r"\..*", r"\.t", "", ".*", r"\\..*"]),
    ).map("".join),
    max_size=3,
).map(",".join)


@given(_PARTS, _PARTS, st.sampled_from(["a", "ab", "a7", "b", "A"]), st.text("atT7.", min_size=1))
def test_a_database_that_is_accepted_as_a_whole_has_no_refused_table(
    white: str, black: str, database: str, table: str
) -> None:
    try:
        names = TableFilter(FilterSettings(filter_regex=white, filter_black_regex=black))
    except ConfigurationError:
        return
    if names.accepts_all_of(database):
        assert names.accepts(TableId(database, table))


@pytest.mark.parametrize(
    ("white", "black", "step"),
    [
        ("", "", "No filter_regex is set, so every table is included."),
        (r"crm\..*,shop\..*", "", r"filter_regex shop\..* includes it."),
        (r"crm\..*", "", "No expression of filter_regex matches it."),
        (r"shop\..*", r".*\.user,a\..*", r"filter_black_regex .*\.user leaves it out."),
    ],
)
def test_the_step_of_a_table_names_the_deciding_expression(
    white: str, black: str, step: str
) -> None:
    settings = FilterSettings(filter_regex=white, filter_black_regex=black)
    assert TableFilter(settings).step(TableId("shop", "user")) == step
