"""How many worker processes `auto` is."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from relay.app.workers import number_of_processes
from relay.app.workers.cores import usable_cores
from relay.settings import MOST_PROCESSES, PlacementSettings

CORES = len(os.sched_getaffinity(0))


def cores(tmp_path: Path, group: str, **quotas: str) -> int:
    of_process = tmp_path / "cgroup"
    of_process.write_text(f"1:cpu:/old\n0::/{group}\n")
    for name, quota in quotas.items():
        folder = tmp_path / "groups" / ("" if name == "root" else name.replace("_", "/"))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.max").write_text(f"{quota}\n")
    return usable_cores(of_process, tmp_path / "groups")


def test_a_quota_bounds_them_and_is_rounded_up(tmp_path: Path) -> None:
    assert cores(tmp_path, "", root="50000 100000") == 1
    assert cores(tmp_path, "", root="150000 100000") == min(CORES, 2)
    assert cores(tmp_path, "", root="max 100000") == CORES


def test_the_quota_of_a_group_above_counts(tmp_path: Path) -> None:
    assert cores(tmp_path, "a/b", a="100000 100000", a_b="max 100000") == 1
    assert cores(tmp_path, "a/b", a="max 100000", a_b="100000 100000") == 1


@pytest.mark.parametrize("text", ["", "many", "1 0", "1 2 3"])
def test_what_cannot_be_read_bounds_nothing(tmp_path: Path, text: str) -> None:
    assert cores(tmp_path, "", root=text) == CORES
    assert usable_cores(tmp_path / "none", tmp_path / "none") == CORES


def test_the_number_is_the_setting_or_the_cores() -> None:
    assert number_of_processes(PlacementSettings().processes) == 1
    assert number_of_processes(3) == 3
    assert 1 <= number_of_processes("auto") <= min(CORES, MOST_PROCESSES)


@pytest.mark.parametrize("wrong", [0, -1, MOST_PROCESSES + 1, 1.5, "all", ""])
def test_other_values_are_refused(wrong: object) -> None:
    with pytest.raises(ValidationError):
        PlacementSettings.model_validate({"processes": wrong})
