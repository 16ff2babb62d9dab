"""The generated pages are as the code is, and say something of every setting, command and code."""

import re
import shutil
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from deploy.reference.__main__ import outdated, write
from deploy.reference.docstrings import field_docstrings
from deploy.reference.markdown import escaped
from deploy.reference.pictures import svg
from deploy.reference.type_texts import type_text, unit_of
from relay.errors import RelayError
from relay.settings import Settings, StandbySettings

_ROOT = Path(__file__).parents[3]
_REFERENCE = _ROOT / "docs" / "reference"


def test_the_committed_files_are_as_the_code_is() -> None:
    assert outdated() == []


def test_files_that_differ_or_lack_are_named(tmp_path: Path) -> None:
    docs, grafana = tmp_path / "docs", tmp_path / "grafana"
    shutil.copytree(_ROOT / "docs" / "pictures", docs / "pictures")
    write(docs, grafana)
    assert outdated(docs, grafana) == []
    (docs / "reference" / "settings.md").write_text("stale", encoding="utf-8")
    (docs / "pictures" / "overview.svg").unlink()
    (grafana / "roma-instance.json").write_text("{}", encoding="utf-8")
    assert outdated(docs, grafana) == [
        "reference/settings.md",
        "pictures/overview.svg",
        "roma-instance.json",
    ]


def test_every_code_of_the_relay_leads_to_its_heading() -> None:
    text = (_REFERENCE / "errors.md").read_text(encoding="utf-8")
    for code, page in re.findall(
        r"^\| \[`([A-Z_]+)`\]\(\.\./troubleshooting/([\w-]+\.md)#", text, re.MULTILINE
    ):
        assert f"\n## {code}\n" in (_ROOT / "docs" / "troubleshooting" / page).read_text(
            encoding="utf-8"
        )
    assert f"[`{RelayError.code}`]" in text


def test_the_commands_page_has_groups_members_and_jobs() -> None:
    headings = re.findall(
        r"^## (.+)$", (_REFERENCE / "cli.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {
        "roma",
        "roma relay",
        "roma position set",
        "roma dedup stream",
        "roma reconcile",
    } <= set(headings)


class _Sample(Settings):
    """Of this test."""

    wait_seconds: Annotated[float, Field(gt=0)] = 1
    how: Literal["a", "b"] | None = None
    ports: tuple[Annotated[int, Field(ge=1, le=9)], ...] = ()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("wait_seconds", "number, > 0"),
        ("how", '`"a"`, `"b"`'),
        ("ports", "list of integer, ≥ 1, ≤ 9"),
    ],
)
def test_types_are_in_words(name: str, said: str) -> None:
    assert type_text(_Sample.model_fields[name]) == said


def test_units_come_from_names() -> None:
    assert [
        unit_of(name) for name in ("wait_seconds", "limit_bytes", "rows_per_second", "hosts")
    ] == ["s", "bytes", "rows/s", ""]


def test_fields_of_a_base_have_their_meaning() -> None:
    meanings = field_docstrings(StandbySettings)
    assert set(StandbySettings.model_fields) == set(meanings)


def test_markup_is_escaped_outside_of_code() -> None:
    assert escaped("a | *b* <c> `<d|*>`") == "a \\| \\*b\\* &lt;c> `<d\\|*>`"


def test_a_picture_is_drawn_or_refused() -> None:
    drawn = svg("title A & B\nbox a 0 0 | one\nbox b 1 0 | two\narrow a b | to")
    assert "<title>A &amp; B</title>" in drawn
    assert drawn.count("<rect class") == 2
    with pytest.raises(ValueError, match="unknown line"):
        svg("circle a 0 0")


def test_the_readme_and_the_tutorial_have_the_same_file() -> None:
    blocks = [
        re.findall(
            r"^```toml\n(# relay.toml\n.*?)^```$",
            (_ROOT / page).read_text(encoding="utf-8"),
            re.MULTILINE | re.DOTALL,
        )
        for page in ("README.md", "docs/tutorials/own-servers.md")
    ]
    assert len(blocks[0]) == 1
    assert blocks[0] == blocks[1]
