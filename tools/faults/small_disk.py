"""A broker with two log directories, one of them on a small separate disk that can be filled."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from deploy.embedded import Kafka

_DISK_BYTES: Final = 64_000_000
_FILLER: Final = "filler"
# The mount is in the broker's namespace and ends with it; its content stays in the image.
_MOUNTED: Final = """
cp -n "$1/logs/meta.properties" "$0.meta"
mount -o loop "$0" "$1" && mkdir -p "$1/logs" && cp -n "$0.meta" "$1/logs/meta.properties" && shift && exec "$@"
"""  # noqa: E501


class SmallDiskKafka(Kafka):
    """A broker with a small log directory; needs root for the mount."""

    def __init__(self, properties: dict[str, str | int]) -> None:
        directories: dict[str, str | int] = {
            "log.dirs": "data,small/logs",
            "metadata.log.dir": "data",
            "log.index.size.max.bytes": 100_000,
        }
        super().__init__({**properties, **directories})

    def fill(self) -> None:
        """Fill the small disk completely."""
        with (self._disk() / _FILLER).open("wb", buffering=0) as file:
            try:
                while file.write(b"\0" * 4096):
                    pass
            except OSError:
                return

    def make_room(self) -> None:
        """Delete the files that `fill` has written. The broker must run."""
        (self._disk() / _FILLER).unlink()

    def _prepare(self) -> None:
        image = self.folder / "disk.img"
        if not image.exists():
            with image.open("wb") as file:
                file.truncate(_DISK_BYTES)
            subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", str(image)], check=True)
            (self.folder / "small").mkdir()
        super()._prepare()

    def _command(self) -> Sequence[str | Path]:
        return [
            "unshare",
            "-m",
            "sh",
            "-c",
            _MOUNTED,
            self.folder / "disk.img",
            self.folder / "small",
            *super()._command(),
        ]

    def _disk(self) -> Path:
        """Return the path of the small disk in the broker's namespace."""
        for process in self._processes():
            disk = Path(f"/proc/{process}/root{self.folder}/small")
            if (disk / "lost+found").exists():
                return disk
        raise AssertionError(f"nothing of {self.name} sees its small disk:\n{self.log_tail()}")

    def _processes(self) -> Iterator[int]:
        for each in filter(str.isdecimal, os.listdir("/proc")):
            try:
                if os.getpgid(int(each)) == self.pid:
                    yield int(each)
            except ProcessLookupError:
                continue
