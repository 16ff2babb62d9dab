"""`roma mapping`: mapping documents, and the mapping set under which an instance publishes."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.confirm import Actor, Comment, Yes, confirm, who_does, zookeeper
from relay.cli.json_output import fields
from relay.cli.printing import AsJson, print_json
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.route import MappingProblem

mapping = typer.Typer(no_args_is_help=True, help="Mapping documents.")
app.add_typer(mapping, name="mapping")


def print_problems(found: "Iterable[MappingProblem]", *, err: bool = False) -> None:
    """Print one line for each problem of mapping documents. `err`: print to standard error."""
    for problem in found:
        place = problem.pointer or "its top"
        typer.echo(f"{problem.data_id} at {place}: {problem.sentence}", err=err)


def problem_fields(found: "Iterable[MappingProblem]") -> list[dict[str, str]]:
    """Return problems of mapping documents as fields of JSON."""
    return [
        {"document": each.data_id, "pointer": each.pointer, "sentence": each.sentence}
        for each in found
    ]


@mapping.command("check")
def check_mapping(
    files: Annotated[
        list[Path], typer.Argument(help="The JSON documents, or folders that hold them.")
    ],
    as_json: AsJson = False,
) -> None:
    """Compile mapping documents together, without a server.

    Exit code 0: they are valid; 1: they are not; 2: the files do not exist.
    """
    with told_errors():
        from relay.route import problems, read_mapping_files

        documents = read_mapping_files(files)
        found = problems(documents)
        if as_json:
            for each in problem_fields(found):
                print_json(each)
        else:
            print_problems(found)
        if not found and not as_json:
            typer.echo(f"{', '.join(documents)}: no problems.")
        raise typer.Exit(1 if found else 0)


@mapping.command("accept")
def accept(
    instance: Annotated[str, typer.Argument(help="The instance's name.")],
    config: ConfigFile,
    only_ask: Annotated[
        bool, typer.Option("--preview", help="Show what would change, and change nothing.")
    ] = False,
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Let an instance in the state MAPPING_LOST publish under the current mapping in ZooKeeper.

    The command shows the changes first.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.operations import InstanceMapping, compared, instance_of

        with zookeeper(settings) as session:
            found = InstanceMapping(settings, instance_of(settings, instance, session), session)
            comparison = found.compare()
            fields(instance=instance, set=comparison.found, same=comparison.same)
            typer.echo(compared(instance, comparison))
            if only_ask or comparison.same:
                return
            confirm(instance, yes)
            found.accept(comparison.found, who_does(actor, comment))
            typer.echo(f"{instance} publishes under mapping set {comparison.found} from now on.")
