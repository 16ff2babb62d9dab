"""The base class of the jobs' errors."""

from typing import ClassVar


class JobError(Exception):
    """Base class of the jobs' errors. `remedy` tells the operator what to do."""

    remedy: ClassVar[str] = ""

    def __str__(self) -> str:
        return f"{self.args[0]} {self.remedy}".rstrip()


class JobFailed(JobError):
    """Spark ended the job for a reason that has no separate error class."""

    remedy = "Start again with --trace to see the whole output of Spark."
