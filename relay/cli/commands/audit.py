"""`roma audit`: list or export operator acts, and check that the audit trail is complete."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from relay.cli.moment import MOMENT_HELP, moment
from relay.cli.printing import AsJson, print_json
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.audit import AuditEntry, AuditTrail, AuditVerdict

audit = typer.Typer(invoke_without_command=True)
app.add_typer(audit, name="audit")

Subject: TypeAlias = Annotated[
    str | None, typer.Option("--instance", help="Only entries of this instance.")
]


@audit.callback()
def show(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option("--config", help="The configuration file (TOML).")
    ] = None,
    subject: Subject = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Largest number of entries.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show operator acts, the newest first: actor, time, act, and state before and after."""
    if context.invoked_subcommand is not None:
        return
    if config is None:
        raise typer.BadParameter("Missing option '--config'.")
    with told_errors():
        from relay.audit import json_line

        for entry in _trail(config).entries(limit, subject):
            typer.echo(json_line(entry) if as_json else _told(entry))


@audit.command("export")
def export(
    config: ConfigFile,
    form: Annotated[
        Literal["jsonl", "csv"],
        typer.Option("--format", help="JSON lines, or CSV whose cells run no formulas."),
    ] = "jsonl",
    file: Annotated[
        Path | None,
        typer.Option(
            "--into", help="Write to this file, which must not exist yet; default: print."
        ),
    ] = None,
    who: Annotated[str, typer.Option("--who", help="Only entries of this user or token.")] = "",
    act: Annotated[
        str, typer.Option("--act", help="Only this act, or all acts of a kind: mapping.")
    ] = "",
    subject: Subject = None,
    comment: Annotated[
        str, typer.Option("--comment", help="Only entries whose comment contains this text.")
    ] = "",
    since: Annotated[
        datetime | None,
        typer.Option(
            "--since", parser=moment, help=f"Only entries from this time on. {MOMENT_HELP}"
        ),
    ] = None,
    before: Annotated[
        datetime | None,
        typer.Option(
            "--before", parser=moment, help=f"Only entries before this time. {MOMENT_HELP}"
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print JSON lines, or with --into one JSON object that names the file.",
        ),
    ] = False,
) -> None:
    """Write all entries that match the filters, the newest first."""
    from sys import maxsize, stdout

    if as_json and form == "csv" and file is None:
        raise typer.BadParameter("--json prints no CSV: give --into FILE, or --format jsonl.")
    with told_errors():
        from relay.audit import AuditFilter, exported

        times = _milliseconds(before), _milliseconds(since)
        wanted = AuditFilter(who, act, subject or "", *times, comment)
        entries = list(filter(wanted.accepts, _trail(config).entries(maxsize)))
        lines = exported(entries, form)
        if file is None:
            stdout.writelines(lines)
            return
        _write(file, lines)
        if as_json:
            print_json({"file": str(file), "format": form, "entries": len(entries)})


@audit.command("verify")
def verify(
    config: ConfigFile,
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--known",
            help="An entry that an earlier check printed as newest; it must still exist.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that no entry of the trail is missing or changed. Exit code 1 if one is.

    Store the printed newest entries outside of Kafka, and pass them with --known next time.
    """
    with told_errors():
        from relay.audit import Reference

        try:
            references = [Reference.parse(each) for each in known or []]
        except ValueError as exc:
            raise typer.BadParameter("--known expects writer:number:digest.") from exc
        verdict = _trail(config).verify(references)
        if as_json:
            print_json(_fields(verdict))
        else:
            typer.echo(_verdict_text(verdict))
        if verdict.problems:
            raise typer.Exit(1)


def _trail(config: Path) -> "AuditTrail":
    settings = settings_of(config)
    from relay.audit import AuditTrail

    return AuditTrail(settings.kafka, settings.installation)


def _write(file: Path, lines: Iterable[str]) -> None:
    """Write a new file. Ends the program with code 1 if the file exists or is not writable."""
    try:
        with file.open("x", encoding="utf-8", newline="") as opened:
            opened.writelines(lines)
    except OSError as exc:
        typer.echo(f"{file} cannot be written: {exc.strerror}.", err=True)
        raise typer.Exit(1) from exc


def _milliseconds(when: datetime | None) -> int | None:
    return None if when is None else int(when.timestamp() * 1000)


def _fields(verdict: "AuditVerdict") -> dict[str, object]:
    return {
        "whole": not verdict.problems,
        "entries": verdict.entries,
        "chains": verdict.chains,
        "unchained": verdict.unchained,
        "repeated": verdict.repeated,
        "erased": verdict.erased,
        "problems": list(verdict.problems),
        "notes": list(verdict.notes),
        "newest": [str(each) for each in verdict.newest],
    }


def _verdict_text(verdict: "AuditVerdict") -> str:
    from relay.telemetry import visible

    counted = (
        f"{verdict.entries} entries in {verdict.chains} chains, {verdict.unchained} without a "
        f"chain, {verdict.repeated} repeated, {verdict.erased} erased."
    )
    problems = verdict.problems or ("No entry is missing or changed.",)
    newest = [f"  --known {each}" for each in verdict.newest]
    lines = [counted, *problems, *verdict.notes]
    return "\n".join(
        map(
            visible,
            [
                *lines,
                "Newest entries. Keep these lines outside of Kafka; pass them to the next check:",
                *newest,
            ],
        )
    )


def _told(entry: "AuditEntry") -> str:
    import json
    from datetime import UTC

    from relay.telemetry import visible

    at = datetime.fromtimestamp(entry.at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    lines = [f"{at} UTC  {entry.actor}  {entry.act}  {entry.subject}".rstrip()]
    lines += [f"  via {entry.via}"] if entry.via else []
    lines += [f"  {entry.comment}"] if entry.comment else []
    lines += [
        f"  {when} {json.dumps(dict(what), ensure_ascii=False)}"
        for when, what in (("before", entry.before), ("after ", entry.after))
        if what
    ]
    return "\n".join(map(visible, lines))
