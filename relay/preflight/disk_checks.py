"""Requirements of an instance on file systems: the folder of its spool, and the store of claims.

Nothing is written.
"""

import os
import shutil
from pathlib import Path

from relay.claim_check import ClaimStore
from relay.errors import RelayError, SpoolUnusable
from relay.preflight.finding import Finding, found, passed
from relay.settings import InstanceSettings


def check_disks(instance: InstanceSettings, installation: str) -> list[Finding]:
    """Return the results of checking the folders and stores in the settings; empty if there are
    none.
    """
    findings = []
    if instance.spool == "mixed" and instance.spooling.directory is not None:
        findings.append(_spool(instance, instance.spooling.directory))
    if instance.oversize == "claim_check":
        findings.append(_claims(instance, installation))
    return findings


def _spool(instance: InstanceSettings, directory: Path) -> Finding:
    """Check the spool's folder.

    The relay creates it, perhaps under another account than the one that runs preflight.
    """
    folder = directory
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return found(
            "spool", SpoolUnusable(f"{folder} cannot be written by this account."), instance.name
        )
    free_bytes, wanted_bytes = shutil.disk_usage(folder).free, instance.spooling.limit_bytes
    if free_bytes < wanted_bytes:
        few = SpoolUnusable(
            f"{folder} has {free_bytes} bytes left, and spooling.limit_bytes is {wanted_bytes}."
        )
        return found("spool", few, instance.name, warning=True)
    return passed(
        "spool", f"{directory} can be written, and has {free_bytes} bytes left.", instance.name
    )


def _claims(instance: InstanceSettings, installation: str) -> Finding:
    try:
        ClaimStore(instance.claims, installation, instance.name).check_access()
    except RelayError as exc:
        return found("claims", exc, instance.name)
    return passed("claims", f"{instance.claims.url} answers.", instance.name)
