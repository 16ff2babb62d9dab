"""The sentence about newer changes of a dead letter's key."""

import pytest

from relay.dead_letters import LaterChanges

DISCARD = "consumers that keep the greater order key discard this message."
PART = "Older records were removed, or there are too many to read here."


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (LaterChanges(0, None, is_whole=True), "shop has no newer change of its key."),
        (
            LaterChanges(0, None, is_whole=False),
            f"shop has no newer change of its key in the part that was read. {PART}",
        ),
        (
            LaterChanges(1, 5, is_whole=True),
            f"shop has 1 newer change of its key: {DISCARD}",
        ),
        (
            LaterChanges(1_200, 5, is_whole=False),
            f"shop has at least 1,200 newer changes of its key: {DISCARD} {PART}",
        ),
    ],
)
def test_a_sentence_says_what_is_known(found: LaterChanges, sentence: str) -> None:
    assert found.sentence("shop") == sentence
