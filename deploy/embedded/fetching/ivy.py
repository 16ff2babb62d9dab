"""Downloads Maven artifacts with the Ivy that PySpark ships. This needs no Maven and configures no
repository address.

ROMA_MAVEN_REPOSITORY names another repository; http_proxy, https_proxy and no_proxy apply.
"""

import importlib.util
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import quoteattr

from deploy.embedded.cache import cache_folder, locked
from deploy.embedded.errors import FetchFailed, Unavailable
from deploy.embedded.fetching.artifacts import Artifact
from deploy.embedded.fetching.progress import say
from deploy.embedded.processes.java import find_java

_FETCHED: Final = re.compile(r"\[SUCCESSFUL \] (?P<artifact>\S+?)(?:\(\w+\))? \(\d+ms\)")
_DOWNLOADS: Final = re.compile(r"^downloading \S+/(?P<file>[^/\s]+) \.\.\.")
_TAIL_LINES: Final = 25


def pyspark_jars() -> Path:
    """Return the folder of PySpark's own jars. Raises Unavailable."""
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise Unavailable("PySpark is not installed.", "Run `make setup`.")
    return Path(found.origin).parent / "jars"


def retrieve(artifacts: Sequence[Artifact], folder: Path) -> None:
    """Put exactly these artifacts into `folder` by name and version.

    What was fetched before an interruption is not fetched again.

    Raises FetchFailed with the end of Ivy's output.
    """
    cache = cache_folder() / "ivy"
    with locked(cache / ".lock"):  # Ivy's own cache is not made for two processes
        order = folder / "ivy.xml"
        order.write_text(_order(artifacts), encoding="utf-8")
        types = sorted({"jar", "bundle", *(one.extension for one in artifacts)})
        arguments = [
            *_settings(folder, artifacts),
            "-types",
            *types,
            "-ivy",
            order.name,
            "-retrieve",
            "[artifact]-[revision](-[classifier]).[ext]",
        ]
        said = _run(arguments, folder, cache)
        order.unlink()
    missing = [str(artifact) for artifact in artifacts if not (folder / artifact.file).exists()]
    if missing:
        tail = "\n".join(said[-_TAIL_LINES:])
        raise FetchFailed(
            f"Maven artifacts could not be fetched: {', '.join(missing)}. Ivy's output "
            f"ends:\n{tail}\n",
            (
                "Check the network, the proxy variables and ROMA_MAVEN_REPOSITORY, then run "
                "`make fetch` again."
            ),
        )


def forget(artifact: Artifact) -> None:
    """Delete a fetched artifact from Ivy's cache, so that the next attempt downloads it again."""
    for stale in (cache_folder() / "ivy" / artifact.organisation / artifact.name).glob(
        f"*/*{artifact.version}*"
    ):
        stale.unlink(missing_ok=True)


def _order(artifacts: Sequence[Artifact]) -> str:
    """Return the order for Ivy. The pinned list is complete, so dependencies are not resolved."""
    lines = [
        f"<dependency org={quoteattr(one.organisation)} name={quoteattr(one.name)} "
        f"rev={quoteattr(one.version)}"
        f' force="true" transitive="false"{_content(one)}'
        for one in artifacts
    ]
    return (
        '<ivy-module version="2.0" xmlns:m="maven"><info organisation="roma" module="embedded"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{''.join(lines)}</dependencies></ivy-module>"
    )


def _content(artifact: Artifact) -> str:
    """Close the element; what is not a jar is named, because Ivy would look for one."""
    if artifact.extension == "jar":
        return ' conf="default->master"/>'
    extension = quoteattr(artifact.extension)
    classifier = f" m:classifier={quoteattr(artifact.classifier)}" if artifact.classifier else ""
    return (
        f' conf="default->*"><artifact name={quoteattr(artifact.name)} type={extension} '
        f"ext={extension}{classifier}/></dependency>"
    )


def _settings(folder: Path, artifacts: Sequence[Artifact]) -> list[str]:
    """POMs are ignored: the list is complete, and the parent of a POM may not be published."""
    repository = os.environ.get("ROMA_MAVEN_REPOSITORY")
    bare = any(one.extension != "jar" for one in artifacts)
    if not repository and not bare:
        return []
    root = f" root={quoteattr(repository)}" if repository else ""
    poms = ' usepoms="false"' if bare else ""
    (folder / "ivysettings.xml").write_text(
        '<ivysettings><settings defaultResolver="maven"/><resolvers>'
        f'<ibiblio name="maven" m2compatible="true"{poms}{root}/></resolvers></ivysettings>',
        encoding="utf-8",
    )
    return ["-settings", "ivysettings.xml"]


def _run(arguments: Sequence[str], folder: Path, cache: Path) -> list[str]:
    # File names reach Ivy relative to the working folder: brackets and parentheses in a path would
    # be patterns to it.
    java = [
        str(find_java().binary),
        "-Djava.net.preferIPv4Stack=true",
        f"-Divy.default.ivy.user.dir={cache}",
        *_proxy_options(),
    ]
    command = [*java, "-jar", str(_ivy_jar()), "-cache", os.path.relpath(cache, folder), *arguments]
    said: list[str] = []
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as ivy:
        assert ivy.stdout is not None  # noqa: S101 - PIPE was asked for
        for raw in ivy.stdout:
            line = raw.decode(errors="replace").rstrip()
            if not line.lstrip().startswith(".."):
                said.append(line)
            _tell(line)
    return said


def _tell(line: str) -> None:
    begun = _DOWNLOADS.match(line)
    if begun and begun["file"].endswith((".jar", ".gz", ".zip")):
        say(f"  fetching {begun['file']}")


def _ivy_jar() -> Path:
    return next(iter(sorted(pyspark_jars().glob("ivy-*.jar"))))


def _proxy_options() -> Iterator[str]:
    for scheme in ("http", "https"):
        address = os.environ.get(f"{scheme}_proxy") or os.environ.get(f"{scheme.upper()}_PROXY")
        if not address:
            continue
        proxy = urlsplit(address if "//" in address else f"//{address}")
        yield f"-D{scheme}.proxyHost={proxy.hostname}"
        yield f"-D{scheme}.proxyPort={proxy.port or 80}"
        if proxy.username:
            yield f"-D{scheme}.proxyUser={unquote(proxy.username)}"
            yield f"-D{scheme}.proxyPassword={unquote(proxy.password or '')}"
    exempt = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    if exempt:
        yield "-Dhttp.nonProxyHosts=" + "|".join(
            part.strip().removeprefix(".") for part in exempt.split(",")
        )
