"""Entity tags: what tells one state of a resource from another (design-2.0, Remote API changes; RFC 9110, 8.8.3).

The tag of one object is its uuid, its serial number and a digest of what is sent, so that a change of it can be made
on condition that nobody else has changed it, whatever its load or status is by now. All others are the digest alone.
"""

import re
from hashlib import blake2b
from typing import NamedTuple

from werkzeug.http import parse_etags, quote_etag

#: What is compressed differs byte by byte, so it must have a tag of its own.
GZIP = "-gzip"
ANY = "*"
_DIGEST_SIZE = 12
_OBJECT = re.compile(r"([0-9a-f-]{1,64})\.([0-9]{1,18})\.[0-9a-f]+")


class Version(NamedTuple):
    """A state of the configuration's object with this uuid."""

    uuid: str
    serial: int


def digest(body: bytes) -> str:
    """What is the same for the same bytes only."""
    return blake2b(body, digest_size=_DIGEST_SIZE).hexdigest()


def tag_of(value: object, body: bytes) -> str:
    """The tag of a value that is sent as `body`, without quotes."""
    match value:
        case {"uuid": str(uuid), "serial_no": int(serial)}:
            return f"{uuid}.{serial}.{digest(body)}"
    return digest(body)


def quoted(tag: str) -> str:
    """As it stands in a header."""
    return quote_etag(tag)


def listed(header: str) -> frozenset[str]:
    """The tags of an If-Match or If-None-Match header, whichever way they were encoded; `ANY` for any."""
    tags = parse_etags(header.strip())
    if tags.star_tag:
        return frozenset({ANY})
    # an empty tag comes as None; one that is quoted and looks like "any" is none of ours
    return frozenset(tag.removesuffix(GZIP) for tag in tags.as_set(include_weak=True) if tag and tag != ANY)


def version_in(tag: str) -> Version | None:
    """The state of an object that a tag names; None when it is the tag of something else."""
    found = _OBJECT.fullmatch(tag)
    return Version(found[1], int(found[2])) if found else None
