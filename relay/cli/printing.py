"""Printing for machines: JSON objects, one a line."""

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import typer

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object a line for machines.")
]


def print_json(fields: Mapping[str, object]) -> None:
    """Print one object on one line; text stays readable."""
    import json

    typer.echo(json.dumps(fields, ensure_ascii=False))
