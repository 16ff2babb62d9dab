"""`roma --help` answers at once: it imports no library of the commands."""

import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

_ROOT = Path(__file__).parents[3]
_MODULES = (
    "import sys; from relay.cli import app; "
    "print(*{name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names))"
)


def _cpu_seconds() -> float:
    """The CPU time of one run."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "relay", "--help"], cwd=_ROOT, check=True, stdout=subprocess.DEVNULL
    )
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_no_library_of_a_command_is_imported() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _MODULES], cwd=_ROOT, check=True, capture_output=True, text=True
    )
    loaded = set(ran.stdout.split())
    heavy = {
        "confluent_kafka",
        "fastapi",
        "kazoo",
        "orjson",
        "pydantic",
        "pymysql",
        "rich",
        "structlog",
    }
    assert "relay" in loaded
    assert loaded & heavy == set()


def test_it_takes_less_than_0_3_seconds_of_cpu_time() -> None:
    assert min(_cpu_seconds() for _ in range(5)) < 0.3
