"""The pages state every release that `make servers` runs, and how each is run."""

import re
from pathlib import Path

import pytest

from tests.support.sources.release_runs import KINDS, asked, has_gtids, variants

_ROOT = Path(__file__).parents[3]
_MOVING = {"mysql-9.7": "9.7", "mariadb-10.11": "10.11", "mariadb-11.8": "11.8"}
"""Packages of a distribution, of which the last number changes."""


def _said(name: str) -> str:
    return _MOVING.get(name) or ".".join(map(str, KINDS[name].version))


@pytest.mark.parametrize("page", ["README.md", "docs/types/servers.md"])
def test_every_release_is_stated(page: str) -> None:
    text = (_ROOT / page).read_text(encoding="utf-8")
    assert [name for name in KINDS if not re.search(rf"\b{re.escape(_said(name))}\b", text)] == []


def test_the_table_says_how_each_is_run() -> None:
    lines = (_ROOT / "docs/types/servers.md").read_text(encoding="utf-8").splitlines()
    for name, kind in KINDS.items():
        family = "MariaDB" if kind.family == "mariadb" else "MySQL"
        (line,) = (
            each
            for each in lines
            if each.startswith(f"| {family} ")
            and re.search(rf"[ ,]{re.escape(_said(name))}[ ,]", each)
        )
        _, _, names, packed, switch, _ = (cell.strip() for cell in line.split("|"))
        assert ("FULL" in names) == ("named" in variants(kind)), name
        assert (packed != "\u2013") == (len(list(variants(kind).values())[-1]) > 0), name
        assert (switch == "by GTID") == has_gtids(kind), name


def test_names_and_all_choose_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVERS", "mysql-5.5,mariadb-11.8")
    assert asked() == [("mysql-5.5", "bare"), ("mariadb-11.8", "bare"), ("mariadb-11.8", "named")]
    monkeypatch.setenv("SERVERS", "all")
    assert {name for name, _ in asked()} == set(KINDS)
    monkeypatch.delenv("SERVERS")
    monkeypatch.setenv("SEED", "7")
    assert len(asked()) == 1
    assert asked() == asked()
