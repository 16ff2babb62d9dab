"""Reads JSON objects that another version, or a person with a shell, may have written."""

import json
from collections.abc import Mapping
from typing import Any


class JsonObject:
    """A JSON object whose fields may be missing or have another type.

    For such a field, each method returns its default; no method raises.
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    @classmethod
    def read(cls, value: bytes | str) -> "JsonObject":
        """Return the parsed object. A value that is no JSON object gives one without fields."""
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            parsed = None
        return cls(parsed if isinstance(parsed, dict) else {})

    def __contains__(self, field: str) -> bool:
        return field in self._fields

    def text(self, field: str, default: str = "") -> str:
        """Return the field if it is a string, otherwise `default`."""
        found = self._fields.get(field)
        return found if isinstance(found, str) else default

    def truth(self, field: str) -> bool:
        """Return whether the field is the JSON value true."""
        return self._fields.get(field) is True

    def whole(self, field: str, default: int = 0) -> int:
        """Return the field as an integer, also from a string of decimal digits; otherwise
        `default`.
        """
        found = self.whole_or_none(field)
        return default if found is None else found

    def whole_or_none(self, field: str) -> int | None:
        """Return the field as an integer, also from a string of decimal digits; else None."""
        found = self._fields.get(field)
        if isinstance(found, str) and found.isascii() and found.removeprefix("-").isdigit():
            return int(found)
        return found if isinstance(found, int) and not isinstance(found, bool) else None

    def real_or_none(self, field: str) -> float | None:
        """Return the field as a float if it is a JSON number, else None."""
        found = self._fields.get(field)
        return (
            float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None
        )

    def texts(self, field: str) -> tuple[str, ...]:
        """Return the strings of a list field. Elements of other types are left out."""
        found = self._fields.get(field)
        return (
            tuple(each for each in found if isinstance(each, str))
            if isinstance(found, list)
            else ()
        )

    def lists_of_texts(self, field: str) -> tuple[tuple[str, ...], ...]:
        """Return the lists of strings of a list field. Elements of other types are left out."""
        found = self._fields.get(field)
        return (
            tuple(
                tuple(part for part in each if isinstance(part, str))
                for each in found
                if isinstance(each, list)
            )
            if isinstance(found, list)
            else ()
        )

    def plain(self, field: str) -> dict[str, Any]:
        """Return the field if it is an object, otherwise {}."""
        found = self._fields.get(field)
        return found if isinstance(found, dict) else {}

    def objects(self, field: str) -> tuple["JsonObject", ...]:
        """Return the objects of a list field. Elements of other types are left out."""
        found = self._fields.get(field)
        return (
            tuple(JsonObject(each) for each in found if isinstance(each, dict))
            if isinstance(found, list)
            else ()
        )

    def texts_by_name(self, field: str) -> dict[str, str]:
        """Return the strings in an object field, by name; {} if it is no object. Other values in it
        are left out.
        """
        found = self._fields.get(field)
        return (
            {key: text for key, text in found.items() if isinstance(text, str)}
            if isinstance(found, dict)
            else {}
        )

    def wholes(self, field: str) -> dict[str, int]:
        """Return the integers in an object field, by name; {} if it is no object. Other values in
        it are left out.
        """
        found = self._fields.get(field)
        if not isinstance(found, dict):
            return {}
        numbers = JsonObject(found)
        return {key: number for key in found if (number := numbers.whole_or_none(key)) is not None}

    def reals_or_none(self, field: str) -> dict[str, float] | None:
        """Return the numbers in an object field, by name, without other values; None if it is no
        object.
        """
        found = self._fields.get(field)
        if not isinstance(found, dict):
            return None
        numbers = JsonObject(found)
        return {key: number for key in found if (number := numbers.real_or_none(key)) is not None}


def write_json(fields: Mapping[str, object]) -> bytes:
    """Return an object as one line of JSON in UTF-8.

    Half a surrogate pair, which UTF-8 cannot represent, becomes a question mark.
    """
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
