"""Every error of the embedded servers, as one tree.

EmbeddedError
├── Unavailable            this machine lacks what a server needs; the remedy says how to get it
│   ├── JavaMissing
│   └── FetchFailed        a registry did not deliver a file
├── ChecksumMismatch       a fetched file is not the pinned one
├── ServerDied             the child process ended by itself
└── NotReady               the child process lives but did not answer in time
"""


class EmbeddedError(Exception):
    """Base of all these errors. The text says what happened, then the remedy or the log's end."""


class Unavailable(EmbeddedError):
    """This machine lacks something; the text ends with how to get it."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason} {remedy}")
        self.reason = reason
        self.remedy = remedy


class JavaMissing(Unavailable):
    """No JDK of a version that Spark 4.0 and Kafka 4 both run on."""


class FetchFailed(Unavailable):
    """A package registry did not deliver a pinned file."""


class ChecksumMismatch(EmbeddedError):
    """A file's SHA-256 differs from the pinned one; the file is not used."""


class ServerDied(EmbeddedError):
    """The process ended before it was ready; the text ends with the tail of its log."""


class NotReady(EmbeddedError):
    """The process lives but did not answer before the deadline.

    The text ends with the tail of its log.
    """
