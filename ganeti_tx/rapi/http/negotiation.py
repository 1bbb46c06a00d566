"""What a client says it can take (RFC 9110, section 12.5)."""

from functools import lru_cache

#: So many different headers are remembered; clients of one program send the same one again and again.
REMEMBERED = 64


@lru_cache(REMEMBERED)
def takes_gzip(accept_encoding: str | None) -> bool:
    """Whether an Accept-Encoding header asks for gzip."""
    return accept_encoding is not None and _allowed(accept_encoding, ("gzip", "*"))


def _allowed(header: str, ranges: tuple[str, ...]) -> bool:
    """Whether the first of these ranges that is in a header has a weight above zero."""
    weights = {}
    for element in header.split(","):
        name, *parameters = (part.strip().lower() for part in element.split(";"))
        weights[name] = next((weight(each[2:]) for each in parameters if each.startswith("q=")), 1.0)
    return next((weights[each] for each in ranges if each in weights), 0.0) > 0


def weight(text: str) -> float:
    """A weight between 0 and 1; what is none counts as 1."""
    try:
        return float(text)
    except ValueError:
        return 1.0
