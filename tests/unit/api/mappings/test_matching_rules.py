"""The entries that decide where a real table goes."""

import pytest

from api.services.mappings.matching_rules import matching_rules
from relay.route import DBS, TAGS, TBS, TOPICS, MappingSet
from tests.unit.route.mappings import real

DOCUMENTS = {
    DBS: """[
{"logicDb": "shop", "realDbs": "shop_01"},
{"logicDb": "shop", "realDbs": "/shop_1\\\\d/"}
]""",
    TBS: """[
{"logicTb": "client", "realTbs": "user"},
{"logicTb": "vip", "realTbs": "shop_11.user"},
{"logicTb": "log", "realTbs": "/log_\\\\d/"}
]""",
    TOPICS: """[
{"logicDb": "shop", "topic": "shop,audit"}
]""",
    TAGS: """[
{"logicTb": "client", "tag": "c"},
{"logicTb": "shop.log", "tag": "l"},
{"logicTb": "log", "tag": "x"}
]""",
}
MAPPING = MappingSet.compile(1, DOCUMENTS)


@pytest.mark.parametrize(
    ("table", "found"),
    [
        (
            "shop_01.user",
            [(DBS, 2, "shop_01"), (TBS, 2, "user"), (TOPICS, 2, "shop,audit"), (TAGS, 2, "client")],
        ),
        (
            "shop_11.user",
            [(DBS, 3, "/shop_1\\d/"), (TBS, 3, "shop_11.user"), (TOPICS, 2, "shop,audit")],
        ),
        (
            "shop_01.log_1",
            [
                (DBS, 2, "shop_01"),
                (TBS, 4, "/log_\\d/"),
                (TOPICS, 2, "shop,audit"),
                (TAGS, 3, "shop.log"),
            ],
        ),
        ("shop_01.other", [(DBS, 2, "shop_01"), (TOPICS, 2, "shop,audit")]),
        ("crm.lead", []),
    ],
)
def test_rules_with_their_lines(table: str, found: list[tuple[str, int, str]]) -> None:
    rules = matching_rules(MAPPING, DOCUMENTS, real(table))
    assert [(each.data_id, each.line, each.rule) for each in rules] == found
