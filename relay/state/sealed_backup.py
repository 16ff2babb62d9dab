"""A backup as one encrypted file, which only its passphrase opens.

The key comes from the passphrase by scrypt (RFC 7914). The documents are encrypted by AES-256-GCM,
which also detects every change of the file.
"""

import json
import os
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from relay.errors import BackupRefused
from relay.state.backup import Backup
from relay.state.backup_file import FORMAT, from_file, newer, to_file

LEAST_CHARACTERS: Final = 12
"""Smallest number of characters in a passphrase."""
_MOST_BYTES: Final = 512_000_000
"""Largest size of the decompressed documents in bytes, so that a small file cannot fill the memory.
"""
_KIND: Final = "roma-backup"
_SALT_BYTES: Final = 16
_NONCE_BYTES: Final = 12
_COST: Final = 2**15
"""scrypt's n, with r=8 and p=1: 32 MB and about a tenth of a second for one attempt."""


def seal(backup: Backup, passphrase: str) -> str:
    """Return the backup as encrypted text, which `unseal` reads with the passphrase.

    Raises BackupRefused if the passphrase is too short.
    """
    if len(passphrase) < LEAST_CHARACTERS:
        raise BackupRefused(
            f"The passphrase has fewer than {LEAST_CHARACTERS} characters.",
            remedy="Choose a longer one, and store it safely: without it nobody can open the "
            "backup.",
        )
    salt, nonce = os.urandom(_SALT_BYTES), os.urandom(_NONCE_BYTES)
    files = [to_file(path, value) for path, value in backup.nodes.items()]
    head = {
        "kind": _KIND,
        "format": FORMAT,
        "installation": backup.installation,
        "made_ms": backup.made_ms,
        "salt": _text(salt),
        "nonce": _text(nonce),
    }
    packed = zlib.compress(json.dumps(files).encode())
    sealed = AESGCM(_key(passphrase, salt)).encrypt(nonce, packed, _proved(head))
    return json.dumps({**head, "documents": _text(sealed)}, indent=1) + "\n"


def unseal(text: str, passphrase: str) -> Backup:
    """Return the backup in a sealed file.

    Raises BackupRefused for another kind of file, a later format, a wrong passphrase, and a file
    that was changed.
    """
    head = _head(text)
    try:
        sealed, salt = _bytes(head.pop("documents")), _bytes(head["salt"])
        nonce, installation, made_ms = _bytes(head["nonce"]), head["installation"], head["made_ms"]
        packed = AESGCM(_key(passphrase, salt)).decrypt(nonce, sealed, _proved(head))
        unpacking = zlib.decompressobj()
        files = json.loads(unpacking.decompress(packed, _MOST_BYTES))
        return Backup(installation, made_ms, dict(from_file(each, "The backup") for each in files))
    except InvalidTag as exc:
        raise BackupRefused(
            "The passphrase is wrong, or the file was changed.",
            remedy="Give the passphrase with which this backup was made.",
        ) from exc
    except (ValueError, KeyError, TypeError, zlib.error) as exc:
        raise _no_backup(exc) from exc


def _head(text: str) -> dict[str, Any]:
    try:
        head: dict[str, Any] = json.loads(text)
        if head["kind"] != _KIND:
            raise KeyError(_KIND)
        if head["format"] > FORMAT:
            raise newer("The backup", head["format"])
    except (ValueError, KeyError, TypeError, RecursionError) as exc:
        raise _no_backup(exc) from exc
    return head


def _no_backup(exc: Exception) -> BackupRefused:
    return BackupRefused(
        f"This is not a sealed backup ({type(exc).__name__}).",
        remedy="Give a file that the admin's backup page or `POST /api/v1/backup` made.",
    )


def _key(passphrase: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=32, n=_COST, r=8, p=1).derive(passphrase.encode())


def _proved(head: dict[str, Any]) -> bytes:
    """Return the unencrypted head as bytes, which the encryption protects against changes."""
    return json.dumps(head, sort_keys=True).encode()


def _text(value: bytes) -> str:
    return urlsafe_b64encode(value).decode()


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text)
