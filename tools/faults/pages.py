"""Writes the page of figures of the relay, and of other programs under the same faults."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tools.bench.measuring.machine import Setting
from tools.bench.measuring.report import Report
from tools.faults.outcome import Outcome, report

_PEERS: Final = """
## Other programs under such faults

These runs were made earlier, on a machine of the same kind: MariaDB 10.11.19 and MySQL 9.7.4,
Kafka 4.1 with one broker, about 1 050 changes a second in small transactions, and the same
comparison. *Repeated* are changes that were delivered again. *Back* are older values that a
consumer got after a newer value of the same key. The last column has the longest silence, or the
time of the takeover; these seconds are upper bounds.

| fault | program | lost | repeated | back | silence or takeover, s |
|---|---|---:|---:|---:|---:|
| `kill -9` five times | Canal | 0 | 667 to 4 523 | 76 to 988 | 6 to 19 |
| | Maxwell | 0 | 1 325 to 6 602 | 118 to 2 536 | 4 to 20 |
| | Debezium Server | 0 | 642 to 3 517 | 88 to 1 334 | 9 to 43 |
| broker killed for about 30 s | all three | 0 | 0 | 0 | 26 to 38 |
| broker killed three times while the program had a backlog | Canal | 0 | 40 | 1 | 26 to 30 for each kill |
| paused for 20 s | all three | 0 | 0 | 0 | 20; Canal 14 s longer |
| two servers, the active one paused past its session and continued | Canal | 0 | 93 109 of 93 469 | 91 109 | 50; then both servers send until the end of the run |
| two servers, the active one killed | Canal | 0 | 261 to 976 | 15 to 202 | 50 to 57 |
| connection to the source cut for 10 s, then all packets dropped for 20 s | Canal | 0 | 0 | 0 | 19, then 35 |
| | Maxwell, started again by a supervisor | 0 | 1 044 | 238 | 32, then 20 |
| | Maxwell, without a supervisor | 73 654 of 78 466 (it exits) | | | |
| | Debezium Server | 0 | 0 | 0 | 112 over both faults |
"""  # noqa: E501


def write(folder: Path, outcomes: Sequence[Outcome], here: Setting) -> None:
    """Write faults.json with every run, and faults.md with the table."""
    page = report(outcomes)
    page.write(folder, "faults", here)
    file = folder / "faults.md"
    file.write_text(file.read_text(encoding="utf-8") + _PEERS, encoding="utf-8")


def write_soak(folder: Path, lines: Sequence[str], here: Setting) -> None:
    """Write the page soak.md from the results."""
    Report("The relay under random faults for a long time", (), (), lines, ()).write(
        folder, "soak", here
    )
