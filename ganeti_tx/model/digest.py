"""A digest of a file's content, by which two nodes find out whether they have the same."""

from hashlib import blake2b


def digest_of(data: bytes) -> str:
    """32 hexadecimal digits."""
    return blake2b(data, digest_size=16).hexdigest()
