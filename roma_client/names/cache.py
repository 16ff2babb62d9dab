"""Stores the last answer of the admin in a file, for a client that starts while the admin is
unavailable.
"""

import json
import logging
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final

from roma_client.log import log_event

_FORMAT: Final = 1
_NAME_DIGITS: Final = 24


def default_folder() -> Path:
    """Return `$XDG_CACHE_HOME/roma-client`; without that variable `~/.cache/roma-client`."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "roma-client"


class Cache:
    """Stores answers of the admin, one file for each request. The folder is created when needed."""

    def __init__(self, folder: Path | str | None) -> None:
        self._folder = default_folder() if folder is None else Path(folder)

    def store(self, question: str, answer: Mapping[str, Any]) -> None:
        """Store the answer to a request. If the folder is not writable, that is logged, and no
        error is raised.
        """
        document = {"format": _FORMAT, "question": question, "answer": answer}
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with NamedTemporaryFile(
                "w", dir=self._folder, encoding="utf-8", delete=False
            ) as temporary:
                json.dump(document, temporary)
            Path(temporary.name).replace(self.file_of(question))
        except OSError as exc:
            log_event(logging.WARNING, "cache_not_written", folder=self._folder, reason=exc)

    def load(self, question: str) -> Mapping[str, Any] | None:
        """Return the last stored answer to a request; None if there is no readable one."""
        try:
            document = json.loads(self.file_of(question).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            return None
        answer = document.get("answer")
        return answer if document.get("question") == question and isinstance(answer, dict) else None

    def file_of(self, question: str) -> Path:
        """Return the path of the file for the answer to a request."""
        return self._folder / f"{sha256(question.encode()).hexdigest()[:_NAME_DIGITS]}.json"
