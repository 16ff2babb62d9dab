"""A backup holds passwords, so its files are for their owner alone."""

import os
from pathlib import Path

from relay.state import Backup


def test_files_and_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        Backup("x", 1, {"definitions/shop": b"{}", "mappings/pointer": b"1"}).write(
            tmp_path / "backup"
        )
    finally:
        os.umask(mask)
    modes = {
        each.relative_to(tmp_path): each.stat().st_mode & 0o777
        for each in (tmp_path / "backup", *(tmp_path / "backup").rglob("*"))
    }
    files = [each for each in (tmp_path / "backup").rglob("*") if each.is_file()]
    assert len(files) == 3
    assert all(modes[each.relative_to(tmp_path)] == 0o600 for each in files)
    assert modes[Path("backup")] == 0o700
    assert modes[Path("backup/definitions")] == 0o700
