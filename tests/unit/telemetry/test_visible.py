"""Control characters are shown, not obeyed."""

import io

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from api.middleware.request_body import note_of
from relay.settings import LogSettings
from relay.telemetry import set_up_logging, visible


@given(st.text())
def test_nothing_hidden_is_left(text: str) -> None:
    assert all(
        character.isprintable() or character.isspace() or ord(character) > 0x9F
        for character in visible(text)
    )
    assert "\x1b" not in visible(text)
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_comment_cannot_reach_the_terminal(form: str) -> None:
    stream = io.StringIO()
    set_up_logging(LogSettings.model_validate({"format": form}), stream)
    structlog.stdlib.get_logger("t").info("saved", comment="\x1b[2Jgone", author="a\nb\u202e")
    assert "gone" in stream.getvalue()
    assert not {"\x1b", "\u202e"} & set(stream.getvalue())
    assert stream.getvalue().count("\n") == 1


def test_a_note_is_bounded_and_shown() -> None:
    note = note_of("%1b" * 1000, "%0a")
    assert note.author == ("\\x1b" * 50)
    assert note.comment == ""
