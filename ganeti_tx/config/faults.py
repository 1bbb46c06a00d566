"""Lines about what is wrong with an object: its name, the fault, and what to do about it."""

import re
from collections.abc import Callable, Iterator

from ganeti_tx.errors import GanetiError
from ganeti_tx.model.base import Tracked
from ganeti_tx.model.tags import MAX_TAG_LENGTH, MAX_TAGS_PER_OBJECT, is_tag

MAC = re.compile(r"^([0-9a-f]{2}:){5}[0-9a-f]{2}$", re.IGNORECASE)


def refused(what: str, remedy: str, check: Callable[[], object]) -> Iterator[str]:
    """A line if the check refuses."""
    try:
        check()
    except GanetiError as error:
        yield f"{what}: {error}; {remedy}"


def tracked_faults(what: str, key: str, held: Tracked, uuid: str) -> Iterator[str]:
    """What holds for every object: it stands under its own uuid and has been counted."""
    if key != uuid:
        yield f"{what}: stands under the key {key} but has the uuid {uuid}; make them the same in config.data"
    if held.serial_no < 1:
        yield f"{what}: serial number {held.serial_no} is below 1; change the object once to renew it"


def tag_faults(what: str, tags: tuple[str, ...]) -> Iterator[str]:
    """Tags as they must not be."""
    for tag in tags:
        if not is_tag(tag):
            yield f"{what}: {tag[: MAX_TAG_LENGTH + 1]!r} is not a tag; remove it"
    if len(set(tags)) != len(tags):
        yield f"{what}: carries a tag twice; remove the tag and add it again"
    if len(tags) > MAX_TAGS_PER_OBJECT:
        yield f"{what}: carries {len(tags)} tags, allowed are {MAX_TAGS_PER_OBJECT}; remove some"
