"""What the examples leave out: a reader who copies them must not disturb an installation that
runs.
"""

import re
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[3]
_SET = re.compile(
    r"""^\s*server_id\s*=\s*\d|(?<!"source":"",)["']server_id["']\s*:\s*\d""", re.MULTILINE
)
"""In settings; a message of the topic of transactions tells the server that was read."""


def _examples() -> Iterator[Path]:
    yield _ROOT / "README.md"
    for folder in ("docs", "deploy", "examples"):
        yield from (
            path
            for path in (_ROOT / folder).rglob("*")
            if path.suffix in {".md", ".toml", ".json", ".yml", ".sh"}
        )


def test_no_example_sets_a_server_id() -> None:
    """A number that was copied ends the stream of the replica that has it."""
    found = [
        str(path.relative_to(_ROOT))
        for path in _examples()
        if _SET.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
