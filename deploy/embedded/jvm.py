"""How a Java server is started here."""

from pathlib import Path
from typing import Final

from deploy.embedded.java import find_java

_LOG_CONFIGURATION: Final = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %-5p %c - %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


def jvm_command(classpath: str, folder: Path, heap: str) -> list[str]:
    """Return the command up to the main class: small heap, IPv4 only, UTC, English, log to standard output."""
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
        "-cp",
        classpath,
    ]
