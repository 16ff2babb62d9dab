"""BINLOG_PURGED says that the spool was cut: it may have held what the source no longer has."""

from pathlib import Path

from relay.errors import BinlogPurged
from relay.model.positions.position import BinlogPosition, SourceIdentity, SourcePosition
from relay.pipeline.delivery.instance_stats import Meter
from relay.pipeline.spooling.spool_controller import SpoolController
from relay.settings import InstanceSettings, SourceSettings
from relay.spool import Spool

_PURGED = BinlogPurged("The position lies in binlog.000001.")


def _spooling(folder: Path) -> SpoolController:
    source = SourceSettings(host="127.0.0.1", user="relay")
    spooled = {"spool": "mixed", "spooling": {"directory": folder}}
    return SpoolController("roma", InstanceSettings.model_validate({"name": "shop", "source": source, **spooled}), Meter())


def test_a_cut_spool_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "roma" / "shop"
    spool = Spool(folder, 100_000_000)
    spool.begin(SourcePosition(BinlogPosition("binlog.000001", 4), "", SourceIdentity("", 1, 1)))
    spool.close()
    spooling = _spooling(tmp_path)
    with spooling.leading():
        assert spooling.explained(_PURGED) is _PURGED
    with max(folder.rglob("*.spool")).open("ab") as file:
        file.write(b"torn")
    spooling = _spooling(tmp_path)
    with spooling.leading():
        error = spooling.explained(_PURGED)
    assert error.reason.startswith(_PURGED.reason)
    assert "its last 4 bytes were damaged" in error.reason
    assert error.way_out == _PURGED.way_out
