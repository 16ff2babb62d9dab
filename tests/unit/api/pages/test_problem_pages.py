"""Errors as pages: a title in plain words, the reason, what to do, and a way on."""

import html
import re
from collections.abc import Iterator
from http import HTTPStatus

import httpx
import pytest

from api.composition import access_parts
from api.errors import (
    ActiveSetBroken,
    BadRequest,
    ChecksBusy,
    FirstAdminRefused,
    ForgeryRefused,
    HostUnknown,
    InstanceRefused,
    LoginPaused,
    NoSuchThing,
    PreconditionFailed,
    RightMissing,
    WritesForbidden,
)
from api.models.problem import Problem
from api.services.watch import Watch
from api.web.problem_words import remedy_of, title_of
from relay.errors import (
    BrokerUnreachable,
    NodeMissing,
    PlacementRefused,
    StoreRefused,
    StoreUnreachable,
)
from relay.model.accounts import Accounts
from tests.support.relays.admin_server import admin_client, admin_settings

HTML = {"Accept": "text/html", "Authorization": ""}
PHRASES = {each.phrase for each in HTTPStatus}


@pytest.fixture(scope="module")
def admin() -> Iterator[httpx.Client]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access_parts, "_accounts", lambda _session, _store: Accounts())
        with admin_client(admin_settings("127.0.0.1:1", "none")) as client:
            yield client


def heading_and_text(page: str) -> tuple[str, str]:
    found = re.search(r"<h1>(.*?)</h1>", page)
    assert found is not None, page
    main = page.split("<main", 1)[1].split("</main>", 1)[0]
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", main))
    return html.unescape(found[1]), html.unescape(text)


@pytest.mark.parametrize(
    ("error", "status", "title", "remedy"),
    [
        (BadRequest("x is no number."), 400, "The request cannot be understood", "Correct"),
        (
            RightMissing("The act requires the right edit."),
            403,
            "You may not do this",
            "Sign in as",
        ),
        (ForgeryRefused("It lacks csrf."), 403, "This form is out of date", "Load the page again"),
        (FirstAdminRefused("It was used."), 403, "This link is not valid", "Restart the admin"),
        (WritesForbidden("No users."), 403, "Changes are not possible without users", "Add a user"),
        (NoSuchThing("There is no group x."), 404, "This does not exist", "Check the name."),
        (NodeMissing("There is no x."), 404, "This does not exist", NodeMissing.remedy),
        (PlacementRefused("r9 is away."), 409, "This is not possible now", PlacementRefused.remedy),
        (ActiveSetBroken("Set 4."), 409, "This is not possible now", "Roll back to a good set on"),
        (PreconditionFailed("Set 5."), 412, "Another user saved first", "Load the page again"),
        (HostUnknown("evil"), 421, "This admin does not serve that name", "api.hosts"),
        (InstanceRefused("No host."), 422, "The settings cannot be accepted", "Correct"),
        (LoginPaused("7 s.", 7), 429, "Too many wrong passwords", "Wait for that time"),
        (ChecksBusy("It runs."), 429, "Other checks are running", "Try again"),
        (
            ZeroDivisionError("a secret"),
            500,
            "The admin failed because of an error of its own",
            "the log of the admin",
        ),
        (StoreRefused("Quota."), 502, "ZooKeeper refuses the request", StoreRefused.remedy),
        (BrokerUnreachable("No broker."), 503, "Kafka does not answer", BrokerUnreachable.remedy),
        (StoreUnreachable("No answer."), 503, "ZooKeeper does not answer", StoreUnreachable.remedy),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Exception) else "",
)
def test_a_page_says_what_happened_and_what_to_do(
    admin: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    title: str,
    remedy: str,
) -> None:
    def fail(_: Watch) -> None:
        raise error

    monkeypatch.setattr(Watch, "moment", fail)
    answer = admin.get("/?filter=a", headers=HTML)
    assert answer.status_code == status
    heading, text = heading_and_text(answer.text)
    assert heading == title
    assert f"<title>{html.escape(title)}" in answer.text
    assert remedy in text.partition("What to do: ")[2]
    assert ('href="./?filter=a">Try again' in answer.text) == (status in (429, 500, 502, 503))
    assert ("Sign in</a>" in answer.text.split("<main")[1]) == (status == 403)
    assert "Go to the overview" in text
    assert "secret" not in text


def test_requests_that_reach_no_page_are_answered_in_words_too(admin: httpx.Client) -> None:
    answer = admin.get("/nowhere", headers=HTML)
    heading, text = heading_and_text(answer.text)
    assert (answer.status_code, heading) == (404, "This does not exist")
    assert "This URL does not exist." in text
    answer = admin.put("/mappings", headers=HTML)
    heading, text = heading_and_text(answer.text)
    assert (answer.status_code, heading) == (405, "This address does not accept this method")
    assert "What to do: Open the page from the overview." in text
    answer = admin.get("/mappings?by=nonsense", headers=HTML)
    heading, text = heading_and_text(answer.text)
    assert (answer.status_code, heading) == (422, "The values cannot be accepted")
    assert "Correct the values that are named here" in text


def test_the_interface_keeps_the_phrases_of_http(admin: httpx.Client) -> None:
    answer = admin.get("/api/v1/nowhere", headers={"Authorization": ""}).json()
    assert (answer["title"], answer["code"]) == ("Not Found", "NOT_FOUND")


@pytest.mark.parametrize("status", [status for status in HTTPStatus if status >= 400])
def test_each_status_has_a_title_of_its_own(status: HTTPStatus) -> None:
    problem = Problem(title=status.phrase, status=status, detail="x", code="X", remedy="y")
    assert title_of(problem) not in PHRASES
    assert remedy_of(problem) == "y"
