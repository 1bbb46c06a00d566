"""The cluster's lines among root's authorized keys: marked each, so that all other lines stay as they are."""

from collections.abc import Mapping

MODE = 0o600
DIRECTORY_MODE = 0o700
MAX_AUTHORIZED_KEYS = 4 * 1024 * 1024
#: Ends the comment of each line that is the cluster's.
MARK = b"(ganeti_tx)"


def merged(present: bytes, keys: Mapping[str, str]) -> bytes:
    """The file with these keys, by the node that has them, in place of the cluster's former ones."""
    others = [line for line in present.splitlines(keepends=True) if not line.rstrip().endswith(MARK)]
    if others and keys and not others[-1].endswith(b"\n"):
        others[-1] += b"\n"
    own = [f"{key} root@{node} ".encode() + MARK + b"\n" for node, key in sorted(keys.items())]
    return b"".join((*others, *own))
