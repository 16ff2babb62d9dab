"""The page of the topics that an instance feeds, and of the consumer groups that read them.

It is a separate page because it queries Kafka, and the instance's page must not wait for a broker.
"""

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from api.deps import AdminDep
from api.error_status import problem_of, status_of
from api.models.problem import Problem
from api.models.topic import TopicView
from api.web.rendering import render
from relay.errors import KafkaNotPermitted, NodeMissing, Unreachable

router: Final = APIRouter(include_in_schema=False)


@router.get("/instances/{name}/topics")
def show_topics(request: Request, admin: AdminDep, name: str) -> HTMLResponse:
    """Show partitions, logical tables and consumer groups of an instance's topics."""
    if name not in admin.watch.moment().facts:
        raise NodeMissing(f"There is no instance {name!r}.")
    topics: list[TopicView] = []
    error: Problem | None = None
    status = HTTPStatus.OK
    try:
        topics = [TopicView.of(each) for each in admin.topics.of_instance(name)]
    except (Unreachable, KafkaNotPermitted) as exc:
        error, status = problem_of(exc), status_of(exc)
    if "hx-request" in request.headers:
        status = HTTPStatus.OK  # the part is shown within the instance's page, error or not
    values: dict[str, object] = {"title": "Topics", "name": name, "topics": topics, "error": error}
    return render(request, "instance/topics.html", values, section="overview", status=status)
