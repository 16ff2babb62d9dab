"""Chooses the texts of errors for a reader with a browser: the title, and what to do on the page.

The REST interface uses HTTP's phrases, and remedies for programs.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from api.models.problem import Problem

_TITLES: Final[Mapping[int, str]] = {
    HTTPStatus.BAD_REQUEST: "The request cannot be understood",
    HTTPStatus.UNAUTHORIZED: "Sign in first",
    HTTPStatus.FORBIDDEN: "You may not do this",
    HTTPStatus.NOT_FOUND: "This does not exist",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address does not accept this method",
    HTTPStatus.REQUEST_TIMEOUT: "The request came too slowly",
    HTTPStatus.CONFLICT: "This is not possible now",
    HTTPStatus.PRECONDITION_FAILED: "Another user saved first",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The request is too large",
    HTTPStatus.MISDIRECTED_REQUEST: "This admin does not serve that name",
    HTTPStatus.UNPROCESSABLE_ENTITY: "The values cannot be accepted",
    HTTPStatus.PRECONDITION_REQUIRED: "The request does not name the version that it changes",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests at once",
    HTTPStatus.INTERNAL_SERVER_ERROR: "The admin failed because of an error of its own",
    HTTPStatus.BAD_GATEWAY: "A server refused the request",
    HTTPStatus.SERVICE_UNAVAILABLE: "A server does not answer",
}
_TITLES_OF_CODES: Final[Mapping[str, str]] = {
    "AUDIT_UNREADABLE": "The audit trail cannot be read now",
    "BINLOG_PURGED": "The source has purged the binlog",
    "BROKER_UNREACHABLE": "Kafka does not answer",
    "CHECKS_BUSY": "Other checks are running",
    "CLAIM_STORE_REFUSED": "The store of claims refuses the request",
    "CLAIM_STORE_UNREACHABLE": "The store of claims does not answer",
    "CLOCK_AHEAD": "Kafka refuses times that are ahead of its own",
    "DEAD_LETTERS_UNREADABLE": "The dead letters cannot be read now",
    "DEAD_LETTER_DAMAGED": "A dead letter is damaged",
    "DELIVERY_REFUSED": "Kafka refuses a message",
    "FIRST_ADMIN_REFUSED": "This link is not valid",
    "FORGERY_REFUSED": "This form is out of date",
    "INSTANCE_REFUSED": "The settings cannot be accepted",
    "KAFKA_NOT_PERMITTED": "Kafka refuses the admin",
    "LOGIN_PAUSED": "Too many wrong passwords",
    "LOGIN_REFUSED": "Name or password is wrong",
    "LOOKUP_UNREACHABLE": "The source does not answer lookups",
    "MAPPING_REFUSED": "The mapping documents have problems",
    "OIDC_PROVIDER_AWAY": "The identity provider does not answer",
    "OIDC_PROVIDER_UNUSABLE": "The identity provider cannot be used",
    "PEEKS_BUSY": "Too many readers at once",
    "POSITION_UNREADABLE": "The position cannot be read now",
    "REGISTRY_REFUSED": "The schema registry refuses the request",
    "REGISTRY_UNREACHABLE": "The schema registry does not answer",
    "SOURCE_LOGIN_REFUSED": "The source refuses the login",
    "SOURCE_LOST_TRANSACTIONS": "The source lacks published transactions",
    "SOURCE_NOT_PERMITTED": "The source refuses the request",
    "SOURCE_SETTINGS_REFUSED": "The settings of the source do not fit",
    "SOURCE_SILENT": "The source does not answer",
    "SOURCE_UNREACHABLE": "The source does not answer",
    "TOKEN_WRONG": "The token is not valid",
    "TOPIC_REFUSED": "A topic of Kafka cannot be used",
    "TRANSACTIONS_REFUSED": "Kafka refuses transactions",
    "WRITES_FORBIDDEN": "Changes are not possible without users",
    "ZOOKEEPER_LOGIN_REFUSED": "ZooKeeper refuses the admin",
    "ZOOKEEPER_NOT_PERMITTED": "ZooKeeper refuses the admin",
    "ZOOKEEPER_REFUSED": "ZooKeeper refuses the request",
    "ZOOKEEPER_TLS_REFUSED": "ZooKeeper refuses the admin",
    "ZOOKEEPER_UNREACHABLE": "ZooKeeper does not answer",
}
_REMEDIES_OF_CODES: Final[Mapping[str, str]] = {
    "FORGERY_REFUSED": "Load the page again and send the form once more.",
    "LOGIN_BUSY": "Wait a few seconds, then try again.",
    "LOGIN_PAUSED": "Wait for that time, then try again.",
    "METHOD_NOT_ALLOWED": "Open the page from the overview.",
    "PRECONDITION_FAILED": "Load the page again, and repeat your change on the present state.",
    "RELAY_ERROR": "Try again. If it repeats, read the log of the admin around this time.",
    "REQUEST_REFUSED": "Correct the values that are named here, and send them again.",
    "RIGHT_MISSING": "Sign in as a user with this right, or ask an administrator for it.",
    "SET_IN_FORCE_BROKEN": "Roll back to a good set on the page Mappings, History, or save all "
    "documents at once.",
    "TOKEN_MISSING": "Sign in, and try again.",
    "TOKEN_WRONG": "Sign in, and try again.",
}
"""Where the remedy for programs does not help a reader."""
_OTHER: Final = "The request failed"


def title_of(problem: Problem) -> str:
    """Return a short title for an error, chosen by its code or else by its HTTP status."""
    return _TITLES_OF_CODES.get(problem.code) or _TITLES.get(problem.status, _OTHER)


def remedy_of(problem: Problem) -> str:
    """Return what the reader can do on the page; the error's own remedy if there is no special
    text.
    """
    return _REMEDIES_OF_CODES.get(problem.code, problem.remedy)
