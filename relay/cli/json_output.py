"""The option `--json` for commands that print sentences: it prints one object with the sentences
and the fields.
"""

import inspect
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from functools import wraps
from typing import Annotated, Any, Final

import typer

from relay.cli.printing import print_json

_OWN_OPTION: Final = "as_json"
"""Name of the parameter of a command that defines the option itself."""
_PARAMETER: Final = inspect.Parameter(
    "prints_json",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--json", help="Print one JSON object for machines; do not ask for confirmation."
        ),
    ],
)
_fields: ContextVar[dict[str, object] | None] = ContextVar("fields", default=None)


def add_json(commands: typer.Typer) -> None:
    """Add `--json` to all commands of a program and of its groups that do not have it."""
    for command in commands.registered_commands:
        run = command.callback
        takes_options_of_others = bool(command.context_settings)
        if run is not None and not takes_options_of_others and _lacks_it(run):
            command.callback = _with_json(run)
    for group in commands.registered_groups:
        if group.typer_instance is not None:
            add_json(group.typer_instance)


def fields(**values: object) -> None:
    """Add fields to the object that `--json` prints. Without the option, nothing happens."""
    found = _fields.get()
    if found is not None:
        found.update(values)


def asks_nothing() -> bool:
    """Return whether the command must not ask questions, because `--json` is given and a program
    reads the output.
    """
    return _fields.get() is not None


def _lacks_it(run: Callable[..., Any]) -> bool:
    return _OWN_OPTION not in inspect.signature(run).parameters


def _with_json(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command with the option. Its lines and fields are printed when it ends."""

    @wraps(run)
    def command(*arguments: Any, prints_json: bool = False, **options: Any) -> Any:
        if not prints_json:
            return run(*arguments, **options)
        with _collected():
            return run(*arguments, **options)

    own = inspect.signature(run)
    parameters = [*own.parameters.values(), _PARAMETER]
    command.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {**run.__annotations__, _PARAMETER.name: _PARAMETER.annotation}
    return command


@contextmanager
def _collected() -> Iterator[None]:
    """Print one object at the end. Print nothing if an error occurs before the first result."""
    output, found = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), dict[str, object]()
    token, is_done = _fields.set(found), False
    try:
        with redirect_stdout(output):
            yield
        is_done = True
    finally:
        _fields.reset(token)
        output.seek(0)
        sentences = output.read().splitlines()
        if is_done or found or sentences:
            print_json({**found, "sentences": sentences})
