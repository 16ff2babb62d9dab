"""Which foreign keys change rows without a word in the binlog."""

import pytest

from relay.model.table import TableId
from relay.pipeline.supervision.unlogged_cascades import cascades_in_words, is_relayed
from relay.schema.catalog.cascades import Cascade, cascades_are_logged, cascades_of
from relay.settings import InstanceSettings


@pytest.mark.parametrize(
    ("version", "native", "logged"),
    [
        ("11.4.5-MariaDB-log", "", False),
        ("5.5.5-10.6.1-MariaDB", "", False),
        ("8.0.33", "", False),
        ("9.5.0", "", False),
        ("9.6.0", "OFF", True),
        ("9.7.4-commercial", "", True),
        ("9.7.4", "ON", False),
        ("10.0.1", "OFF", True),
        ("unknown", "", False),
    ],
)
def test_who_logs_cascades(version: str, native: str, logged: bool) -> None:
    assert cascades_are_logged(version, native) is logged


def test_only_actions_that_change_rows_count() -> None:
    created = """CREATE TABLE `c` (
  `id` int(11) NOT NULL COMMENT 'CONSTRAINT `no` FOREIGN KEY (`a`) REFERENCES `p` (`a`) ON DELETE CASCADE',
  `a` int(11) DEFAULT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `c_1` FOREIGN KEY (`a`, `b`) REFERENCES `p` (`a`, `b`) ON DELETE SET NULL ON UPDATE CASCADE,
  CONSTRAINT `c_2` FOREIGN KEY (`a`) REFERENCES `other``s`.`q` (`a`) ON DELETE NO ACTION ON UPDATE SET DEFAULT,
  CONSTRAINT `c_3` FOREIGN KEY (`a`) REFERENCES `p` (`a`),
  CONSTRAINT `c_4` FOREIGN KEY (`a`) REFERENCES `p` (`a`) ON UPDATE NO ACTION,
  CONSTRAINT `c_5` CHECK (`a` > 0)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"""  # noqa: E501
    assert [str(each) for each in cascades_of(TableId("d", "c"), created)] == [
        "d.c (ON DELETE SET NULL, ON UPDATE CASCADE of d.p)",
        "d.c (ON UPDATE SET DEFAULT of other`s.q)",
    ]


def test_tables_that_the_filter_leaves_out_do_not_count() -> None:
    source = {"host": "127.0.0.1", "user": "relay", "server_id": 1}
    instance = InstanceSettings.model_validate(
        {"name": "shop", "source": source, "filter": {"filter_black_regex": r"d\.t[01]"}}
    )
    relayed = is_relayed(instance, None)
    assert [number for number in range(4) if relayed(TableId("d", f"t{number}"))] == [2, 3]


def test_many_tables_are_shortened() -> None:
    found = [
        Cascade(TableId("d", f"t{number}"), TableId("d", "p"), ("ON DELETE CASCADE",))
        for number in range(7)
    ]
    assert cascades_in_words(found).endswith(", d.t4 (ON DELETE CASCADE of d.p) and 2 more.")
    assert cascades_in_words([]) == ""
