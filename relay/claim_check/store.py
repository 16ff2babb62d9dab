"""Stores values outside of Kafka. A value is written once, under a name that contains its digest,
and is never changed.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Final
from urllib.parse import quote

import fsspec
from fsspec.implementations.local import LocalFileSystem

from relay.envelope import Claim
from relay.errors import ClaimStoreRefused, ClaimStoreUnreachable, ConfigurationError
from relay.model.table import TableId
from relay.settings import ClaimSettings, plain_options

_DIGEST_DIGITS: Final = 16
"""Number of hexadecimal digits of the value's SHA-256 in a name: two attempts at one change with
different values never have one name.
"""
_LONGEST_FOLDER: Final = 200
"""Bytes of a folder's name; file systems accept 255. A letter of another script may have nine."""


class ClaimStore:
    """Writes values below one folder of a file system that fsspec supports; used by one thread."""

    def __init__(self, settings: ClaimSettings, installation: str, instance: str) -> None:
        if settings.url is None:
            raise ConfigurationError("claims.url is not set.")
        self._folder = "/".join(
            (settings.url.rstrip("/"), quote(installation, safe=""), quote(instance, safe=""))
        )
        options = {**plain_options(settings.options), **plain_options(settings.secrets)}
        try:
            self._files, self._root = fsspec.url_to_fs(self._folder, **options)
        except (ImportError, ValueError) as exc:
            raise ConfigurationError(f"claims.url {settings.url}: {exc}.") from exc

    def check_access(self) -> None:
        """Check that the folder can be used, without leaving a file there.

        A missing folder is accepted if it can be created. Raises the errors of `put`.
        """
        with _store_errors(f"Checking {self._root}"):
            try:
                kind = self._files.info(self._root)["type"]
            except FileNotFoundError:
                self._check_parent_folder()
                return
            if kind != "directory":
                raise NotADirectoryError(f"{self._root} is not a folder")

    def put(self, table: TableId, execute_position: int, value: bytes) -> Claim:
        """Store a value and return its claim. An existing value is kept.

        table             table of the row, for the path
        execute_position  that of the change, for the path
        value             the bytes

        The name contains the digest, so that a repeated attempt never changes a value to which a
        committed message refers. Raises ClaimStoreUnreachable, ClaimStoreRefused.
        """
        digest = sha256(value).hexdigest()
        name = f"{_folder(table)}/{execute_position:019d}-{digest[:_DIGEST_DIGITS]}.json"
        path = f"{self._root}/{name}"
        with _store_errors(f"Writing {path}"):
            if not self._holds(path, len(value)):
                self._write(path, value)
        return Claim(self._files.unstrip_protocol(path), len(value), digest)

    def holding(self, accepts: Callable[[str, bytes], bool]) -> list[str]:
        """Return the paths of all values of this instance for which the function returns True.

        The function receives URL and bytes, so each value is read. Raises ClaimStoreUnreachable,
        ClaimStoreRefused.
        """
        with _store_errors(f"Reading {self._root}"):
            try:
                paths = sorted(self._files.find(self._root))
            except FileNotFoundError:
                return []
            return [
                each
                for each in paths
                if accepts(self._files.unstrip_protocol(each), self._files.cat_file(each))
            ]

    def remove(self, path: str) -> bool:
        """Delete a value; return False if it does not exist.

        Raises ClaimStoreUnreachable, ClaimStoreRefused.
        """
        with _store_errors(f"Deleting {path}"):
            try:
                self._files.rm_file(path)
            except FileNotFoundError:
                return False
        return True

    def _check_parent_folder(self) -> None:
        """Raise FileNotFoundError if the first part of the path does not exist.

        In object stores this is the bucket. Folders below it are created with their first value.
        """
        begin = self._root.partition("/")[0] or "/"
        try:
            self._files.info(begin)
        except FileNotFoundError as exc:
            raise FileNotFoundError(f"{begin} does not exist") from exc

    def _holds(self, path: str, size_bytes: int) -> bool:
        try:
            return bool(self._files.info(path)["size"] == size_bytes)
        except FileNotFoundError:
            return False

    def _write(self, path: str, value: bytes) -> None:
        """Write a value so that readers see all of it or nothing.

        Object stores guarantee that. In a folder, the value is written to another name, which is
        then replaced.
        """
        if not isinstance(self._files, LocalFileSystem):
            self._files.pipe_file(path, value)
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.part", "wb") as file:
            file.write(value)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.part", path)
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _folder(table: TableId) -> str:
    """Return the name of a table's folder. A long one is cut, and ends with a digest."""
    name = quote(str(table), safe="")
    if len(name) <= _LONGEST_FOLDER:
        return name
    return f"{name[:_LONGEST_FOLDER]}-{sha256(name.encode()).hexdigest()[:_DIGEST_DIGITS]}"


@contextmanager
def _store_errors(doing: str) -> Iterator[None]:
    """Context manager: turn the errors of a file system into the relay's errors."""
    try:
        yield
    except (
        PermissionError,
        FileNotFoundError,
        NotADirectoryError,
        IsADirectoryError,
    ) as exc:  # such as a bucket that does not exist
        raise ClaimStoreRefused(f"{doing}: {exc}.") from exc
    # File systems of fsspec raise other errors beside OSError. Those of S3 are botocore's, which
    # have no common base class.
    except Exception as exc:
        raise ClaimStoreUnreachable(f"{doing}: {exc}.") from exc
