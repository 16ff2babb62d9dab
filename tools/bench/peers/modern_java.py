"""The JDK that the peers run on."""

import os
from pathlib import Path
from typing import Final

from deploy.embedded import Java, JavaMissing
from deploy.embedded.processes.java import ask_java, java_candidates

DEBEZIUM_NEEDS: Final = 21


def newest_java(minimum: int) -> Java:
    """Return the newest JDK of at least this version among ROMA_PEER_JAVA_HOME, JAVA_HOME, PATH and
    /usr/lib/jvm.

    Raises JavaMissing.
    """
    named = os.environ.get("ROMA_PEER_JAVA_HOME")
    binaries = [Path(named) / "bin" / "java"] if named else list(java_candidates())
    found = [
        java for java in map(ask_java, binaries) if java is not None and java.version >= minimum
    ]
    if not found:
        raise JavaMissing(
            f"No JDK {minimum} or later was found.",
            "Install one or name it by ROMA_PEER_JAVA_HOME.",
        )
    return max(found, key=lambda java: java.version)
