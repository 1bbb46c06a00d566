"""The keys that configuration daemons accept besides the cluster's own: while it is replaced some nodes sign with the other one."""

import base64
import binascii
from collections.abc import Iterable

import msgspec

#: So many at most; one is replaced by one.
MOST = 4


def encode(keys: Iterable[bytes]) -> bytes:
    """As the file has them."""
    return msgspec.json.encode([base64.b64encode(key).decode("ascii") for key in keys])


def decode(data: bytes) -> tuple[bytes, ...]:
    """@raise ValueError: not such a file."""
    try:
        words = msgspec.json.decode(data, type=list[str])
        keys = tuple(base64.b64decode(word, validate=True) for word in words)
    except (msgspec.DecodeError, binascii.Error) as error:
        raise ValueError(f"not a list of keys: {error}") from None
    if len(keys) > MOST or not all(key.strip() for key in keys):
        raise ValueError(f"not a list of up to {MOST} keys")
    return keys
