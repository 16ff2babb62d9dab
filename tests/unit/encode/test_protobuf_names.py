"""Files of Protobuf whose columns have names like each other, as Protobuf's compiler reads them."""

import subprocess
import sys
from pathlib import Path

import pytest

from relay.encode.formats.registered.protobuf import ProtobufRows
from relay.encode.formats.registered.protobuf_schema import proto_text
from relay.errors import NameNotInFormat
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap

NAME = TableId("shop", "t")
OPTION = "option deprecated_legacy_json_field_conflicts = true;"


def rows_of(*names: str) -> ProtobufRows:
    columns = tuple(Column(name, ColumnType.LONG, nullable=True) for name in names)
    table = TableDefinition(TableMap(NAME, columns, ()), (), ("int",) * len(names))
    return ProtobufRows(table, NAME, "x", "escape")


@pytest.mark.parametrize(
    ("names", "conflict"),
    [
        (("a_1", "a1"), True),
        (("created_at", "createdAt"), True),
        (("__", "_"), True),
        (("user_id", "userid"), False),
        (("A", "a"), False),
        (("optional", "message", "group", "reserved", "oneof", "Value", "Source"), False),
        (("a-b", "a b", "1", '"', "\\", "\x7f", "ä"), False),
    ],
)
def test_the_compiler_takes_names_that_are_alike_in_camel_case(
    names: tuple[str, ...], conflict: bool, tmp_path: Path
) -> None:
    text = proto_text(rows_of(*names).file)
    assert (OPTION in text) == conflict
    source = tmp_path / "t.proto"
    source.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{tmp_path}"]
    command += [f"--descriptor_set_out={tmp_path / 't.set'}", str(source)]
    ran = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert ran.returncode == 0, (ran.stderr.decode(), text)


def test_names_that_protobuf_does_not_allow_together_are_refused() -> None:
    """A name in JSON cannot begin with a bracket, so that of the first column is its field's."""
    with pytest.raises(NameNotInFormat, match=r"columns of shop\.t together"):
        rows_of("[a", "_u005b_a")
