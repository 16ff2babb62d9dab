"""The command that builds the documentation site refuses a link that leads nowhere."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]
_BROKEN = ("gone.md", "limits.md#no-such-heading")


@pytest.mark.slow
def test_broken_links_fail_the_build_and_are_named(tmp_path: Path) -> None:
    shutil.copytree(_ROOT / "docs", tmp_path / "docs")
    for file in ("mkdocs.yml", "deploy/docs_nav.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(_ROOT / file, tmp_path / file)
    page = tmp_path / "docs" / "alerts.md"
    page.write_text(
        f"{page.read_text(encoding='utf-8')}\n[one]({_BROKEN[0]}) [two]({_BROKEN[1]})\n",
        encoding="utf-8",
    )
    built = subprocess.run(
        _command(),
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert built.returncode != 0
    warnings = [line for line in built.stderr.splitlines() if "WARNING" in line]
    assert [link for link in _BROKEN if any(f"'{link}'" in line for line in warnings)] == list(
        _BROKEN
    )


def _command() -> list[str]:
    """The Makefile's own command."""
    (words,) = re.findall(
        r"^BUILD_SITE := .*\$\(PYTHON\) (.*)$",
        (_ROOT / "Makefile").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    return [sys.executable, *words.split()]
