"""Mapping documents for tests."""

import json
from collections.abc import Sequence

from relay.model.table import TableId
from relay.route import DBS, TAGS, TBS, TOPICS, MappingSet, Router
from relay.settings import RoutingSettings

Entries = Sequence[object]


def documents(
    dbs: Entries = (), tbs: Entries = (), topics: Entries = (), tags: Entries = ()
) -> dict[str, str]:
    return {
        name: json.dumps(list(body))
        for name, body in ((DBS, dbs), (TBS, tbs), (TOPICS, topics), (TAGS, tags))
    }


def router(texts: dict[str, str], **settings: object) -> Router:
    return Router(MappingSet.compile(1, texts), RoutingSettings.model_validate(settings))


def real(text: str) -> TableId:
    database, _, table = text.partition(".")
    return TableId(database, table)


DESIGN = documents(
    dbs=[{"logicDb": "logicDb1", "realDbs": "realDb11,realDb12"}],
    tbs=[{"logicTb": "logicTb1", "realTbs": "realTb11,realTb12"}],
    topics=[{"logicDb": "logicDb1", "topic": "topic1"}],
    tags=[{"logicTb": "logicTb1,field1", "tag": "tag1,f1"}, {"logicTb": "logicTb2", "tag": "tag2"}],
)
