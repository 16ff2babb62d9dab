"""`roma preflight`: check all requirements before the first start."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.preflight import Finding


@app.command()
def preflight(
    config: ConfigFile,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for machines.")
    ] = False,
) -> None:
    """Check everything that the relay needs. The command changes nothing.

    Exit code 0: the relay can run; 1: it cannot; 2: the configuration file is invalid.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.preflight import exit_code
        from relay.preflight import preflight as look

        findings = look(settings)
        _print_findings(findings, as_json=as_json)
        raise typer.Exit(exit_code(findings))


def _print_findings(findings: "Sequence[Finding]", *, as_json: bool) -> None:
    import json

    from rich.console import Console

    from relay.preflight import exit_code, preflight_table

    if as_json:
        found = {
            "exit_code": exit_code(findings),
            "findings": [each.to_fields() for each in findings],
        }
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        Console().print(preflight_table(findings))
