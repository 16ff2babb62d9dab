"""What is pinned is all that the project asks for, and names no place to fetch it from."""

import re
import tomllib
from itertools import chain
from pathlib import Path

_ROOT = Path(__file__).parents[3]


def _asked() -> set[str]:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())
    lines = [*project["project"]["dependencies"], *chain(*project["dependency-groups"].values())]
    for extra in project["project"]["optional-dependencies"].values():
        lines += extra
    return {re.split(r"[\[<>=!~; ]", line)[0].lower() for line in lines}


def test_every_requirement_is_pinned() -> None:
    pinned = set(
        re.findall(r"^([a-z0-9.\-]+)==", (_ROOT / "constraints.txt").read_text(), re.MULTILINE)
    )
    assert _asked() <= pinned


def test_every_pin_has_hashes_and_no_address() -> None:
    text = (_ROOT / "constraints.txt").read_text()
    blocks = re.split(r"^(?=[a-z])", text, flags=re.MULTILINE)
    assert all("--hash=sha256:" in block for block in blocks if "==" in block)
    assert "://" not in text
    assert "--index" not in text


def test_no_file_of_the_package_names_a_repository() -> None:
    for file in (_ROOT / "deploy").rglob("*"):
        if file.suffix in {".py", ".sh", ".lock", ".txt"}:
            assert not re.search(r"https?://[a-z]", file.read_text()), file
