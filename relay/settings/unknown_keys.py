"""The message for a key that a settings model does not have: it names the most similar key, or all
keys.
"""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

UNKNOWN_KEY: Final = "extra_forbidden"
"""Pydantic's type of the error for an unknown key."""
_LONGEST_NAME: Final = 100
"""Longer names are not compared, because the time grows with the square of the length."""
_UNKNOWN: Final = "This key is not known here"
_SUGGESTED: Final = 20
"""Number of unknown keys of one document that get a suggestion."""


def unknown_key(place: Sequence[int | str], model: object) -> str:
    """Return a sentence, without a full stop, about the last key of `place`, which is unknown.

    `place` is the path of the key below `model` (pydantic's `loc`). `model` may be any type
    annotation.
    """
    key, known = str(place[-1]) if place else "", known_keys(place[:-1], model)
    near = nearest(key, known)
    if near is not None:
        return f"{_UNKNOWN}; did you mean {near!r}?"
    return f"{_UNKNOWN}; known are {', '.join(known)}" if known else _UNKNOWN


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Return the allowed name that is most similar to `name`.

    None if none is similar, or `name` is longer than every allowed one.
    """
    if len(name) > _LONGEST_NAME:
        return None
    by_case = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), list(by_case), n=1, cutoff=0.6)
    return by_case[found[0]] if found else None


def known_keys(place: Sequence[int | str], model: object) -> list[str]:
    """Return the keys of the object at `place`, as written in a document, in the model's order."""
    models = list(_models(model))
    for part in place:
        inner = [
            found
            for each in models
            for name, annotation in _fields(each)
            if name == part
            for found in _models(annotation)
        ]
        models = (
            inner or models
        )  # the index of a list or the key of a dictionary: it leads to no other model
    return list(dict.fromkeys(name for each in models for name, _ in _fields(each)))


def told_errors(error: ValidationError, model: object) -> list[ErrorDetails]:
    """Return pydantic's errors, where the message about an unknown key suggests a known one.

    The input is removed from each error, because it may be a secret.
    """
    found = error.errors(include_input=False, include_url=False)
    suggested = 0
    for each in found:
        if each["type"] == UNKNOWN_KEY:
            suggested += 1
            each["msg"] = unknown_key(each["loc"], model) if suggested <= _SUGGESTED else _UNKNOWN
    return found


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    for name, field in model.model_fields.items():
        yield field.alias or name, field.annotation


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield the models in an annotation: the annotation itself, or the members of its union or
    container.
    """
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for each in get_args(annotation):
        yield from _models(each)
