"""The pages of settings, from the models that read the configuration files."""

from collections.abc import Iterator
from typing import Final

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from deploy.reference.docstrings import field_docstrings, opening
from deploy.reference.markdown import escaped, page, table
from deploy.reference.type_texts import is_list, models_in, type_text, unit_of
from relay.settings import RelaySettings
from spark_jobs.config.job import JobSettings

_HEADINGS: Final = ("setting", "type", "default", "unit", "meaning")


def settings_page() -> str:
    """Return the page of the file that relay and admin read."""
    return page(
        "Settings of relay and admin",
        "One TOML file holds the settings of relay, admin and command line (`--config FILE`). An "
        "unknown key is an error. A text that "
        'is wholly `"${NAME}"` is taken from the environment or a secret file '
        "([secrets](../admin/secrets.md)). "
        "`deploy/examples/relay.toml` is a file with every setting and its default.",
        *_sections(RelaySettings, ""),
    )


def job_settings_page() -> str:
    """Return the page of the file that the Spark jobs read."""
    return page(
        "Settings of the Spark jobs",
        "`roma dedup`, `roma bootstrap` and `roma reconcile` read one TOML file (`--config "
        "FILE`). An unknown key is an error. "
        "How to use them: [Spark jobs](../spark.md).",
        *_sections(JobSettings, ""),
    )


def _sections(model: type[BaseModel], path: str) -> Iterator[str]:
    yield _section(model, path)
    for name, field in model.model_fields.items():
        for inner in models_in(field.annotation):
            yield from _sections(inner, _inner_path(path, name, field))


def _inner_path(path: str, name: str, field: FieldInfo) -> str:
    inner = f"{path.strip('[]')}.{name}".strip(".")
    return f"[[{inner}]]" if is_list(field.annotation) else f"[{inner}]"


def _section(model: type[BaseModel], path: str) -> str:
    meanings = field_docstrings(model)
    rows = [
        _row(name, field, meanings)
        for name, field in model.model_fields.items()
        if not models_in(field.annotation)
    ]
    heading = f"## `{path}`" if path else "## Outside of tables"
    return "\n\n".join(
        filter(
            None,
            [
                heading,
                escaped(opening(model)) if path else "",
                table(_HEADINGS, rows) if rows else "",
            ],
        )
    )


def _row(name: str, field: FieldInfo, meanings: dict[str, str]) -> list[str]:
    return [
        f"`{name}`",
        type_text(field).replace("|", "\\|"),
        _default(field),
        unit_of(name),
        escaped(meanings[name]),
    ]


def _default(field: FieldInfo) -> str:
    value = (
        field.get_default(call_default_factory=True)
        if field.default_factory or field.default is not PydanticUndefined
        else "needed"
    )
    if value is None:
        return "not set"
    if value == "needed":
        return "**needed**"
    return f"`{_toml(value)}`"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, SecretStr):
        return '""'
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(each) for each in value)}]"
    if isinstance(value, str):
        return "'" + value + "'" if "\\" in value else f'"{value}"'
    return f"{value:_}" if isinstance(value, int) and value >= 10_000 else str(value)
