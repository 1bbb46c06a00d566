"""Spans of time as people write them, in seconds."""

_FACTORS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_MAX_DIGITS = 18
WANTED = "seconds, or a number with s, m, h, d or w"


def parse_duration(text: str) -> int | None:
    """Seconds of a span such as 90, 30m, 12h, 2d or 1w; None when it is none of these."""
    number, factor = (text[:-1], _FACTORS[text[-1]]) if text[-1:] in _FACTORS else (text, 1)
    if not (number.isascii() and number.isdecimal() and len(number) <= _MAX_DIGITS):
        return None
    return int(number) * factor
