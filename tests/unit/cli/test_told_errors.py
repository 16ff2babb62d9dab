"""What goes wrong is told in the words of the command line."""

import pytest
import typer

from relay.cli.root import told_errors
from relay.errors import ConfigurationError, RelayError
from relay.model.names.source_name import source_named


@pytest.mark.parametrize(
    ("known", "wanted", "told"),
    [
        (
            ("first", "second"),
            None,
            (
                "Instance shop reads a group of sources: first, second. Name one of these with "
                "--source."
            ),
        ),
        (
            ("first", "second"),
            "third",
            (
                "Instance shop has no source third, but first, second. Name one of these with "
                "--source."
            ),
        ),
        (
            (),
            "first",
            "Instance shop reads a single source, which is not called first. Leave --source out.",
        ),
    ],
)
def test_a_source_is_asked_for_by_its_flag(
    known: tuple[str, ...], wanted: str | None, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit), told_errors():
        source_named("shop", known, wanted)
    assert capsys.readouterr().err == f"SOURCE_NOT_NAMED: {told}\n"


@pytest.mark.parametrize(("error", "code"), [(ConfigurationError("x"), 2), (RelayError("x"), 1)])
def test_the_exit_code_tells_the_configuration_from_all_else(error: RelayError, code: int) -> None:
    with pytest.raises(typer.Exit) as ended, told_errors():
        raise error
    assert ended.value.exit_code == code
