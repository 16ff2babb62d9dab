"""The command line of Java servers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from deploy.embedded.processes.java import find_java

QUICK_START: Final = ("-XX:TieredStopAtLevel=1",)
"""JVM options of a server that runs for minutes only: the second compiler would use a core without
a benefit.
"""
_LOG_CONFIGURATION: Final = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %-5p %c - %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


def jvm_command(classpath: str, folder: Path, heap: str, options: Sequence[str] = ()) -> list[str]:
    """Return the command up to the main class: small heap, IPv4 only, UTC, English, log to standard
    output, then further `options`.
    """
    log = folder / "log4j2.properties"
    log.write_text(_LOG_CONFIGURATION, encoding="utf-8")
    return [
        str(find_java().binary),
        f"-Xmx{heap}",
        "-XX:+UseSerialGC",
        "-XX:+ExitOnOutOfMemoryError",
        "-Djava.net.preferIPv4Stack=true",
        "-Duser.timezone=UTC",
        "-Duser.language=en",
        "-Dfile.encoding=UTF-8",
        f"-Djava.io.tmpdir={folder}",
        f"-Dlog4j2.configurationFile={log}",
        *options,
        "-cp",
        classpath,
    ]
