"""Lines that tell what is being fetched or started, readable without a terminal."""

import sys


def say(text: str) -> None:
    """Print one line at once; standard error, so that a command's own output stays clean."""
    print(text, file=sys.stderr, flush=True)
