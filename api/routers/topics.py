"""Topics: what lies in them, what feeds them, and how far consumer groups have read."""

from typing import Final

from fastapi import APIRouter

from api.deps import AdminDep
from api.models.topic import TopicView

router: Final = APIRouter(prefix="/api/v1/topics", tags=["topics"])


@router.get("")
def list_topics(admin: AdminDep) -> list[TopicView]:
    """Return the topics of the mapping in force, by name."""
    return [TopicView.of(each) for each in admin.topics.topics()]


@router.get("/{topic}")
def read_topic(admin: AdminDep, topic: str) -> TopicView:
    """Return one topic of the mapping in force."""
    return TopicView.of(admin.topics.topic(topic))
