"""Values as YAML, which has JSON's scalars and blocks by indentation (YAML 1.2; 1.1 reads the same)."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

#: Keys and texts that mean themselves without quotes: no number, date or sign begins so.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
#: Of those, what YAML 1.1 takes for something else.
_TAKEN = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
#: Longer ones need a mark of their own: readers look no further for the colon.
_LONGEST_KEY = 1000
_SPECIAL = re.compile(r'[^ -~]|["\\]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def yaml_text(value: Any) -> str:
    """One document, behind its mark."""
    return "---\n" + "".join(f"{line}\n" for line in _lines(value))


def _lines(value: Any) -> Iterator[str]:
    if not value or not isinstance(value, (Mapping, list)):
        yield _scalar(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _pair(yaml_scalar(key), inner)
    else:
        for inner in value:
            yield from _marked("-", inner)


def _pair(key: str, value: Any) -> Iterator[str]:
    if len(key) > _LONGEST_KEY:
        yield f"? {key}"
        yield from _marked(":", value)
    elif not value or not isinstance(value, (Mapping, list)):
        yield f"{key}: {_scalar(value)}"
    else:
        yield f"{key}:"
        yield from (f"  {line}" for line in _lines(value))


def _marked(mark: str, value: Any) -> Iterator[str]:
    first, *others = _lines(value)
    yield f"{mark} {first}"
    yield from (f"  {line}" for line in others)


def _scalar(value: Any) -> str:
    """What holds nothing is in JSON's form, too."""
    if isinstance(value, str):
        return yaml_scalar(value)
    text = json.dumps(value)
    if isinstance(value, float) and "e" in text and "." not in text:
        return text.replace("e", ".0e")  # without a point it would be a text
    return text


def yaml_scalar(text: str) -> str:
    """A text, or the key of one, in quotes where it would be something else without."""
    if _PLAIN.fullmatch(text) and text.lower() not in _TAKEN:
        return text
    return f'"{_SPECIAL.sub(_escaped, text)}"'


def _escaped(found: "re.Match[str]") -> str:
    sign = found[0]
    if sign in _SHORT:
        return _SHORT[sign]
    code = ord(sign)
    return f"\\x{code:02x}" if code < 1 << 8 else f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"
