"""Prints progress lines, readable without a terminal."""

import sys


def say(text: str) -> None:
    """Print one line to standard error without buffering; standard output is for results."""
    print(text, file=sys.stderr, flush=True)
