"""Reads mapping documents from files, before they are saved."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from relay.errors import ConfigurationError
from relay.route.mapping_document import DATA_IDS

_REMEDY: Final = (
    f"Name the files {', '.join(f'{data_id}.json' for data_id in DATA_IDS)}, or only by the last "
    f"word (dbs.json). Then pass the files, or their folder."
)


def read_mapping_files(places: Iterable[Path]) -> dict[str, bytes]:
    """Return dataId → contents of the mapping documents in these files and folders.

    Raises ConfigurationError if a file cannot be read, or if there are two files of one document.
    """
    documents: dict[str, bytes] = {}
    for file in _files(places):
        data_id = _data_id(file)
        if data_id in documents:
            raise ConfigurationError(f"{file} is a second document for {data_id}.", remedy=_REMEDY)
        documents[data_id] = _body(file)
    if not documents:
        raise ConfigurationError("No mapping document was found.", remedy=_REMEDY)
    return documents


def _files(places: Iterable[Path]) -> Iterator[Path]:
    """Yield the given files, and the files of given folders that have a document's name."""
    for place in places:
        if place.is_dir():
            yield from sorted(file for file in place.iterdir() if _known(file) is not None)
        else:
            yield place


def _data_id(file: Path) -> str:
    known = _known(file)
    if known is None:
        raise ConfigurationError(
            f"The name {file.name} is not the name of a mapping document.", remedy=_REMEDY
        )
    return known


def _known(file: Path) -> str | None:
    name = file.name.removesuffix(".json")
    return next(
        (data_id for data_id in DATA_IDS if name in (data_id, data_id.rpartition(".")[2])), None
    )


def _body(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as exc:
        raise ConfigurationError(f"{file} cannot be read: {exc.strerror}.", remedy=_REMEDY) from exc
