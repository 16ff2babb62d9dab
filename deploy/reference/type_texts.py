"""Describes the types of settings in terms of TOML."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

_WORDS: Final[dict[type, str]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "text",
    Path: "path",
    SecretStr: "secret text",
    datetime: "time",
}
_BOUNDS: Final = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
_UNITS: Final = (
    ("rows_per_second", "rows/s"),
    ("bytes_per_second", "bytes/s"),
    ("_seconds", "s"),
    ("_ms", "ms"),
    ("_bytes", "bytes"),
    ("_days", "days"),
    ("_minutes", "min"),
    ("_rows", "rows"),
)


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the settings models that the annotation holds, also in a list or an optional."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for each in get_args(annotation) for model in models_in(each)]


def is_list(annotation: Any) -> bool:
    """Return whether the annotation is a list (a tuple) or an optional list."""
    return get_origin(annotation) is tuple or any(is_list(each) for each in get_args(annotation))


def type_text(field: FieldInfo) -> str:
    """Return the type as Markdown, with its bounds and choices."""
    return f"{_text(field.annotation)}{_bounds(field.metadata)}"


def unit_of(name: str) -> str:
    """Return the unit that the setting's name ends with; empty without one."""
    return next((unit for suffix, unit in _UNITS if name.endswith(suffix)), "")


def _text(annotation: Any) -> str:
    if annotation in _WORDS:
        return _WORDS[annotation]
    make = _MAKERS.get(get_origin(annotation))
    return make(get_args(annotation)) if make else str(getattr(annotation, "__name__", annotation))


def _annotated(arguments: tuple[Any, ...]) -> str:
    return f"{_text(arguments[0])}{_bounds(arguments[1:])}"


def _choices(arguments: tuple[Any, ...]) -> str:
    return ", ".join(f'`"{each}"`' for each in arguments)


def _either(arguments: tuple[Any, ...]) -> str:
    return " or ".join(_text(each) for each in arguments if each is not type(None))


def _list(arguments: tuple[Any, ...]) -> str:
    return f"list of {_text(arguments[0])}"


def _table(arguments: tuple[Any, ...]) -> str:
    return f"table of {_text(arguments[1])}"


def _bounds(metadata: Any) -> str:
    flat = [part for each in metadata for part in (getattr(each, "metadata", None) or [each])]
    bounds = [
        f"{sign} {getattr(each, name)}"
        for each in flat
        for name, sign in _BOUNDS.items()
        if hasattr(each, name)
    ]
    return f", {', '.join(bounds)}" if bounds else ""


_MAKERS: Final[dict[Any, Callable[[tuple[Any, ...]], str]]] = {
    Annotated: _annotated,
    Literal: _choices,
    Union: _either,
    UnionType: _either,
    dict: _table,
    tuple: _list,
}
