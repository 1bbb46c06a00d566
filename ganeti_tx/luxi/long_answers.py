"""Long lists for answers, encoded some elements at a time while they are made.

A list of many small objects takes many times the room of its JSON, and encoding it in one go makes everybody else wait.
"""

import json
from collections.abc import Sequence

import msgspec


def encode_elements(elements: Sequence[object]) -> list[msgspec.Raw]:
    """One item that stands for all these elements in a list that goes into an answer; none for none.

    @raise TypeError: an element cannot be JSON.
    """
    if not elements:
        return []
    encoded = msgspec.json.encode(elements)
    if not encoded.isascii():
        encoded = json.dumps(msgspec.json.decode(encoded), separators=(",", ":")).encode("ascii")
    return [msgspec.Raw(encoded[1:-1])]
