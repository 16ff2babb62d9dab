"""`roma audit`: what was done by hand."""

from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.audit import AuditEntry


@app.command()
def audit(
    config: ConfigFile,
    subject: Annotated[
        str | None, typer.Option("--instance", help="The entries of one instance alone.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many entries at most.")] = 50,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line for machines.")
    ] = False,
) -> None:
    """Show what was done by hand: who, when, what, before and after; the newest first."""
    with told_errors():
        settings = settings_of(config)
        from relay.audit import AuditTrail

        for entry in AuditTrail(settings.kafka, settings.installation).entries(limit, subject):
            typer.echo(entry.to_bytes().decode() if as_json else _told(entry))


def _told(entry: "AuditEntry") -> str:
    import json
    from datetime import UTC, datetime

    from relay.telemetry import visible

    moment = datetime.fromtimestamp(entry.at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    lines = [f"{moment} UTC  {entry.actor}  {entry.act}  {entry.subject}".rstrip()]
    lines += [f"  {entry.comment}"] if entry.comment else []
    lines += [
        f"  {when} {json.dumps(dict(what), ensure_ascii=False)}"
        for when, what in (("before", entry.before), ("after ", entry.after))
        if what
    ]
    return "\n".join(map(visible, lines))
