"""Fetched things are there whole or not at all, also with many processes and crashes."""

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from deploy.embedded.cache import cache_folder, install


def test_the_folder_follows_the_variables_in_their_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("ROMA_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / "home/.cache/roma"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == tmp_path / "home/.cache/roma"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg/roma"
    monkeypatch.setenv("ROMA_CACHE", str(tmp_path / "my own"))
    assert cache_folder() == tmp_path / "my own"


def test_a_failed_build_leaves_nothing_that_looks_finished(tmp_path: Path) -> None:
    target = tmp_path / "server"

    def breaks(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        install(target, breaks)
    assert not target.exists()
    install(target, lambda folder: (folder / "whole").touch())
    assert [file.name for file in target.iterdir()] == ["whole"]


def _build_slowly(target: Path, built: Path, forever: bool) -> None:
    def build(folder: Path) -> None:
        (folder / "half").touch()
        with built.open("a") as log:
            log.write("x")
        while forever:
            signal.pause()
        (folder / "half").rename(folder / "whole")

    install(target, build)


@pytest.mark.slow
def test_many_processes_build_once(tmp_path: Path) -> None:
    fork = multiprocessing.get_context("spawn")
    arguments = (tmp_path / "server", tmp_path / "built", False)
    processes = [fork.Process(target=_build_slowly, args=arguments) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert (tmp_path / "built").read_text() == "x"


def test_a_killed_builder_leaves_neither_lock_nor_half_a_folder(tmp_path: Path) -> None:
    target, built = tmp_path / "server", tmp_path / "built"
    builder = multiprocessing.get_context("spawn").Process(
        target=_build_slowly, args=(target, built, True)
    )
    builder.start()
    deadline = time.monotonic() + 60
    while not built.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert builder.pid is not None
    os.kill(builder.pid, signal.SIGKILL)
    builder.join(60)
    assert not target.exists()
    install(target, lambda folder: (folder / "whole").touch())
    assert [file.name for file in target.iterdir()] == ["whole"]
