"""The examples run, and what they print is what they say."""

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
EXAMPLES = Path(__file__).parents[4] / "examples"


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_out_of_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    runpy.run_path(str(EXAMPLES / "out_of_order.py"))
    said = capsys.readouterr().out
    steps = [line for line in said.splitlines() if ": " in line and not line.startswith((" ", "|"))]
    assert steps == [
        "A inserted (1 written, 0 stale): A 10.00",
        "C arrived before B (1 written, 0 stale): C 30.00",
        "B arrived late (0 written, 1 stale): C 30.00",
        "all again in one batch: C 30.00",
        "by es and binlog offset: B 20.00",
        "deleted: no row",
        "B arrived once more: no row",
    ]
    assert " |-- amount: decimal(10,2)" in said
