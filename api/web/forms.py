"""Reads the form that a browser has sent."""

from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias
from urllib.parse import parse_qsl

from fastapi import Depends, Request

from api.errors import BadRequest

_FIELDS: Final = 200


class Form:
    """The fields of one form. A missing field is an empty text."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> str:
        return self._fields.get(name, "")

    def checked(self, name: str) -> bool:
        """Return whether the check box of this name is set."""
        return name in self._fields

    def number(self, name: str, title: str) -> int:
        """Return the integer in a field; `title` names the field in the error.

        Raises BadRequest for any other text.
        """
        try:
            return int(self[name].strip().replace(",", ""))
        except ValueError as exc:
            raise BadRequest(f"{title} must be a whole number, and is {self[name]!r}.") from exc


async def _form(request: Request) -> Form:
    body = await request.body()
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS
        )
    except ValueError as exc:
        raise BadRequest(f"The form cannot be read: {exc}.") from exc
    return Form(dict(pairs))


FormDep: TypeAlias = Annotated[Form, Depends(_form)]
"""The form of the request. `Guard` has limited the size of its body."""
