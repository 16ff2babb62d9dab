"""What commands print for machines."""

import json
from pathlib import Path

from typer.testing import CliRunner

from relay.cli import app
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.operations import Shown, position_fields


def test_the_parts_of_an_execute_position_are_fields() -> None:
    told = CliRunner().invoke(app, ["position", "decode", "4503650927935488", "--json"])
    assert set(json.loads(told.output)) == {"epoch", "file_number", "offset"}


def test_problems_of_documents_are_one_object_each(tmp_path: Path) -> None:
    file = tmp_path / "topics.json"
    file.write_text('[{"logicDb": "shop"}]', encoding="utf-8")
    told = CliRunner().invoke(app, ["mapping", "check", str(file), "--json"])
    assert told.exit_code == 1
    found = [json.loads(line) for line in told.output.splitlines()]
    assert {each["document"] for each in found} == {"com.pajk.Roma.topics"}
    assert all(each["sentence"] for each in found)


def test_a_position_keeps_63_bits_as_text() -> None:
    source = SourcePosition(BinlogPosition("b.000007", 4), "0-1-2", SourceIdentity("", 1, 0))
    record = PositionRecord(source, OrderPair(5, 2**62 + 1), epoch=3, change_time_ms=5)
    fields = position_fields("shop", Shown(record, "relay-1", ()))
    assert fields["execute_position"] == str(2**62 + 1)
    assert (fields["file"], fields["offset"], fields["epoch"]) == ("b.000007", 4, 3)
    assert position_fields("shop", Shown(None, None, ())) == {"instance": "shop", "leader": None}
