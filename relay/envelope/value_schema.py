"""The JSON Schema of a message's value, as a file that tools of any language can read."""

import json
from importlib.resources import files
from typing import Any, Final

SCHEMA_FILE: Final = "message-value.v1.schema.json"


def value_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a message's value."""
    document: dict[str, Any] = json.loads(
        files("relay.envelope").joinpath(SCHEMA_FILE).read_text(encoding="utf-8")
    )
    return document
