"""What a client says it can take (RFC 9110, section 12.5)."""

from functools import lru_cache

from werkzeug.http import parse_accept_header

#: So many different headers are remembered; clients of one program send the same one again and again.
REMEMBERED = 64


@lru_cache(REMEMBERED)
def takes_gzip(accept_encoding: str | None) -> bool:
    """Whether an Accept-Encoding header asks for gzip."""
    return parse_accept_header(accept_encoding).quality("gzip") > 0
