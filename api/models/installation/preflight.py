"""Bodies of answers with the checks of everything that an instance needs."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from relay.preflight import Finding

Verdict = Literal["fail", "warn", "not checked", "pass"]


class FindingView(BaseModel):
    """The result of one check, with the reason and the remedy that the relay would report."""

    check: str = Field(examples=["source grants"])
    verdict: Verdict
    sentence: str
    remedy: str = Field(description="Empty if nothing needs to be done.")
    code: str = Field(
        description="Error code with which the relay would stop. Only failures have one."
    )

    @classmethod
    def of(cls, finding: Finding) -> "FindingView":
        """Return the view of a check's result."""
        return cls.model_validate(finding.to_fields())


class PreflightView(BaseModel):
    """All checks of one instance, failures first."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "instance": "shop",
                "can_run": False,
                "checked_ms": 1795427528131,
                "findings": [
                    {
                        "check": "source grants",
                        "verdict": "fail",
                        "sentence": "The account relay@% lacks REPLICATION SLAVE.",
                        "remedy": "GRANT REPLICATION SLAVE ON *.* TO relay.",
                        "code": "SOURCE_NOT_PERMITTED",
                    }
                ],
            }
        }
    )

    instance: str
    can_run: bool = Field(
        description="No check failed; there may be warnings, and checks that were not made."
    )
    checked_ms: int = Field(description="When the checks ended, Unix milliseconds.")
    findings: list[FindingView]
