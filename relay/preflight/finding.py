"""The result of one check, and of all checks together."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from relay.errors import RelayError


class Verdict(StrEnum):
    """The result of a check. NOT_CHECKED: the check could not run, for example because a server did
    not answer.
    """

    PASSED = "pass"
    WARNING = "warn"
    FAILED = "fail"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check, with a sentence.

    code      error code of the relay; only for a failure
    remedy    what to do; empty if nothing is necessary
    instance  name of the instance; empty for the installation
    """

    check: str
    verdict: Verdict
    sentence: str
    remedy: str = ""
    code: str = ""
    instance: str = ""

    def to_fields(self) -> dict[str, str]:
        """Return the finding as the fields of a JSON object."""
        return {
            "instance": self.instance,
            "check": self.check,
            "verdict": self.verdict.value,
            "code": self.code,
            "sentence": self.sentence,
            "remedy": self.remedy,
        }


def passed(check: str, sentence: str, instance: str = "") -> Finding:
    """Return a finding without a problem; the sentence says what was checked."""
    return Finding(check, Verdict.PASSED, sentence, instance=instance)


def found(check: str, error: RelayError, instance: str = "", *, warning: bool = False) -> Finding:
    """Return a finding for an error that the relay would raise.

    A `warning` is for an error that the relay would only log: the finding has the error's sentence
    and no code.
    """
    if warning:
        return Finding(check, Verdict.WARNING, error.reason, error.way_out, instance=instance)
    return Finding(check, Verdict.FAILED, error.reason, error.way_out, error.code, instance)


def not_checked(check: str, because: str, instance: str = "", remedy: str = "") -> Finding:
    """Return the result of a check that could not run. `because` follows the words "Not checked
    because".
    """
    return Finding(
        check, Verdict.NOT_CHECKED, f"Not checked because {because}.", remedy, instance=instance
    )


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 1 if the relay could not run as configured, otherwise 0. Warnings do not count."""
    return 1 if any(each.verdict is Verdict.FAILED for each in findings) else 0
