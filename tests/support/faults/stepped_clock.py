"""A separate wall clock for child processes, which a test sets forward and back. Their monotonic
clock is unchanged.
"""

import mmap
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Final, Self

_SOURCE: Final = Path(__file__).with_name("stepped_clock.c")
_OFFSET: Final = struct.Struct("<q")


def can_step_clocks() -> bool:
    """Whether this machine has the C compiler that builds the clock."""
    return shutil.which("cc") is not None


class SteppedClock:
    """Processes with this `environment` read a wall clock that is `offset_s` ahead of this
    machine's.
    """

    def __init__(self, folder: Path) -> None:
        """Compile the library that is loaded into the processes."""
        library, file = folder / "stepped_clock.so", folder / "clock_offset"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(_SOURCE), "-ldl"], check=True
        )
        file.write_bytes(_OFFSET.pack(0))
        with file.open("r+b") as opened:
            self._offset = mmap.mmap(opened.fileno(), _OFFSET.size)
        self.environment = {"LD_PRELOAD": str(library), "ROMA_CLOCK_OFFSET_FILE": str(file)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._offset.close()

    @property
    def offset_s(self) -> int:
        """Seconds that the processes' clock is ahead."""
        return int(_OFFSET.unpack(self._offset[: _OFFSET.size])[0])

    def step(self, seconds: int) -> None:
        """Set the processes' clock forward, or back where `seconds` is negative."""
        self._offset[: _OFFSET.size] = _OFFSET.pack(self.offset_s + seconds)
