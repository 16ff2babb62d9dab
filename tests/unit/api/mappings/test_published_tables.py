"""What instances publish is what their routers say of each table, however tables are shared."""

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from api.services.mappings.logical.met_tables import by_database
from api.services.mappings.logical_view import seen_mapping
from relay.errors import UnmappedName
from relay.model.table import tables_named
from relay.route import Destination, MappingSet, Router, TableFilter, problems
from relay.settings import InstanceSettings
from tests.unit.route.mappings import documents

_DATABASES = ("s1", "s2", "s3", "x")
_TABLES = ("t", "u", "u_1", "u_2")
_MET = st.lists(st.sampled_from([f"{d}.{t}" for d in _DATABASES for t in _TABLES]), unique=True)
_RULES = st.lists(
    st.tuples(
        st.sampled_from(["t", "u", "v", "shop.v", "crm.w"]),
        st.sampled_from(["t", "u", r"/u_\d/", "s1.u_1", r"/s\d/.u_2", "s2.t"]),
    ),
    max_size=4,
)
_ROUTING = st.sampled_from(
    [
        {},
        {"unmapped_table": "drop"},
        {"unmapped_table": "stop"},
        {"unmapped_db": "default_topic", "default_topic": "rest"},
        {"names": "real"},
    ]
)
_FILTER = st.sampled_from(
    [{}, {"filter_regex": r"s\d\..*"}, {"filter_black_regex": r"s1\.u.*"}, {"filter_regex": "s2.t"}]
)
_TOPICS = st.sampled_from(["shop", "{table}", "shop,{db}.{table}", "{table}.ddl"])


@given(st.dictionaries(st.sampled_from("abc"), st.tuples(_MET, _ROUTING, _FILTER)), _RULES, _TOPICS)
def test_counts_are_those_of_each_router(
    instances: dict[str, tuple[list[str], dict[str, object], dict[str, object]]],
    rules: list[tuple[str, str]],
    topic: str,
) -> None:
    found = documents(
        dbs=[{"logicDb": "shop", "realDbs": r"/s[12]/"}, {"logicDb": "crm", "realDbs": "s3"}],
        tbs=[{"logicTb": logical, "realTbs": real} for logical, real in rules],
        topics=[{"logicDb": "shop", "topic": topic}, {"logicDb": "crm", "topic": "crm"}],
    )
    if problems(found):
        return
    settings = {
        name: InstanceSettings.model_validate(
            {
                "name": name,
                "source": {"host": "h", "user": "u"},
                "routing": routing,
                "filter": names,
            }
        )
        for name, (_, routing, names) in instances.items()
    }
    met = {name: by_database(sorted(tables)) for name, (tables, *_) in instances.items()}
    seen = seen_mapping(MappingSet.compile(1, found), found, settings.values(), met)

    mapping = MappingSet.compile(1, found)
    real: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, each in settings.items():
        router, accepts = Router(mapping, each.routing), TableFilter(each.filter).accepts
        for table in filter(accepts, tables_named(instances[name][0])):
            logical = mapping.logical_database(table.database)
            try:
                route = router.route(table)
            except UnmappedName:
                continue
            if logical is not None and isinstance(route, Destination):
                key = mapping.logical_table(table, logical) or table.table
                real[f"{logical}.{key}"][name].add(str(table))
    shown = {str(each.name): each for each in seen.tables if each.seen}
    assert {name: dict(each.seen) for name, each in shown.items()} == {
        name: {instance: len(tables) for instance, tables in theirs.items()}
        for name, theirs in real.items()
    }
    assert {name: each.real_tables for name, each in shown.items()} == {
        name: len(set().union(*theirs.values())) for name, theirs in real.items()
    }
