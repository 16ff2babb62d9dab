"""What a page tells of a status in words of its own."""

import pytest

from api.services.watch.addresses import grouped_addresses
from api.services.watch.facts import held_back_by, missing_files, unmapped_name
from relay.errors import UnmappedName
from relay.model.table import TableId
from relay.route import DBS, TOPICS, MappingSet, Router
from relay.settings import InstanceSettings, RoutingSettings
from tests.unit.api.watch.instances import view_of

DOCUMENTS = {
    DBS: '[{"logicDb":"crm","realDbs":"crm_01"}]',
    TOPICS: '[{"logicDb":"crm","topic":"crm"}]',
}


@pytest.mark.parametrize(
    ("real", "name"),
    [(TableId("crm_01", "lead"), "crm_01.lead"), (TableId("crm_02", "lead"), "crm_02")],
)
def test_the_name_that_the_mapping_lacks_is_that_of_the_relays_reason(
    real: TableId, name: str
) -> None:
    settings = RoutingSettings(unmapped_db="stop", unmapped_table="stop")
    with pytest.raises(UnmappedName) as stopped:
        Router(MappingSet.compile(1, DOCUMENTS), settings).route(real)
    assert unmapped_name(view_of(code=stopped.value.code, reason=stopped.value.reason)) == name


def test_another_stop_names_no_table() -> None:
    reason = "No table mapping lists crm_01.lead."
    assert unmapped_name(view_of(code="BINLOG_PURGED", reason=reason)) == ""
    narrow = "The mapping's regular expressions put the real table a.b under several names."
    assert unmapped_name(view_of(code="UNMAPPED_NAME", reason=narrow)) == ""


@pytest.mark.parametrize(
    ("held_back", "words"),
    [
        ("3 rows/s", "limited to 3 rows/s"),
        ("3 rows/s, 50 bytes/s", "limited to 3 rows/s, 50 bytes/s"),
        ("paused by ann: disks", "paused by ann: disks"),
        ("", ""),
    ],
)
def test_a_limit_is_called_a_limit(held_back: str, words: str) -> None:
    assert held_back_by(view_of(held_back=held_back)) == words


def test_each_source_of_a_group_has_its_own_address() -> None:
    single = {"name": "stock", "source": {"host": "a", "user": "u"}}
    group = {"name": "south", "sources": [{"name": "north", "host": "b", "port": 3307}]}
    assert grouped_addresses(InstanceSettings.model_validate(single)) == {}
    assert grouped_addresses(InstanceSettings.model_validate({**single, "group": group})) == {
        "south": "a:3306",
        "north": "b:3307",
    }


@pytest.mark.parametrize(
    ("reason", "files"),
    [
        (
            (
                "The position is in mysql-bin.004211; the oldest binlog file of the source is "
                "mysql-bin.004219."
            ),
            "mysql-bin.004211 to mysql-bin.004218 (8 files)",
        ),
        (
            (
                "The position is db.1.000009:4711, and the oldest binlog file of the source is "
                "db.1.000010. The last published transaction, 0-1-7, is purged: nothing shows it."
            ),
            "db.1.000009",
        ),
        ("The position is in a.000003; the oldest binlog file of the source is b.000004.", ""),
        ("The source no longer has the binlog of 0-1-7, which was not published yet.", ""),
    ],
)
def test_the_files_that_the_source_purged(reason: str, files: str) -> None:
    assert missing_files(view_of(code="BINLOG_PURGED", reason=reason)) == files
    assert missing_files(view_of(code="SOURCE_LOST_TRANSACTIONS", reason=reason)) == ""
