"""Rates of real tables add up to those of logical ones, and no rate is invented."""

from api.services.mappings.effects.load import InstanceRates
from api.services.mappings.logical.table_rates import TableRates, TableRatesReader
from relay.model.table import TableId
from relay.route import DBS, TBS, TOPICS, MappingSet

MAPPING = MappingSet.compile(
    1,
    {
        DBS: '[{"logicDb": "shop", "realDbs": "shop_01,shop_02"}]',
        TBS: '[{"logicTb": "client", "realTbs": "user,customer"}]',
        TOPICS: '[{"logicDb": "shop", "topic": "shop"}]',
    },
)
CLIENT, CART = TableId("shop", "client"), TableId("shop", "cart")
RATES = {
    "a": InstanceRates(9.0, {"shop_01.user": 2.0, "shop_02.customer": 3.0, "shop_01.cart": 1.0}),
    "b": InstanceRates(5.0, {"shop_01.user": 4.0, "(other)": 1.0}),
    "old": InstanceRates(5.0, None),
    "crm": InstanceRates(1.0, {"crm.lead": 1.0}),
}


def read(rates: dict[str, InstanceRates] = RATES) -> TableRates:
    return TableRatesReader(lambda: rates).read(MAPPING)


def test_real_tables_of_several_shards_and_names_add_up() -> None:
    assert read().of(CLIENT, {"a": 2}) == (5.0, False)
    assert read().of(CART, {"a": 1}) == (1.0, False)
    assert read().of(TableId("crm", "lead"), {"crm": 1}) == (0.0, False), "it is not mapped"


def test_a_rate_is_a_bound_where_tables_or_instances_have_none() -> None:
    assert read().of(CLIENT, {"a": 2, "b": 1}) == (9.0, True)
    assert read().of(CLIENT, {"a": 2, "old": 1}) == (5.0, True)
    assert read().of(CLIENT, {"old": 1}) == (None, False)
    assert read().of(CLIENT, {}) == (None, False)


def test_the_sum_is_kept_until_rates_are_read_anew() -> None:
    present = dict(RATES)
    reader = TableRatesReader(lambda: present)
    first = reader.read(MAPPING)
    assert reader.read(MAPPING) is first
    present = {"a": InstanceRates(1.0, {"shop_01.user": 7.0})}
    assert reader.read(MAPPING).of(CLIENT, {"a": 1}) == (7.0, False)
