"""Endpoints for topics: their offsets, the instances that publish to them, and the progress of
consumer groups.
"""

from typing import Final

from fastapi import APIRouter

from api.deps import AdminDep
from api.listing import ListingDep
from api.models.topic import TopicView

router: Final = APIRouter(prefix="/api/v1/topics", tags=["topics"])


@router.get("")
def list_topics(admin: AdminDep, part: ListingDep) -> list[TopicView]:
    """Return the topics of the active mapping, by name."""
    return part.of([TopicView.of(each) for each in admin.topics.topics()])


@router.get("/{topic}")
def read_topic(admin: AdminDep, topic: str) -> TopicView:
    """Return one topic of the active mapping."""
    return TopicView.of(admin.topics.topic(topic))
