"""The example file names every setting, with the default that the models hold."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from relay.settings import GroupSettings, RelaySettings, load_settings

_EXAMPLE = Path(__file__).parents[3] / "deploy" / "examples" / "relay.toml"


def _sections(text: str) -> dict[str, str]:
    """Table name → its text; the lines before the first table have the name ""."""
    parts = re.split(r"^\[+([a-z_.]+)\]+", text, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """The settings model that a field holds, alone or in a tuple."""
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _fields(
    model: type[BaseModel], settings: BaseModel, table: str = ""
) -> Iterator[tuple[str, str, FieldInfo, Any]]:
    """Every plain setting below the model: its table, name, declaration and value in the
    example.
    """
    for name, field in model.model_fields.items():
        value = getattr(settings, name)
        inner = _model_of(field.annotation)
        if inner is None:
            yield table, name, field, value
        else:
            yield from _fields(
                inner,
                value[0] if isinstance(value, tuple) else value,
                f"{table}.{name}".lstrip("."),
            )


def _with_all_tables(text: str) -> str:
    """The file as it is when the tables that stand behind a `#` are taken out of it, up to the next
    empty line.
    """
    blocks = text.split("\n\n")
    return "\n\n".join(
        re.sub("^# ", "", each, flags=re.MULTILINE) if each.startswith("# [") else each
        for each in blocks
    )


def _loaded(text: str) -> RelaySettings:
    """All settings, of which a group excludes some."""
    document = tomllib.loads(text)
    group = GroupSettings.model_validate(document["instances"][0].pop("group"))
    settings = RelaySettings.model_validate(document)
    return settings.model_copy(
        update={"instances": (settings.instances[0].model_copy(update={"group": group}),)}
    )


_TEXT = _with_all_tables(_EXAMPLE.read_text(encoding="utf-8"))
_LOADED = _loaded(_TEXT)
_TEXTS = _sections(_TEXT)


def test_the_example_can_be_used_as_it_is() -> None:
    assert load_settings(_EXAMPLE).instances[0].rules == ()


@pytest.mark.parametrize(("table", "name", "field", "value"), list(_fields(RelaySettings, _LOADED)))
def test_every_setting_stands_there_with_its_default(
    table: str, name: str, field: FieldInfo, value: Any
) -> None:
    text = _TEXTS[table]
    if field.is_required():
        assert re.search(rf"^{name} = .*# needed", text, re.MULTILINE)
    elif field.default is None:
        assert value is None
        assert re.search(rf"^# {name} = ", text, re.MULTILINE)
    else:
        assert value == field.get_default(call_default_factory=True, validated_data={})
        assert re.search(rf"^{name} = ", text, re.MULTILINE) or f"{table}.{name}" in _TEXTS


def test_every_table_of_the_example_is_one_of_the_models() -> None:
    tables = {table for table, *_ in _fields(RelaySettings, _LOADED)}
    assert set(_TEXTS) - {"kafka.client"} == tables


def test_settings_that_the_canal_page_names_exist() -> None:
    page = (_EXAMPLE.parents[2] / "docs" / "canal" / "settings.md").read_text(encoding="utf-8")
    table = page.partition("\n## Settings\n")[2].partition("\n## ")[0]
    cells = [line.split(" | ")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {
        match[1]
        for cell in cells
        for match in re.finditer(r"`(?:[a-z]+\.)?([a-z_]+)(?: = [^`]*)?`", cell)
    }
    assert len(named) > 20
    assert named - {"dbs", "topics"} <= {
        name for _, name, _, _ in _fields(RelaySettings, _LOADED)
    }  # these two are mapping documents
