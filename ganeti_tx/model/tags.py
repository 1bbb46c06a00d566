"""What a tag is (Ganeti 3.0 configuration table, limits)."""

import re
from collections.abc import Collection, Iterable

from ganeti_tx.errors import TagError

MAX_TAG_LENGTH = 128
MAX_TAGS_PER_OBJECT = 4096
TAG = re.compile(r"[\w.+*/:@ -]+", re.ASCII)


def is_tag(tag: str) -> bool:
    """Whether a text may be a tag."""
    return len(tag) <= MAX_TAG_LENGTH and TAG.fullmatch(tag) is not None


def check_tag(tag: str) -> str:
    """The tag itself. @raise TagError: it is empty, too long, or has a character that no tag has."""
    if not tag:
        raise TagError("a tag cannot be empty")
    if len(tag) > MAX_TAG_LENGTH:
        raise TagError(f"tag {tag[:20]!r}... is too long; at most {MAX_TAG_LENGTH} characters")
    if not TAG.fullmatch(tag):
        raise TagError(f"invalid tag {tag!r}; allowed are letters, digits, spaces and .+*/:@_-")
    return tag


def check_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """All that one object is to carry, each once. @raise TagError: one of them is no tag, or they are too many."""
    each = tuple(dict.fromkeys(check_tag(tag) for tag in tags))
    check_count(each)
    return each


def check_count(tags: Collection[str]) -> None:
    """@raise TagError: they are more than one object may carry."""
    if len(tags) > MAX_TAGS_PER_OBJECT:
        raise TagError(f"{len(tags)} tags are too many, allowed are {MAX_TAGS_PER_OBJECT} an object")
