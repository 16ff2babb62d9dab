"""Prints machine-readable output: one JSON object per line."""

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import typer

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object a line for machines.")
]


def print_json(fields: Mapping[str, object]) -> None:
    """Print one object on one line, without escapes for characters beyond ASCII."""
    import json

    typer.echo(json.dumps(fields, ensure_ascii=False))
